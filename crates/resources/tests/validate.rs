//! Upstream's tables of cases, re-expressed as text: for each kind a valid object, and for each case what is changed
//! (`path=value`; no value removes) and the errors that come of it, one a line after `> `. An error that ends with `…`
//! is a beginning; `⏎` stands for the end of a line.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use json::{Object, Value};
use resources::validate;

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let (mut count, mut wrong) = (0, String::new());
    for file in fs::read_dir(folder).expect("a folder of cases") {
        let file = file.expect("a file").path();
        let text = fs::read_to_string(&file).expect("text");
        for block in text.split("## ").filter(|it| !it.trim().is_empty()) {
            let (title, rest) = block.split_once('\n').expect("a title");
            let (valid, cases) = rest.split_once('\n').unwrap_or((rest, ""));
            let valid = json::parse(valid.as_bytes()).expect(title);
            for case in cases.split("\n\n").filter(|it| !it.trim().is_empty()) {
                count += 1;
                check(title, &valid, case.trim(), &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 400, "only {count} cases were found");
}

fn check(title: &str, valid: &Value, case: &str, wrong: &mut String) {
    let lines = || case.lines().filter(|it| *it != "unchanged");
    let changes: Vec<&str> = lines().filter(|it| !it.starts_with("> ")).collect();
    let want: Vec<&str> = lines().filter_map(|it| it.strip_prefix("> ")).collect();
    let errors = judge(title, valid, &changed(valid, &changes));
    let got: Vec<String> = errors
        .iter()
        .map(|it| it.to_string().replace('\n', "⏎"))
        .collect();
    let fits = |(got, want): (&String, &&str)| match want.strip_suffix('…') {
        Some(start) => got.starts_with(start),
        None => got == want,
    };
    if got.len() != want.len() || !got.iter().zip(&want).all(fits) {
        write!(
            wrong,
            "\n{title}, after {changes:#?}\ngot {got:#?}\nwant {want:#?}"
        )
        .expect("a String takes all");
    }
}

/// The title says what is done: `create`, `update`, `update-status` or `update/subresource`, then group and kind.
fn judge(title: &str, old: &Value, object: &Value) -> Vec<meta::field::Error> {
    let mut words = title.split(' ');
    let mut word = || words.next().expect("three words");
    let (verb, group, kind) = (word(), word(), word());
    let group = if group == "core" { "" } else { group };
    match verb {
        "create" => validate::create(group, "v1", kind, object),
        "update" => validate::update(group, "v1", kind, object, old),
        "update-status" => validate::update_status(group, "v1", kind, object, old),
        _ => {
            let sub = verb.strip_prefix("update/").expect("a subresource");
            validate::update_subresource(group, "v1", kind, sub, object, old)
        }
    }
}

fn changed(object: &Value, changes: &[&str]) -> Value {
    let mut object = object.clone();
    for change in changes {
        let (path, text) = change.split_once('=').expect("a path and a value");
        let value = (!text.is_empty()).then(|| json::parse(text.as_bytes()).expect(text));
        set(&mut object, path, value);
    }
    object
}

fn set(at: &mut Value, path: &str, value: Option<Value>) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    if let (Ok(index), Value::Array(items)) = (name.parse::<usize>(), &mut *at) {
        if index == items.len() {
            items.push(Value::Null);
        }
        return below(&mut items[index], rest, value);
    }
    if at.is_null() {
        *at = Value::Object(Object::new());
    }
    let object = at.as_object_mut().expect(path);
    match value {
        None if rest.is_empty() => drop(object.remove(name)),
        value => below(object.get_or_insert(name), rest, value),
    }
}

fn below(at: &mut Value, rest: &str, value: Option<Value>) {
    match value {
        Some(value) if rest.is_empty() => *at = value,
        value => set(at, rest, value),
    }
}

#[test]
fn config_maps_have_a_size() {
    let object = json::json!({
        "metadata": {"name": "a", "namespace": "b"},
        "data": {"key": ("x".repeat((1 << 20) + 1))}
    });
    let errors = validate::create("", "v1", "ConfigMap", &object);
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["[]: Too long: may not be more than 1048576 bytes"]);
}

/// Whatever comes in, nothing panics.
#[test]
fn odd_shapes_are_survived() {
    let odd = [
        "null",
        "[]",
        "{}",
        "1",
        r#"{"spec":[]}"#,
        r#"{"spec":{"containers":[1],"volumes":{},"ports":[null],"rules":[[]],"template":1,"versions":[0]}}"#,
    ];
    let kinds = [
        ("", "Pod"),
        ("", "Service"),
        ("", "Secret"),
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("batch", "Job"),
        ("batch", "CronJob"),
        ("networking.k8s.io", "Ingress"),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ];
    for text in odd {
        let value = json::parse(text.as_bytes()).expect(text);
        for (group, kind) in kinds {
            validate::create(group, "v1", kind, &value);
            validate::update(group, "v1", kind, &value, &value);
            validate::update_status(group, "v1", kind, &value, &value);
        }
    }
}
