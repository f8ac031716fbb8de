//! Equality that does not mind how nothing is written, as Kubernetes' semantic equality: an empty list or map is like
//! none, a quantity is its amount.

use json::{Object, Text, Value};

pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => same_but(a, b, &[]),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64().total_cmp(&b.as_f64()).is_eq(),
        _ => a == b,
    }
}

/// Of two objects, without some of their keys.
pub(crate) fn same_but(a: &Object, b: &Object, without: &[&str]) -> bool {
    let kept = |key: &str| !without.contains(&key);
    // Both mostly have their keys in one order.
    let mut beside = b.iter();
    let forth = a.iter().filter(|(key, _)| kept(key)).all(|(key, value)| {
        let other = match beside.next() {
            Some((it, other)) if it == key => Some(other),
            _ => b.get(key),
        };
        same_field(key, Some(value), other)
    });
    let mut beside = a.keys();
    let mut missing = |key: &Text| beside.next() != Some(key) && !a.contains_key(key);
    forth
        && b.iter()
            .filter(|(key, _)| kept(key))
            .all(|(key, value)| !missing(key) || same_field(key, Some(value), None))
}

pub(crate) fn same_at(a: &Object, b: &Object, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    let find = |it: &Object| it.get(first).and_then(|it| it.at(rest)).cloned();
    let key = path.last().copied().unwrap_or_default();
    same_field(key, find(a).as_ref(), find(b).as_ref())
}

fn same_field(key: &str, a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b) || is_none(key, a) && is_none(key, b),
        (Some(it), None) | (None, Some(it)) => is_none(key, it),
        (None, None) => true,
    }
}

/// A struct behind a pointer is something even if it is empty; of empty objects only maps are nothing.
fn is_none(key: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty() && MAPS.contains(&key),
        _ => false,
    }
}

const MAPS: [&str; 12] = [
    "annotations",
    "capacity",
    "data",
    "hard",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "overhead",
    "parameters",
    "requests",
    "selector",
];

#[test]
fn nothing_is_nothing() {
    for (a, b, equal) in [
        (r#"{"a":[]}"#, "{}", true),
        (r#"{"a":null}"#, "{}", true),
        (r#"{"a":{"b":1}}"#, r#"{"a":{"b":1.0}}"#, true),
        (r#"{"nodeSelector":{}}"#, "{}", true),
        (r#"{"emptyDir":{}}"#, "{}", false),
        (r#"{"a":[1]}"#, r#"{"a":[1,2]}"#, false),
        (r#"{"a":""}"#, "{}", false),
        ("{}", r#"{"a":1}"#, false),
        (r#"{"a":[{"b":null}]}"#, r#"{"a":[{}]}"#, true),
    ] {
        let parse = |it: &str| json::parse(it.as_bytes()).unwrap();
        assert_eq!(same(&parse(a), &parse(b)), equal, "{a} {b}");
        assert_eq!(same(&parse(b), &parse(a)), equal, "{b} {a}");
    }
}
