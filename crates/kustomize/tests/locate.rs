//! Errors say where: the file and the line that a person has to look at.

use kustomize::{Alone, Memory, Options, build};

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  ports: []\n";

/// The place of the error that a build ends with; `more` are files besides `all.yaml`.
fn place(kustomization: &str, more: &[(&str, &str)]) -> String {
    let mut files = vec![
        ("/app/kustomization.yaml", kustomization),
        ("/app/all.yaml", SERVICE),
    ];
    files.extend_from_slice(more);
    let files = Memory::from_iter(files);
    let error = build(&files, &Alone, "/app", &Options::default()).expect_err("an error");
    let place = error.place().unwrap_or("nowhere");
    format!("{place} ({error})")
}

#[track_caller]
fn assert_at(found: &str, wanted: &str) {
    assert!(found.starts_with(&format!("{wanted} (")), "{found}");
}

#[test]
fn an_entry_that_leads_nowhere() {
    let file = place("resources:\n- all.yaml\n- missing.yaml\n", &[]);
    assert_at(&file, "kustomization.yaml:3: missing.yaml");
    let base = place("resources:\n- all.yaml\nbases:\n- ../base\n", &[]);
    assert_at(&base, "kustomization.yaml:4: ../base");
    let component = place("resources: [all.yaml]\ncomponents:\n- ../c\n", &[]);
    assert_at(&component, "kustomization.yaml:3: ../c");
    let inner = place(
        "resources:\n- base\n",
        &[("/app/base/kustomization.yaml", "resources:\n- x.yaml\n")],
    );
    assert_at(&inner, "base/kustomization.yaml:2: x.yaml");
}

#[test]
fn a_file_that_is_no_resource() {
    let all = |text: &str| place("resources: [b.yaml]\n", &[("/app/b.yaml", text)]);
    let good = "apiVersion: v1\nkind: Service\nmetadata:\n  name: b\n";
    assert_at(&all(&format!("{good}---\na: b\nc: [\n")), "b.yaml:7");
    let nameless = format!("{good}---\n# what is it?\napiVersion: v1\nkind: Service\n");
    assert_at(&all(&nameless), "b.yaml:7");
}

#[test]
fn an_id_that_is_there_already() {
    let twice = place(
        "resources:\n- all.yaml\n- b.yaml\n",
        &[("/app/b.yaml", &format!("# the same\n{SERVICE}"))],
    );
    assert_at(&twice, "b.yaml:2, the first is at all.yaml:1");
}

#[test]
fn a_line_of_a_patch() {
    let json = "- op: add\n  path: /spec/a\n  value: 1\n- op: remove\n  path: /spec/b\n";
    let kustomization =
        "resources: [all.yaml]\npatches:\n- path: p.yaml\n  target: {kind: Service}\n";
    assert_at(
        &place(kustomization, &[("/app/p.yaml", json)]),
        "p.yaml:4, by kustomization.yaml:3: patches[0]",
    );
    let indented = json.replace('\n', "\n    ");
    let inline = format!(
        "resources: [all.yaml]\npatches:\n- target: {{kind: Service}}\n  patch: |-\n    {indented}\n"
    );
    assert_at(&place(&inline, &[]), "kustomization.yaml:8: patches[0]");

    let merge = "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  ports:\n    x: 1\n";
    assert_at(
        &place(
            "resources: [all.yaml]\npatches:\n- path: p.yaml\n",
            &[("/app/p.yaml", merge)],
        ),
        "p.yaml:7, by kustomization.yaml:3: patches[0]",
    );
    let other = merge.replace("name: a", "name: z");
    assert_at(
        &place(
            "resources: [all.yaml]\npatches:\n- path: p.yaml\n",
            &[("/app/p.yaml", &other)],
        ),
        "p.yaml:1, by kustomization.yaml:3: patches[0]",
    );
    assert_at(
        &place(
            "resources: [all.yaml]\npatches:\n- path: p.yaml\n",
            &[("/app/p.yaml", "a: [\n")],
        ),
        "p.yaml:1, by kustomization.yaml:3: patches[0]",
    );
}

/// The text itself is kustomize's, with or without a place.
#[test]
fn the_text_stays() {
    let found = place(
        "resources:\n- all.yaml\n- b.yaml\n",
        &[("/app/b.yaml", SERVICE)],
    );
    let text = "accumulating resources: accumulation err='merging resources from 'b.yaml': may not add resource with an already registered id: Service.v1.[noGrp]/a.[noNs]': ";
    assert!(found.contains(text), "{found}");
}
