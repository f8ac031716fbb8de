//! One call each.

use json::{Value, json};
use merge::fieldpath::Set;
use merge::typed::{Emptied, Type};

use crate::schema_table::Schemas;

#[test]
fn calls_give_what_upstream_gives() {
    let schemas = Schemas::load(crate::lines(include_str!("../data/schemas.jsonl")));
    let (mut wrong, mut done) = (Vec::new(), 0);
    for line in crate::lines(include_str!("../data/typed.jsonl")) {
        let root = schemas.root(&line[1]).expect("a type that we can write");
        done += 1;
        let operation = line[0].as_str().expect("a name");
        let expected = line.last().expect("a result");
        let got = call(root.ty(), operation, &line[2], &line[3]);
        if !same(&got, expected) {
            wrong.push(format!("{}\n   got {got}", Value::from(line.clone())));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {done}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(done > 1_500, "{done} calls");
}

fn call(ty: Type, operation: &str, left: &Value, right: &Value) -> Value {
    let set = |value| Set::from_json(value).expect("a set").into_owned();
    match operation {
        "validate" => match ty.validate(left, right.as_bool() == Some(true)) {
            Ok(()) => Value::Null,
            Err(why) => json!({ "error": (why.to_string()) }),
        },
        "merge" => {
            let mut merged = left.clone();
            match ty.merge(&mut merged, right) {
                Ok(()) => merged,
                Err(why) => json!({ "error": (why.to_string()) }),
            }
        }
        "compare" => match ty.compare(left, right) {
            Ok(found) => [found.removed, found.modified, found.added]
                .iter()
                .map(Set::to_json)
                .collect(),
            Err(why) => json!({ "error": (why.to_string()) }),
        },
        "remove" => {
            let mut removed = left.clone();
            ty.remove(&mut removed, &set(right), Emptied::Null);
            removed
        }
        "extract" => ty.extract(left, &set(right)),
        "set" => ty.to_set(left).to_json(),
        "reconcile" => {
            let mut reconciled = set(left);
            ty.reconcile(&mut reconciled);
            reconciled.to_json()
        }
        other => panic!("unknown call {other}"),
    }
}

/// Errors that come in the order of Go's maps are not compared word by word.
fn same(got: &Value, expected: &Value) -> bool {
    match (error(got), error(expected)) {
        (Some(got), Some(expected)) => {
            let sorted = |text: &str| {
                let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            sorted(&got.replace("int64", "int")) == sorted(expected)
        }
        _ => got == expected,
    }
}

fn error(value: &Value) -> Option<&str> {
    let object = value.as_object().filter(|it| it.len() == 1)?;
    object.get("error")?.as_str()
}
