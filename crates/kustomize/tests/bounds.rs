//! Input that means harm ends in an error, soon and within bounds.

use std::fmt::Write as _;
use std::fs;

use kustomize::{Alone, Disk, Memory, Options, build};

fn error_of(files: &Memory) -> String {
    match build(files, &Alone, "/app", &Options::default()) {
        Ok(_) => "it was built".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn roots_that_contain_each_other_are_refused() {
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", "resources: [base]\n"),
        ("/app/base/kustomization.yaml", "resources: [../../app]\n"),
    ]);
    let error = error_of(&files);
    assert!(
        error.contains("cycle detected: candidate root '/app' contains visited root"),
        "{error}"
    );
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = format!(
        "kind: A\nmetadata: {{name: a}}\nspec: {}{}\n",
        "[".repeat(9000),
        "]".repeat(9000)
    );
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", "resources: [a.yaml]\n"),
        ("/app/a.yaml", deep.as_str()),
    ]);
    let error = error_of(&files);
    assert!(error.contains("exceeded max depth"), "{error}");
}

#[test]
fn billion_laughs_are_an_error() {
    let mut text = "kind: A\nmetadata: {name: a}\na0: &a0 [lol]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        let items = before.trim_end_matches(", ");
        writeln!(text, "a{level}: &a{level} [{items}]").expect("a String takes all");
    }
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", "resources: [a.yaml]\n"),
        ("/app/a.yaml", text.as_str()),
    ]);
    let error = error_of(&files);
    assert!(error.contains("excessive aliasing"), "{error}");
}

#[test]
fn links_do_not_lead_out_of_the_root() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let root = fs::canonicalize(dir.path()).expect("it is there");
    let app = root.join("app");
    fs::create_dir(&app).expect("a directory");
    fs::write(root.join("secret"), "kind: Secret\nmetadata: {name: a}\n").expect("a file");
    fs::write(app.join("kustomization.yaml"), "resources: [link.yaml]\n").expect("a file");
    std::os::unix::fs::symlink(root.join("secret"), app.join("link.yaml")).expect("a link");
    let built = build(&Disk, &Alone, &app.to_string_lossy(), &Options::default());
    let error = built
        .map(|_| ())
        .expect_err("the link is refused")
        .to_string();
    assert!(error.contains("security; file '"), "{error}");
    fs::write(app.join("kustomization.yaml"), "resources: [../secret]\n").expect("a file");
    let built = build(&Disk, &Alone, &app.to_string_lossy(), &Options::default());
    let error = built.map(|_| ()).expect_err("so is a way up").to_string();
    assert!(error.contains("is not in or below"), "{error}");
}

#[test]
fn roots_nest_so_deep_and_no_deeper() {
    let mut files = Memory::from_iter([("/app/kustomization.yaml", "resources: [../r0]\n")]);
    for level in 0..5000 {
        let text = format!("resources: [../r{}]\n", level + 1);
        files.insert(&format!("/r{level}/kustomization.yaml"), text);
    }
    let error = error_of(&files);
    assert!(error.contains("within each other"), "{error}");
}

#[test]
fn few_roots_do_not_become_many() {
    // Each of two on a level contains both of the next: 2^30 in all.
    let two = |level: usize| format!("resources: [../a{level}, ../b{level}]\n");
    let mut files = Memory::from_iter([("/app/kustomization.yaml", two(0))]);
    for level in 0..30 {
        for name in ["a", "b"] {
            let text = two(level + 1);
            files.insert(&format!("/{name}{level}/kustomization.yaml"), text);
        }
    }
    for name in ["a", "b"] {
        files.insert(&format!("/{name}30/kustomization.yaml"), "namePrefix: x\n");
    }
    let error = error_of(&files);
    assert!(error.contains("kustomizations in one build"), "{error}");
}

#[test]
fn many_small_laughs_are_an_error_too() {
    let list = |name: &str, item: &str| format!("{name}: &{name} [{}]\n", [item; 50].join(", "));
    let laugh = [list("a", "x"), list("b", "*a"), list("c", "*b")].concat();
    let documents = (0..40).map(|i| format!("kind: A\nmetadata: {{name: a{i}}}\n{laugh}"));
    let all: Vec<String> = documents.collect();
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", "resources: [a.yaml]\n"),
        ("/app/a.yaml", all.join("---\n").as_str()),
    ]);
    let error = error_of(&files);
    assert!(error.contains("excessive aliasing"), "{error}");
}

#[test]
fn paths_make_nothing_deep() {
    let deep = "a/".repeat(100_000);
    let dots = "a.".repeat(100_000);
    let texts = [
        format!("labels:\n- pairs: {{x: z}}\n  fields: [{{path: {deep}b, create: true}}]\n"),
        format!(
            "replacements:\n- sourceValue: x\n  targets:\n  - select: {{kind: A}}\n    fieldPaths: [{dots}b]\n    options: {{create: true}}\n"
        ),
        format!(
            "transformers:\n- |-\n  apiVersion: builtin\n  kind: ValueAddTransformer\n  metadata: {{name: v}}\n  value: x\n  targets: [{{fieldPath: {deep}b}}]\n"
        ),
    ];
    for text in texts {
        let files = Memory::from_iter([
            (
                "/app/kustomization.yaml",
                format!("resources: [a.yaml]\n{text}"),
            ),
            ("/app/a.yaml", "kind: A\nmetadata: {name: a}\n".into()),
        ]);
        let error = error_of(&files);
        assert!(error.contains("exceeded max depth"), "{error:.200}");
    }
}

