//! A user builds a kustomization, by our name and by kustomize's.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(program: &Path, arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_directory_is_built() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let app = dir.path().join("app");
    fs::create_dir(&app).expect("a directory");
    let write = |name: &str, content: &str| fs::write(app.join(name), content).expect("a file");
    write(
        "kustomization.yaml",
        "bases: []\nnamePrefix: my-\nresources: [a.yaml]\n",
    );
    write(
        "a.yaml",
        "kind: Service\napiVersion: v1\nmetadata: {name: web}\n",
    );
    let wanted = "apiVersion: v1\nkind: Service\nmetadata:\n  name: my-web\n";
    let ours = Path::new(env!("CARGO_BIN_EXE_pilothouse"));

    let done = run(ours, &["build", "app"], dir.path());
    assert_eq!(text(&done.stdout), wanted);
    assert!(text(&done.stderr).starts_with("# Warning: 'bases' is deprecated."));

    let named = dir.path().join("kustomize");
    std::os::unix::fs::symlink(ours, &named).expect("a link");
    let done = run(&named, &["build"], &app);
    assert_eq!(text(&done.stdout), wanted);
    let version = run(&named, &["version"], &app);
    assert_eq!(text(&version.stdout), format!("{}\n", kustomize::VERSION));

    let out = dir.path().join("out");
    fs::create_dir(&out).expect("a directory");
    run(ours, &["build", "app", "-o", "out"], dir.path());
    let file = fs::read_to_string(out.join("v1_service_my-web.yaml"));
    assert_eq!(file.expect("a file for the service"), wanted);
}

#[test]
fn errors_are_kustomizes() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let ours = Path::new(env!("CARGO_BIN_EXE_pilothouse"));
    let done = run(ours, &["build", "nowhere"], dir.path());
    assert_eq!(done.status.code(), Some(1));
    let error = text(&done.stderr);
    assert!(
        error.starts_with("Error: must build at directory: not a valid directory: evalsymlink failure on 'nowhere' : lstat "),
        "{error}"
    );
}
