//! How values compare where ownership is concerned: numbers by amount, objects without order. Hot path.

use std::cmp::Ordering;
use std::collections::HashMap;

use encoding::go::quote;
use json::{Number, Object, Value};

pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(*a, *b) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            if a.len() != b.len() {
                return false;
            }
            let mut same = true;
            zip(Some(a), Some(b), |_, a, b| {
                same = same
                    && match (a, b) {
                        (Some(a), Some(b)) => equal(a, b),
                        _ => false,
                    };
            });
            same
        }
        _ => a == b,
    }
}

fn numbers(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        _ => a.as_f64().total_cmp(&b.as_f64()),
    }
}

/// Numbers, then strings, booleans, lists, maps, null.
pub(crate) fn compare(a: &Value, b: &Value) -> Ordering {
    fn rank(value: &Value) -> u8 {
        match value {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            Value::Array(_) => 3,
            Value::Object(_) => 4,
            Value::Null => 5,
        }
    }
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(*a, *b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| compare(a, b));
            first_difference(pairs).then(a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let sorted = |object: &Object| {
                let mut keys: Vec<_> = object.keys().cloned().collect();
                keys.sort_unstable();
                keys
            };
            let (left, right) = (sorted(a), sorted(b));
            let pairs = left.iter().zip(&right).map(|(l, r)| {
                let values = (a.get(l), b.get(r));
                l.cmp(r).then_with(|| match values {
                    (Some(l), Some(r)) => compare(l, r),
                    _ => Ordering::Equal,
                })
            });
            first_difference(pairs).then(a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn first_difference(mut pairs: impl Iterator<Item = Ordering>) -> Ordering {
    pairs
        .find(|it| *it != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

/// As paths show a value: `"text"`, `1`, `true`.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::String(it) => quote(it),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(show).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(object) => {
            let pairs = object.iter();
            let pairs: Vec<_> = pairs
                .map(|(key, value)| format!("{key}={}", show(value)))
                .collect();
            pairs.concat()
        }
        other => json::to_string(other),
    }
}

/// Visits each key that either object has, once: the left's keys in their order, then what only the right has.
pub(crate) fn zip<'a>(
    left: Option<&'a Object>,
    right: Option<&'a Object>,
    mut visit: impl FnMut(&'a str, Option<&'a Value>, Option<&'a Value>),
) {
    const SMALL: usize = 32;
    let (Some(l), Some(r)) = (left, right) else {
        for (key, value) in left.into_iter().flat_map(Object::iter) {
            visit(key, Some(value), None);
        }
        for (key, value) in right.into_iter().flat_map(Object::iter) {
            visit(key, None, Some(value));
        }
        return;
    };
    if l.len() <= SMALL || r.len() <= SMALL {
        let mut shared = 0;
        for (key, value) in l.iter() {
            let other = r.get(key);
            shared += usize::from(other.is_some());
            visit(key, Some(value), other);
        }
        if shared < r.len() {
            for (key, value) in r.iter().filter(|(key, _)| !l.contains_key(key)) {
                visit(key, None, Some(value));
            }
        }
        return;
    }
    let mut rest: HashMap<&str, &Value> = r.iter().map(|(key, value)| (&**key, value)).collect();
    for (key, value) in l.iter() {
        visit(key, Some(value), rest.remove(key.as_str()));
    }
    for (key, value) in r.iter().filter(|(key, _)| rest.contains_key(key.as_str())) {
        visit(key, None, Some(value));
    }
}
