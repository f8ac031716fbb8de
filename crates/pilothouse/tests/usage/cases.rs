//! The same over kustomize's own cases, with canaries in place of what stands in them. In this process: there are many.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use json::Value;
use kustomize::{Alone, Memory, Options, build};
use usage::{Build, Invocation, Outcome, Sent};

use crate::canary::CANARY;

type Files = Vec<(String, Vec<u8>)>;

fn read(directory: &Path, root: &Path, files: &mut Files) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("its type");
        if kind.is_dir() {
            read(&path, root, files);
        } else if kind.is_file() {
            let name = path
                .strip_prefix(root)
                .expect("it is below")
                .to_string_lossy();
            files.push((format!("/{name}"), fs::read(&path).expect("a file")));
        }
    }
}

/// How a scalar is changed.
type Change<'a> = &'a dyn Fn(&str) -> String;

fn change_values(value: &mut Value, change: Change<'_>) {
    match value {
        Value::String(text) => *value = Value::from(change(text)),
        Value::Array(items) => items.iter_mut().for_each(|it| change_values(it, change)),
        Value::Object(object) => object.values_mut().for_each(|it| change_values(it, change)),
        _ => {}
    }
}

fn change_keys(value: &Value, change: Change<'_>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|it| change_keys(it, change)).collect(),
        Value::Object(object) => {
            let pairs = object
                .iter()
                .map(|(key, it)| (json::Text::from(change(key)), change_keys(it, change)));
            Value::Object(pairs.collect())
        }
        other => other.clone(),
    }
}

/// Each document of a text, changed.
fn change(text: &[u8], change: &dyn Fn(&mut Value)) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let documents = text
        .split("\n---")
        .map(|it| match yaml::to_json(it.as_bytes()) {
            Ok(mut value) => {
                change(&mut value);
                json::to_string(&value)
            }
            // No YAML, then: all of it is the user's.
            Err(_) => format!("{CANARY}\n"),
        });
    documents.collect::<Vec<_>>().join("\n---\n").into_bytes()
}

/// Builds and records; whether there was anything to count.
fn record(files: &Files, surroundings: &Invocation<'_>) -> bool {
    let options = Options::default();
    let files = files
        .iter()
        .map(|(path, text)| (path.clone(), text.clone()));
    let result = build(&files.collect::<Memory>(), &Alone, "/", &options);
    let counts = options.usage_counts.counts();
    let counted = !counts.fields.is_empty();
    let build = Build {
        fields: counts.fields,
        plugins: counts.plugins,
        duration: Duration::ZERO,
        resources: result.as_ref().ok().map(kustomize::Output::len),
        outcome: Outcome::Success,
    };
    let started = Cell::new(false);
    usage::record(&build, surroundings, &mut Vec::new(), || started.set(true));
    assert!(started.get());
    counted
}

/// Whether a canary got into what is sent.
fn leaks(home: &Path, surroundings: &Invocation<'_>) -> bool {
    // Other tests start programs, which hold our lock from the moment they are forked until they are what they will be.
    while let Sent::Busy = usage::send(surroundings).expect("it is sent") {
        std::thread::yield_now();
    }
    let mut sent = Files::new();
    read(&home.join("out"), home, &mut sent);
    assert!(!sent.is_empty());
    read(&home.join(".local"), home, &mut sent);
    _ = fs::remove_dir_all(home.join("out"));
    let heard = |text: &[u8]| String::from_utf8_lossy(text).contains(CANARY);
    sent.iter().any(|(_, text)| heard(text))
}

fn cases() -> Vec<PathBuf> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/kustomize/upstream");
    let entries = fs::read_dir(&root).expect("kustomize's own cases");
    let inputs = entries.flatten().map(|it| it.path().join("input"));
    inputs.collect()
}

#[testkit::requires(kustomize_cases)]
#[test]
fn cases_of_others_stay_theirs() {
    let cases = cases();
    let home = tempfile::tempdir().expect("a home of our own");
    let path = home.path().to_string_lossy().into_owned();
    let variable = |name: &'static str| match name {
        "HOME" => Some(path.clone()),
        usage::EXPORT => Some(format!("file:{path}/out")),
        _ => None,
    };
    let surroundings = Invocation {
        variable: &variable,
        interactive: false,
        now: SystemTime::now(),
        program: "pilothouse",
    };
    let replace: Change<'_> = &|_| CANARY.to_owned();
    let append: Change<'_> = &|text| format!("{text}{CANARY}");
    let mut count = 0;
    for case in cases.iter().filter(|it| it.is_dir()) {
        let mut files = Files::new();
        read(case, case, &mut files);
        let is_root =
            |path: &str| path.ends_with("/kustomization.yaml") || path.ends_with("/Kustomization");
        let with = |how: &dyn Fn(&mut Value), which: &dyn Fn(&str) -> bool| -> Files {
            let changed = files.iter().map(|(path, text)| {
                let text = if which(path) {
                    change(text, how)
                } else {
                    text.clone()
                };
                (path.clone(), text)
            });
            changed.collect()
        };
        let variants = [
            with(&|it| change_values(it, replace), &|_| true),
            with(&|it| change_values(it, append), &is_root),
            with(&|it| change_values(it, replace), &|path| !is_root(path)),
            with(&|it| *it = change_keys(it, append), &|path| !is_root(path)),
            with(&|it| *it = change_keys(it, append), &is_root),
        ];
        for files in &variants {
            count += usize::from(record(files, &surroundings));
        }
        let leaks = leaks(home.path(), &surroundings);
        assert!(!leaks, "{}", case.display());
    }
    assert!(count > 800, "most of them are counted: {count}");
}