#[test]
fn values_copied_into_themselves_end() {
    let twice = "- source: {kind: A, fieldPath: x}\n  targets:\n  - select: {kind: A}\n    fieldPaths: [x.a, x.b]\n    options: {create: true}\n";
    let files = Memory::from_iter([
        (
            "/app/kustomization.yaml",
            format!("resources: [a.yaml]\nreplacements:\n{}", twice.repeat(60)),
        ),
        (
            "/app/a.yaml",
            "kind: A\nmetadata: {name: a}\nx: {c: d}\n".into(),
        ),
    ]);
    let error = error_of(&files);
    assert!(
        error.contains("replacements copy more than"),
        "{error:.200}"
    );
}

#[test]
fn what_is_not_utf8_is_not_yaml() {
    let bytes: &[u8] = b"kind: A\nmetadata: {name: \xff}\n";
    let kustomization: &[u8] = b"resources: [a.yaml]\n";
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", kustomization),
        ("/app/a.yaml", bytes),
    ]);
    let error = error_of(&files);
    assert!(error.contains("MalformedYAMLError"), "{error}");
    let files = Memory::from_iter([("/app/kustomization.yaml", bytes)]);
    let error = error_of(&files);
    assert!(error.contains("invalid Kustomization"), "{error}");
    let kustomization: &[u8] = b"configMapGenerator: [{name: a, files: [a.yaml]}]\n";
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", kustomization),
        ("/app/a.yaml", bytes),
    ]);
    let output = build(&files, &Alone, "/app", &Options::default()).expect("any bytes are data");
    let text = output.to_yaml().expect("it is YAML");
    assert!(text.contains("binaryData:"), "{text}");
}

#[test]
fn a_patch_for_nothing_is_an_error_unless_it_has_a_target() {
    let kustomization = |patch: &str| format!("resources: [a.yaml]\npatches:\n- {patch}\n");
    let nobody = "patch: '{kind: A, metadata: {name: b}, x: 1}'";
    let files = |text: String| {
        Memory::from_iter([
            ("/app/kustomization.yaml", text),
            ("/app/a.yaml", "kind: A\nmetadata: {name: a}\n".into()),
        ])
    };
    let error = error_of(&files(kustomization(nobody)));
    assert!(
        error.contains(
            "no matches for Id A.[noVer].[noGrp]/b.[noNs]; failed to find unique target for patch"
        ),
        "{error}"
    );
    let targeted = format!("{nobody}\n  target: {{kind: B}}");
    let files = files(kustomization(&targeted));
    let output = build(&files, &Alone, "/app", &Options::default()).expect("it builds");
    assert_eq!(
        output.to_yaml().expect("it is YAML"),
        "kind: A\nmetadata:\n  name: a\n"
    );
}

#[test]
fn an_ambiguous_reference_is_an_error() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa}\n";
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}\nsubjects: [{kind: ServiceAccount, name: sa}]\n";
    let files = Memory::from_iter([
        (
            "/app/kustomization.yaml",
            "resources: [b.yaml, x, z]\n".to_owned(),
        ),
        ("/app/b.yaml", binding.to_owned()),
        (
            "/app/x/kustomization.yaml",
            "namespace: x\nresources: [a.yaml]\n".to_owned(),
        ),
        ("/app/x/a.yaml", account.to_owned()),
        (
            "/app/z/kustomization.yaml",
            "namespace: z\nresources: [a.yaml]\n".to_owned(),
        ),
        ("/app/z/a.yaml", account.to_owned()),
    ]);
    let error = error_of(&files);
    assert!(
        error.contains("found multiple possible referrals: ServiceAccount.v1.[noGrp]/sa.x, ServiceAccount.v1.[noGrp]/sa.z"),
        "{error}"
    );
}

/// Upstream puts one node in all places where it adds a label, so a later change of one changes all.
#[test]
fn added_labels_are_one_node() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n";
    let kustomization = "resources: [d.yaml]\nlabels:\n- pairs: {x: a}\n  includeSelectors: true\nreplacements:\n- sourceValue: NEW\n  targets:\n  - select: {kind: Deployment}\n    fieldPaths: [metadata.labels.x]\n";
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", kustomization),
        ("/app/d.yaml", deployment),
    ]);
    let output = build(&files, &Alone, "/app", &Options::default()).expect("it builds");
    let text = output.to_yaml().expect("it is YAML");
    assert_eq!(text.matches("x: NEW").count(), 3, "{text}");
}
