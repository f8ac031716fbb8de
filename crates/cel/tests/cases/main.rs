//! What the real Kubernetes 1.37 and cel-go answer, extracted as data: `../shared/cases/cel` beside the workspace.

mod admission;
mod crd;
mod drive;
mod library;
mod mutations;
mod spec;
mod values;

use std::fs;
use std::path::{Path, PathBuf};

use json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/cel")
}

/// The cases of a file with one per line, or with an array of all.
fn cases(file: &str) -> Vec<Value> {
    let text = fs::read(folder().join(file)).expect("a file of cases");
    if Path::new(file).extension().is_some_and(|it| it == "jsonl") {
        return text
            .split(|it| *it == b'\n')
            .filter(|it| !it.is_empty())
            .map(|it| json::parse(it).expect("JSON"))
            .collect();
    }
    match json::parse(&text).expect("JSON") {
        Value::Array(all) => all,
        _ => panic!("{file} has no list of cases"),
    }
}

/// Runs all cases of a file. Those that are known to fail must fail, and no others.
fn run(file: &str, known: &[(&str, &str)], check: impl Fn(&Value) -> Result<(), String>) {
    let all = cases(file);
    let mut failures = Vec::new();
    let mut used = vec![false; known.len()];
    for case in &all {
        let expr = ["expr", "expression", "name"]
            .iter()
            .find_map(|it| case.str_at(&[it]))
            .or_else(|| case.get("rules")?.as_array()?.first()?.str_at(&["rule"]))
            .or_else(|| {
                case.get("results")?
                    .as_array()?
                    .first()?
                    .str_at(&["expression"])
            })
            .unwrap_or("");
        let expected = known.iter().position(|it| it.0 == expr);
        match (check(case), expected) {
            (Ok(()), _) => {}
            (Err(_), Some(at)) => used[at] = true,
            (Err(why), None) => failures.push(format!("{expr}\n    {why}")),
        }
    }
    let passing: Vec<&str> = known
        .iter()
        .zip(&used)
        .filter(|it| !*it.1)
        .map(|it| it.0.0)
        .collect();
    assert!(
        failures.is_empty() && passing.is_empty(),
        "{file}: {} of {} cases fail\n{}\n{} known failures pass now: {passing:?}",
        failures.len(),
        all.len(),
        failures.join("\n"),
        passing.len(),
    );
}

/// Whether a number is the expected one. Those that fit no int64 are read as floats.
#[expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "as precise as the file was read"
)]
fn is_number(wanted: &Value, actual: u64) -> bool {
    match wanted.as_number() {
        Some(json::Number::Float(it)) => it == actual as f64,
        _ => wanted.to_string() == actual.to_string(),
    }
}
