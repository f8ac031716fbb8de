//! kustomize's own cases, extracted as data: `../shared/cases/kustomize` beside the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use json::Value;
use kustomize::{Disk, Host, LoadRestrictions, Local, Options, Program, Reorder, build};
use regex::Regex;

/// Cases that do not pass yet: a schema in a comment.
const MISSING: &[&str] = &[
    "merge2-merge_primitive_items-append",
    "merge2-no_infer_merge_keys_merge_using_explicit_schema_as_line_comment_-append",
];

/// What is expected is 5.5.0's answer; 5.8.1 takes selectors as patterns.
const CHANGED: &[&str] = &[
    "flt-replacement-create_in_source_using_regex",
    "flt-replacement-create_using_regex",
    "flt-replacement-delimiter_using_regex",
    "flt-replacement-name_not_matching_suffixed_and_prefixed_names_using_regex",
    "flt-replacement-reduce_selection_with_matching_label_using_regex",
    "flt-replacement-reject_1_with_regex",
    "flt-replacement-reject_2_with_regex",
    "flt-replacement-reject_3_with_regex",
    "flt-replacement-select_1_from_many_using_regex",
    "flt-replacement-select_2_among_3_and_create_one_field_using_regex",
    "flt-replacement-select_2_among_3_using_regex",
    "flt-replacement-select_2_of_3_and_create_all_the_fields_using_regex",
    "flt-replacement-select_by_group_using_regex",
    "flt-replacement-select_by_version_using_regex",
    "flt-replacement-select_multiple_targets_and_create_multiple_fields_using_regex",
    "flt-replacement-simple_with_regex",
];

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/kustomize")
}

/// Programs run, warnings are nobody's business.
struct Quiet;

impl Host for Quiet {
    fn run(&self, program: &Program) -> Result<kustomize::Finished, kustomize::Error> {
        Local.run(program)
    }

    fn find(&self, program: &str) -> Option<String> {
        Local.find(program)
    }
}

fn copy_tree(from: &Path, to: &Path, placeholder: Option<&str>) {
    fs::create_dir_all(to).expect("a directory of our own");
    // Some cases have no files at all, and so no directory.
    let Ok(entries) = fs::read_dir(from) else {
        return;
    };
    for entry in entries {
        let entry = entry.expect("an entry");
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("its type");
        if kind.is_dir() {
            copy_tree(&path, &target, placeholder);
        } else if kind.is_symlink() {
            let link = fs::read_link(&path).expect("a link");
            std::os::unix::fs::symlink(link, &target).expect("a link of our own");
        } else {
            fs::copy(&path, &target).expect("a copy");
            if let Some(root) = placeholder {
                let bytes = fs::read(&target).expect("what was copied");
                let text = String::from_utf8_lossy(&bytes);
                if text.contains("/__KROOT__") {
                    fs::write(&target, text.replace("/__KROOT__", root)).expect("a new text");
                }
            }
        }
    }
}

fn options(case: &Value) -> Options {
    let options = case.get("options").expect("every case has options");
    let is = |key: &str| options.get(key).and_then(Value::as_bool) == Some(true);
    let mut all = Options {
        load_restrictions: match options.str_at(&["load_restrictor"]) {
            Some("LoadRestrictionsRootOnly") => LoadRestrictions::RootOnly,
            _ => LoadRestrictions::None,
        },
        reorder: match options.str_at(&["reorder"]) {
            Some("none") => Reorder::None,
            Some("legacy") => Reorder::Legacy,
            _ => Reorder::Unspecified,
        },
        add_managed_by_label: is("managed_by_label"),
        enable_plugins: is("enable_plugins"),
        ..Options::default()
    };
    all.functions.enable_exec = is("enable_exec");
    all
}

