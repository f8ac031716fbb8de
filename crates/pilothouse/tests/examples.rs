//! The sessions of `examples/`: each command is run as it is written there, with the real program and the real kubectl, and must
//! print what is written below it.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A test for each directory, so that one that fails is named.
macro_rules! sessions {
    ($($test:ident: $directory:literal)+) => {
        const SESSIONS: &[&str] = &[$($directory),+];
        $(
            #[testkit::requires(kubectl, bash)]
            #[test]
            fn $test() {
                Session::start($directory).run();
            }
        )+
    };
}

sessions! {
    a_policy_refuses: "admission-policy"
    a_backup_is_restored: "backup"
    expressions_without_a_server: "cel-tool"
    a_custom_resource_with_rules: "custom-resource"
    feature_gates: "features"
    first_steps: "first-steps"
    a_kustomization_is_built_and_applied: "kustomize"
    jane_gets_in: "let-others-in"
    prometheus_gets_in: "metrics"
    a_namespace_and_its_end: "shop"
}

#[test]
fn every_directory_has_a_test_and_a_page_that_shows_it() {
    let root = root();
    let mut found: Vec<String> = Vec::new();
    for entry in fs::read_dir(root.join("examples")).expect("examples") {
        let entry = entry.expect("an entry");
        if entry.path().is_dir() {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found.sort();
    assert_eq!(found, SESSIONS, "directories and tests");
    let list = fs::read_to_string(root.join("examples/README.md")).expect("the list");
    let mut pages = fs::read_to_string(root.join("README.md")).expect("README.md");
    for entry in fs::read_dir(root.join("docs")).expect("docs") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            pages += &fs::read_to_string(path).expect("a page");
        }
    }
    for name in SESSIONS {
        assert!(list.contains(&format!("[{name}]({name})")), "{name}");
        assert!(pages.contains(&format!("examples/{name})")), "{name}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A copy of the directory with a server in it.
struct Session {
    place: TempDir,
    server: Child,
    path: OsString,
}

impl Session {
    fn start(name: &str) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        copy(
            &root().join("examples").join(name),
            &place.path().join("work"),
        );
        let bin = place.path().join("bin");
        fs::create_dir(&bin).expect("a directory");
        let program = env!("CARGO_BIN_EXE_pilothouse");
        symlink(program, bin.join("pilothouse")).expect("a link");
        if let Some(kubectl) = std::env::var_os("KUBECTL") {
            symlink(kubectl, bin.join("kubectl")).expect("a link");
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(bin).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(path).expect("no colon in a path");
        let log = fs::File::create(place.path().join("log")).expect("a file");
        let mut server = Command::new(program)
            .args(["serve", "--secure-port", "0"])
            .current_dir(place.path().join("work"))
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("it starts");
        let mut out = BufReader::new(server.stdout.take().expect("piped"));
        let mut start = String::new();
        while !start.contains("stop it with Ctrl-C\n") {
            let read = out.read_line(&mut start).expect("a line");
            assert!(read > 0, "it did not start: {start}");
        }
        Self {
            place,
            server,
            path,
        }
    }

    fn run(&self) {
        let work = self.place.path().join("work");
        let text = fs::read_to_string(work.join("session.console")).expect("a session");
        let steps = steps(&text);
        assert!(!steps.is_empty());
        for (command, expected) in steps {
            // One stream, in the order in which things are printed, as a terminal shows it.
            let done = Command::new("bash")
                .arg("-c")
                .arg(format!("exec 2>&1\n{command}"))
                .current_dir(&work)
                .env("PATH", &self.path)
                .env("HOME", self.place.path())
                .env("KUBECONFIG", work.join("pilothouse-data/admin.kubeconfig"))
                .env("KUSTOMIZE_EXPORT_METRICS", "none")
                .stdin(Stdio::null())
                .output()
                .expect("bash");
            let mut printed = String::from_utf8_lossy(&done.stdout).into_owned();
            if !done.status.success() {
                let code = done.status.code().expect("no signal");
                let _ = writeln!(printed, "exit code {code}");
            }
            let lines: Vec<&str> = printed.lines().collect();
            assert!(
                matches(&expected, &lines),
                "$ {command}\n{printed}\nis not what the session shows:\n{}",
                expected.join("\n")
            );
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Fails only if it has ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("a copy");
        }
    }
}

/// Commands, which go on after a line that ends with `\`, and the lines below each.
fn steps(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut steps: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command.to_owned(), Vec::new())),
            (None, Some((command, _))) if command.ends_with('\\') => {
                *command += "\n";
                *command += line;
            }
            (None, Some((_, expected))) => expected.push(line),
            (None, None) => panic!("a session begins with a command, not with {line}"),
        }
    }
    steps
}

/// Whether lines are as expected; a line `...` stands for any number of them.
fn matches(expected: &[&str], lines: &[&str]) -> bool {
    match (expected.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((&"...", expected)), _) => {
            (0..=lines.len()).any(|skipped| matches(expected, &lines[skipped..]))
        }
        (Some((wanted, expected)), Some((line, lines))) => {
            line_matches(wanted, line) && matches(expected, lines)
        }
        _ => false,
    }
}

/// Whether a line has the parts between `...`, in their order. Spaces around them may be more or fewer: columns are as wide
/// as what is in them.
fn line_matches(wanted: &str, line: &str) -> bool {
    let (Some((first, _)), Some((_, last))) = (wanted.split_once("..."), wanted.rsplit_once("..."))
    else {
        return wanted == line;
    };
    let Some(rest) = line.strip_prefix(first.trim_end()) else {
        return false;
    };
    let Some(mut rest) = rest.strip_suffix(last.trim_start()) else {
        return false;
    };
    let between = wanted.get(first.len()..wanted.len() - last.len());
    let mut parts = between.unwrap_or_default().split("...");
    parts.all(|part| match rest.find(part.trim()) {
        Some(at) => {
            rest = &rest[at + part.trim().len()..];
            true
        }
        None => false,
    })
}

#[test]
fn sessions_can_differ() {
    assert!(line_matches("a ... c", "a b c"));
    assert!(!line_matches("a ... c", "a b d"));
    assert!(!line_matches("a", "a b"));
    assert!(matches(&["a", "...", "c"], &["a", "b", "b", "c"]));
    assert!(!matches(&["a", "...", "c"], &["a", "b"]));
    assert!(!matches(&["a"], &["a", "b"]));
    assert!(!matches(&[], &["a"]));
    let text = "$ one \\\n  two\nout\n$ three\n";
    let expected = [
        ("one \\\n  two".to_owned(), vec!["out"]),
        ("three".to_owned(), vec![]),
    ];
    assert_eq!(steps(text), expected);
}
