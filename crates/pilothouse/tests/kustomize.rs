//! A user changes and looks at kustomizations by kustomize's commands. The cases are tables in text files: inputs of
//! ours, and what kustomize 5.8.1 makes of them, to the byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};

type Files = BTreeMap<String, String>;

/// `=== title`, `$ command`, then `--- file` for what is there before and `+++ file` for what is new or different
/// afterwards. `+++ exit`, `+++ stdout` and `+++ stderr` are of the command. Files before the first case are there in
/// all of them, but those called `@name`: these are texts that a file of a case can be, as in `--- file @name`.
#[derive(Clone, Default)]
struct Case {
    title: String,
    command: Vec<String>,
    before: Files,
    after: Files,
}

fn read(text: &str) -> Vec<Case> {
    let mut shared = Case::default();
    let mut cases: Vec<Case> = Vec::new();
    let mut section: Option<(bool, String)> = None;
    for line in text.split_inclusive('\n') {
        let marked = |mark: &str| line.strip_prefix(mark).map(|it| it.trim_end().to_owned());
        if let Some(title) = marked("=== ") {
            let mut before = shared.before.clone();
            before.retain(|name, _| !name.starts_with('@'));
            cases.push(Case {
                title,
                before,
                ..Case::default()
            });
            section = None;
            continue;
        }
        let texts = &shared.before.clone();
        let case = cases.last_mut().unwrap_or(&mut shared);
        if let Some(command) = marked("$ kustomize ").filter(|_| section.is_none()) {
            case.command = words(&command);
        } else if let Some(name) = marked("--- ") {
            let (name, text) = match name.split_once(' ') {
                Some((name, text)) => (name.to_owned(), texts[text].clone()),
                None => (name, String::new()),
            };
            case.before.insert(name.clone(), text);
            section = Some((true, name));
        } else if let Some(name) = marked("+++ ") {
            case.after.insert(name.clone(), String::new());
            section = Some((false, name));
        } else if let Some((is_before, name)) = &section {
            let files = if *is_before {
                &mut case.before
            } else {
                &mut case.after
            };
            files.entry(name.clone()).or_default().push_str(line);
        }
    }
    cases
}

/// Words, those with spaces in single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

fn kustomize(arguments: &[String], directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
    command.arg0("kustomize").args(arguments);
    command.current_dir(directory);
    command.output().expect("the program starts")
}

fn list(root: &Path, below: &str, files: &mut Files) {
    for entry in fs::read_dir(root.join(below)).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        if entry.file_type().expect("a type").is_dir() {
            list(root, &path, files);
        } else {
            let text = fs::read_to_string(entry.path()).expect("text");
            files.insert(path, text);
        }
    }
}

/// Without the place and the time.
fn told(bytes: &[u8], root: &Path) -> String {
    let text = String::from_utf8_lossy(bytes).replace(&*root.to_string_lossy(), "DIR");
    let lines = text.split_inclusive('\n').map(|line| {
        let is_time = line.get(..20).is_some_and(|it| {
            it.bytes()
                .zip("0000/00/00 00:00:00 ".bytes())
                .all(|(a, b)| {
                    if b == b'0' {
                        a.is_ascii_digit()
                    } else {
                        a == b
                    }
                })
        });
        if is_time { &line[20..] } else { line }
    });
    lines.collect()
}

fn outcome(case: &Case) -> Files {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let root = fs::canonicalize(dir.path()).expect("its real path");
    for (name, content) in &case.before {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }
    let done = kustomize(&case.command, &root);
    let mut files = Files::new();
    list(&root, "", &mut files);
    files.retain(|name, content| case.before.get(name) != Some(content));
    let code = done.status.code().unwrap_or(-1);
    if code != 0 {
        files.insert("exit".into(), format!("{code}\n"));
    }
    for (name, bytes) in [("stdout", done.stdout), ("stderr", done.stderr)] {
        let text = told(&bytes, &root);
        // Help is in our own words.
        let text = match text.split_once("Usage:") {
            Some(_) if name == "stdout" => "",
            Some((error, _)) => error,
            None => &text,
        };
        if !text.is_empty() {
            files.insert(name.into(), text.to_owned());
        }
    }
    files
}