/// Nothing if it passes, else why not.
fn run(root: &Path, case: &Value) -> Option<String> {
    let id = case.str_at(&["id"]).expect("every case has an id");
    let dir = tempfile::tempdir().expect("a directory of our own");
    let work = fs::canonicalize(dir.path()).expect("it is there").join("w");
    let work_text = work.to_string_lossy().into_owned();
    let placeholder = case
        .str_at(&["root_placeholder"])
        .map(|_| work_text.as_str());
    copy_tree(&root.join(id).join("input"), &work, placeholder);
    let entry = case.str_at(&["entry"]).unwrap_or(".");
    let target = work.join(entry);
    let built = build(&Disk, &Quiet, &target.to_string_lossy(), &options(case))
        .and_then(|output| output.to_yaml());
    let fill = |text: String| match placeholder {
        Some(root) => text.replace("/__KROOT__", root),
        None => text,
    };
    match (case.str_at(&["kind"]), built) {
        (Some("yaml"), Ok(text)) => {
            let expected = fs::read_to_string(root.join(id).join("expected.yaml"));
            let expected = fill(expected.expect("what is expected"));
            (text != expected).then(|| difference(&expected, &text))
        }
        (Some("succeeds"), Ok(_)) => None,
        (Some("yaml" | "succeeds"), Err(error)) => Some(format!("error: {error}")),
        (_, Ok(_)) => Some("expected an error".into()),
        (_, Err(error)) => {
            let text = fs::read(root.join(id).join("error.json")).expect("what is expected");
            let wanted = json::parse(&text).expect("JSON");
            let error = format!("Error: {error}\n");
            let shown = [
                error.clone(),
                error
                    .replace(&format!("{work_text}/"), "/")
                    .replace(&work_text, "/"),
                error.replace(&work_text, ""),
            ];
            let wanted = wanted.as_array().expect("a list");
            let missing = wanted.iter().find(|it| {
                let text = fill(it.str_at(&["text"]).unwrap_or_default().to_owned());
                let regexp = it.str_at(&["match"]) == Some("regexp");
                let hit = |shown: &String| {
                    if regexp {
                        Regex::new(&text).is_ok_and(|regex| regex.is_match(shown))
                    } else {
                        shown.contains(text.trim())
                            || shown.replace("\\\"", "\"").contains(text.trim())
                    }
                };
                !shown.iter().any(hit)
            });
            missing.map(|it| format!("wanted {it}\n     got {}", shown[1]))
        }
    }
}

fn difference(expected: &str, found: &str) -> String {
    let (mut a, mut b) = (expected.lines(), found.lines());
    for line in 1.. {
        match (a.next(), b.next()) {
            (Some(a), Some(b)) if a == b => {}
            (None, None) => break,
            (a, b) => return format!("line {line}: expected {a:?}, found {b:?}"),
        }
    }
    "the ends differ".into()
}

#[requires::requires(kustomize_cases)]
#[test]
fn upstream_cases() {
    let root = cases();
    let root = root.join("upstream");
    let index = fs::read(root.join("index.json")).expect("the index");
    let index = json::parse(&index).expect("JSON");
    let only = std::env::var("KUSTOMIZE_CASE").ok();
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in index.as_array().expect("a list") {
        let id = case.str_at(&["id"]).expect("every case has an id");
        let skip = match &only {
            Some(only) => !id.contains(only.as_str()),
            None => case.get("in_scope").and_then(Value::as_bool) != Some(true),
        };
        if skip {
            continue;
        }
        count += 1;
        match (run(&root, case), MISSING.contains(&id)) {
            (Some(why), false) => wrong.push(format!("{id}: {why}")),
            (None, true) => wrong.push(format!("{id} passes now: take it off the list")),
            _ => {}
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Filters of kyaml and the oddities of scalars and generators: each a directory with what must come out.
#[requires::requires(kustomize_cases)]
#[test]
fn filters_and_quirks() {
    let root = cases();
    let mut wrong = Vec::new();
    let mut inputs: Vec<(String, PathBuf, PathBuf)> = Vec::new();
    for entry in fs::read_dir(root.join("filters")).expect("the filters") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        inputs.push((name, path.join("input"), path.join("expected.yaml")));
    }
    for name in ["scalars", "generators"] {
        let dir = root.join("quirks");
        let expected = dir.join(format!("{name}.expected.yaml"));
        inputs.push((name.into(), dir.join(name), expected));
    }
    inputs.sort();
    let count = inputs.len();
    for (name, input, expected) in inputs {
        let Ok(expected) = fs::read_to_string(expected) else {
            continue;
        };
        let built = build(&Disk, &Quiet, &input.to_string_lossy(), &Options::default());
        let why = match built.and_then(|output| output.to_yaml()) {
            Ok(text) if text == expected => None,
            Ok(text) => Some(difference(&expected, &text)),
            Err(error) => Some(format!("error: {error}")),
        };
        if CHANGED.contains(&name.as_str()) {
            continue;
        }
        match (why, MISSING.contains(&name.as_str())) {
            (Some(why), false) => wrong.push(format!("{name}: {why}")),
            (None, true) => wrong.push(format!("{name} passes now: take it off the list")),
            _ => {}
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
