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

/// A directory with a Service, and how to run the program beside it with a home of its own.
fn with_service() -> (tempfile::TempDir, impl Fn(&[&str]) -> Output) {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let app = dir.path().join("app");
    fs::create_dir(&app).expect("a directory");
    fs::write(
        app.join("kustomization.yaml"),
        "namePrefix: my-\nresources: [a.yaml]\n",
    )
    .expect("a file");
    fs::write(app.join("a.yaml"), SERVICE).expect("a file");
    let home = dir.path().to_owned();
    let run = move |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
        command.arg("build").args(arguments).current_dir(&home);
        command.env("HOME", &home);
        command
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CACHE_HOME");
        command.output().expect("the program starts")
    };
    (dir, run)
}

const SERVICE: &str = "kind: Service\napiVersion: v1\nmetadata: {name: web}\n";

#[test]
fn a_difference_is_shown() {
    let (dir, run) = with_service();
    let first = run(&["app", "--diff"]);
    assert_eq!(
        (first.status.code(), text(&first.stdout)),
        (Some(0), String::new())
    );
    let same = run(&["app", "--diff"]);
    assert_eq!(
        (same.status.code(), text(&same.stdout)),
        (Some(0), String::new())
    );
    let before = run(&["app"]);
    fs::write(dir.path().join("before.yaml"), before.stdout).expect("a file");
    let file = dir.path().join("app/kustomization.yaml");
    fs::write(file, "namePrefix: my-\nnamespace: b\nresources: [a.yaml]\n").expect("a file");
    let wanted = "--- /dev/null\n+++ v1/Service/b/my-web\n@@ -0,0 +1,5 @@\n+apiVersion: v1\n+kind: Service\n+metadata:\n+  name: my-web\n+  namespace: b\n--- v1/Service/my-web\n+++ /dev/null\n@@ -1,4 +0,0 @@\n-apiVersion: v1\n-kind: Service\n-metadata:\n-  name: my-web\n";
    for flag in ["--diff", "--diff=before.yaml"] {
        let changed = run(&["app", flag]);
        assert_eq!(changed.status.code(), Some(1), "{flag}");
        assert_eq!(text(&changed.stdout), wanted, "{flag}");
    }
    let failed = run(&["app", "--diff=nowhere.yaml"]);
    assert_eq!(failed.status.code(), Some(2));
}