fn check(text: &str, at_least: usize) {
    let cases = read(text);
    assert!(cases.len() >= at_least, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let found = outcome(case);
        if found != case.after {
            wrong.push(format!(
                "{} (kustomize {})\nwanted {:#?}\nfound {found:#?}",
                case.title,
                case.command.join(" "),
                case.after
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_kustomization_is_edited() {
    check(include_str!("kustomize/edit.txt"), 98);
}

#[test]
fn deprecated_fields_are_fixed() {
    check(include_str!("kustomize/fix.txt"), 8);
}

#[test]
fn a_kustomization_is_created() {
    check(include_str!("kustomize/create.txt"), 11);
}

#[test]
fn a_kustomization_is_localized() {
    check(include_str!("kustomize/localize.txt"), 13);
}

#[test]
fn resources_are_looked_at() {
    check(include_str!("kustomize/cfg.txt"), 32);
}

#[test]
fn the_command_line_is_read_as_upstream_reads_it() {
    check(include_str!("kustomize/words.txt"), 18);
}

/// Repositories are cloned by the user's `git`.
#[testkit::requires(git)]
#[test]
fn a_remote_root_becomes_local() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let root = fs::canonicalize(dir.path()).expect("its real path");
    let repo = root.join("repo");
    fs::create_dir_all(repo.join("base")).expect("a directory");
    let write = |path: &str, text: &str| fs::write(root.join(path), text).expect("a file");
    write("repo/base/kustomization.yaml", "resources: [a.yaml]\n");
    write(
        "repo/base/a.yaml",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n",
    );
    let git = |words: &[&str]| {
        let user = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut command = Command::new("git");
        let done = command.args(user).args(words).current_dir(&repo).output();
        done.is_ok_and(|it| it.status.success())
    };
    assert!(git(&["init", "--quiet"]));
    assert!(git(&["add", "."]) && git(&["commit", "--quiet", "-m", "all"]));
    assert!(git(&["tag", "v1"]));
    fs::create_dir(root.join("app")).expect("a directory");
    let url = format!("file://{}", repo.display());
    write(
        "app/kustomization.yaml",
        &format!("resources:\n- {url}//base?ref=v1\n"),
    );

    let words = |text: &str| words(text);
    let done = kustomize(&words("localize app copy"), &root);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let copy = format!(
        "localized-files/file-schemed{}/v1/base",
        repo.to_string_lossy()
    );
    let text = fs::read_to_string(root.join("copy/kustomization.yaml")).expect("a file");
    assert_eq!(text, format!("resources:\n- {copy}\n"));
    assert!(root.join("copy").join(copy).join("a.yaml").exists());

    write(
        "app/kustomization.yaml",
        &format!("resources:\n- {url}//base\n"),
    );
    let done = kustomize(&words("localize app other"), &root);
    assert_eq!(done.status.code(), Some(1));
    assert!(told(&done.stderr, &root).contains("missing ref query string parameter"));
    assert!(!root.join("other").exists(), "what failed leaves nothing");
}

#[test]
fn all_commands_are_completed() {
    for (shell, wanted) in [
        ("bash", "complete -o default -F _kustomize kustomize"),
        ("zsh", "#compdef kustomize"),
        ("fish", "complete -c kustomize -n"),
        (
            "powershell",
            "Register-ArgumentCompleter -Native -CommandName 'kustomize'",
        ),
    ] {
        let done = kustomize(&["completion".into(), shell.into()], Path::new("."));
        let text = String::from_utf8_lossy(&done.stdout);
        assert_eq!(done.status.code(), Some(0));
        assert!(text.contains(wanted), "{shell}");
        assert!(text.contains("kustomize edit add"), "{shell}");
        assert!(text.contains("load-restrictor"), "{shell}");
    }
}

/// The completion is a script that works.
#[testkit::requires(bash)]
#[test]
fn bash_completes_commands() {
    let script = "source <(\"$0\" completion bash); COMP_WORDS=(kustomize edit set na); COMP_CWORD=3; _kustomize; echo \"${COMPREPLY[@]}\"";
    let dir = tempfile::tempdir().expect("a directory of our own");
    let named = dir.path().join("kustomize");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pilothouse"), &named).expect("a link");
    let done = Command::new("bash")
        .arg("-c")
        .arg(script)
        .arg(&named)
        .output()
        .expect("bash starts");
    assert_eq!(
        String::from_utf8_lossy(&done.stdout),
        "nameprefix namespace namesuffix\n"
    );
}

#[test]
fn the_name_of_kustomize_can_be_the_first_word() {
    let run = |words: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_pilothouse"))
            .args(words)
            .output();
        done.expect("the program starts")
    };
    let done = run(&["kustomize", "version"]);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "v5.8.1\n");
    let done = run(&["edit", "fix"]);
    assert_eq!(done.status.code(), Some(2), "only as kustomize");
    let help = run(&["--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("kustomize"));
}

#[test]
fn a_wrong_flag_of_build_is_told_without_its_usage() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    for command in ["build", "localize"] {
        let words = [command.to_owned(), "--nothing".to_owned()];
        let done = kustomize(&words, dir.path());
        let told = String::from_utf8_lossy(&done.stderr);
        assert_eq!(told, "Error: unknown flag: --nothing\n", "{command}");
        assert_eq!(done.status.code(), Some(1));
    }
}
