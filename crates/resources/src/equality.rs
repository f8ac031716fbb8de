//! Equality of parts of two objects, by the schema of their kind ([`schema::Typed`]).

use json::{Object, Value};
use schema::{Schema, Typed};

/// Without a schema values are equal as they are written, but for an empty value, which is like none.
pub(crate) fn equal(typed: Option<Typed<'_>>, a: &Value, b: &Value) -> bool {
    match typed {
        Some(typed) => typed.equal(a, b),
        None => a == b || is_empty(a) && is_empty(b),
    }
}

/// The values below a path of two objects of a kind.
pub(crate) fn equal_at(kind: Option<&Schema>, a: &Object, b: &Object, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    let none = Value::Null;
    let typed = kind.map(|it| Typed::new(it.place()));
    let typed = typed.and_then(|it| path.iter().try_fold(it, |it, name| it.field(name)));
    let a = a.get(first).and_then(|it| it.at(rest)).unwrap_or(&none);
    let b = b.get(first).and_then(|it| it.at(rest)).unwrap_or(&none);
    equal(typed, a, b)
}

/// Two objects of a kind without their metadata.
pub(crate) fn equal_without_metadata(kind: Option<&Schema>, a: &Object, b: &Object) -> bool {
    if let Some(kind) = kind {
        return Typed::new(kind.place()).equal_without(a, b, &["metadata"]);
    }
    let rest = |it: &Object| it.iter().filter(|(key, _)| **key != *"metadata").count();
    let mut all = a.iter().filter(|(key, _)| **key != *"metadata");
    rest(a) == rest(b) && all.all(|(key, value)| b.get(key) == Some(value))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
