//! JSON merge patch (RFC 7386), as kube-apiserver does it.

use json::{Object, Value};

use crate::Error;

pub fn merge_patch(doc: Value, patch: Value) -> Result<Value, Error> {
    match (doc, patch) {
        (Value::Null, _) => Err(Error::Internal("Invalid JSON Document".into())),
        (Value::Object(mut doc), Value::Object(patch)) => {
            merge(&mut doc, patch);
            Ok(Value::Object(doc))
        }
        (_, mut patch @ (Value::Object(_) | Value::Array(_))) => {
            prune_nulls(&mut patch);
            Ok(patch)
        }
        _ => Err(Error::BadRequest("Invalid JSON Patch".into())),
    }
}

fn merge(doc: &mut Object, patch: Object) {
    for (key, mut value) in patch {
        if value.is_null() {
            doc.remove(&key);
            continue;
        }
        if let Some(Value::Object(current)) = doc.get_mut(&key) {
            match value {
                Value::Object(value) => merge(current, value),
                // A list that takes an object's place keeps its nulls; elsewhere nulls mean "not there".
                other => *doc.get_or_insert(&key) = other,
            }
        } else {
            prune_nulls(&mut value);
            doc.insert(key, value);
        }
    }
}

/// Drops null fields at any depth. Null items of lists stay.
pub(crate) fn prune_nulls(value: &mut Value) {
    match value {
        Value::Object(object) => object.retain(|_, value| {
            prune_nulls(value);
            !value.is_null()
        }),
        Value::Array(items) => items.iter_mut().for_each(prune_nulls),
        _ => {}
    }
}