#[test]
fn of_a_flag_that_is_given_twice_the_last_counts() {
    let (dir, run) = with_service();
    let done = run(&[
        "app",
        "--enable-exec",
        "--enable-exec",
        "-o",
        "a",
        "-o",
        "b",
    ]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(!dir.path().join("a").exists() && dir.path().join("b").exists());
}

#[test]
fn a_field_is_explained() {
    let (_dir, run) = with_service();
    let done = run(&["app", "--explain", "Service/web:metadata.name"]);
    assert_eq!(
        text(&done.stdout),
        "Service/my-web:metadata.name\n  my-web  kustomization.yaml:1: namePrefix\n  web     a.yaml:3\n",
        "{}",
        text(&done.stderr)
    );
}

#[test]
fn errors_tell_their_place_if_asked() {
    let (dir, run) = with_service();
    fs::write(dir.path().join("app/kustomization.yaml"), "\nname: a\n").expect("a file");
    let plain = text(&run(&["app"]).stderr);
    let located = text(&run(&["app", "--locate-errors"]).stderr);
    assert_eq!(plain.lines().count(), 1, "{plain}");
    assert_eq!(located, format!("{plain}  at kustomization.yaml:2\n"));
}

#[test]
fn a_change_is_built_again() {
    let (dir, _) = with_service();
    let out = dir.path().join("out.yaml");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pilothouse"))
        .args(["build", "app", "--watch", "-o", "out.yaml"])
        .current_dir(dir.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program starts");
    let wait_for = |wanted: &str| {
        let start = std::time::Instant::now();
        while !fs::read_to_string(&out).is_ok_and(|it| it.contains(wanted)) {
            let waited = start.elapsed();
            assert!(waited < std::time::Duration::from_secs(60), "{wanted}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    wait_for("name: my-web");
    // Broken on the way: it goes on.
    fs::write(dir.path().join("app/a.yaml"), "kind: {").expect("a file");
    fs::write(
        dir.path().join("app/a.yaml"),
        SERVICE.replace("web", "other"),
    )
    .expect("a file");
    wait_for("name: my-other");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

/// All files below a directory, with what others may do with them.
fn modes(directory: &Path) -> Vec<(std::path::PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        let meta = fs::metadata(&path).expect("it is there");
        found.push((path.clone(), meta.permissions().mode() & 0o777));
        if meta.is_dir() {
            let entries = fs::read_dir(&path).expect("a directory");
            left.extend(entries.map(|it| it.expect("an entry").path()));
        }
    }
    found
}

#[test]
fn values_of_secrets_are_neither_kept_nor_shown() {
    const VALUE: &str = "aHVudGVyMg";
    let (dir, run) = with_service();
    let secret = |value: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: db}}\ndata: {{user: YQ==, password: {value}}}\nstringData: {{plain: {value}}}\n"
        );
        fs::write(dir.path().join("app/a.yaml"), text).expect("a file");
    };
    // What an older version left behind, for all to read.
    let state = dir.path().join(".local/state/pilothouse/build");
    fs::create_dir_all(&state).expect("a directory");
    let old = state.join("other-0123456789abcdef.yaml");
    fs::write(&old, format!("data: {VALUE}")).expect("a file");

    secret(&format!("{VALUE}=="));
    let first = run(&["app", "--diff"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert!(!old.exists());
    for (path, mode) in modes(&state) {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{}", path.display());
        if path.is_file() {
            let kept = fs::read(&path).expect("a file");
            assert!(!text(&kept).contains(VALUE), "{}", text(&kept));
        }
    }
    let same = run(&["app", "--diff"]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stdout));

    let before = run(&["app"]);
    fs::write(dir.path().join("before.yaml"), before.stdout).expect("a file");
    secret("b3RoZXI=");
    for flag in ["--diff=before.yaml", "--diff"] {
        let done = run(&["app", flag]);
        let shown = text(&done.stdout);
        assert_eq!(
            done.status.code(),
            Some(1),
            "{flag}: {}",
            text(&done.stderr)
        );
        assert!(
            !shown.contains(VALUE) && !shown.contains("b3RoZXI"),
            "{shown}"
        );
        for line in [
            "-  password: '*** (before)'\n+  password: '*** (after)'\n",
            "   user: '***'\n",
            "-  plain: '*** (before)'\n+  plain: '*** (after)'\n",
        ] {
            assert!(shown.contains(line), "{flag}: {shown}");
        }
    }
    fs::write(
        dir.path().join("broken.yaml"),
        "kind: Secret\ndata: {a: [\n",
    )
    .expect("a file");
    let broken = run(&["app", "--diff=broken.yaml"]);
    assert_eq!(broken.status.code(), Some(2));
    assert!(text(&broken.stderr).contains("broken.yaml: "));
}

#[test]
fn flags_can_be_combined() {
    let (dir, run) = with_service();
    let explained = run(&[
        "app",
        "--explain=Service/web:metadata.name",
        "--explain",
        "Service/web:kind",
    ]);
    let answers = text(&explained.stdout);
    assert!(
        answers.starts_with("Service/my-web:metadata.name\n"),
        "{answers}"
    );
    assert!(answers.contains("\nService/my-web:kind\n"), "{answers}");

    let written = run(&["app", "--diff", "-o", "out.yaml"]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    let out = fs::read(dir.path().join("out.yaml")).expect("a file");
    assert_eq!(out, run(&["app"]).stdout);

    fs::write(
        dir.path().join("app/kustomization.yaml"),
        "namePrefix: x-\nresources: [a.yaml]\n",
    )
    .expect("a file");
    let compared = run(&["app", "--diff", "out.yaml"]);
    assert_eq!(
        compared.status.code(),
        Some(1),
        "{}",
        text(&compared.stderr)
    );
    assert!(text(&compared.stdout).contains("+++ v1/Service/x-web\n"));
    let unclear = run(&["app", "--diff", "server"]);
    assert_eq!(unclear.status.code(), Some(2));
    assert!(text(&unclear.stderr).contains("--diff=server"));
}

#[test]
fn an_error_says_where() {
    let (dir, run) = with_service();
    fs::write(
        dir.path().join("app/kustomization.yaml"),
        "resources:\n- a.yaml\n- b.yaml\n",
    )
    .expect("a file");
    let plain = text(&run(&["app"]).stderr);
    let located = text(&run(&["app", "--locate-errors"]).stderr);
    assert_eq!(
        located.strip_prefix(plain.as_str()),
        Some("  at kustomization.yaml:3: b.yaml\n"),
        "{located}"
    );
}
