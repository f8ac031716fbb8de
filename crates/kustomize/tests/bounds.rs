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
