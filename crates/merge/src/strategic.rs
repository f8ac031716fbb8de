//! Strategic merge patch: a merge patch whose lists merge by key where the schema says so, with directives in the
//! patch (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`).

mod list;
mod order;

use std::collections::HashSet;

use json::{Object, Value};
use schema::{Place, Shape};

use crate::merge_patch::prune_nulls;
use crate::{Error, go};

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ORDER: &str = "$setElementOrder";
const DELETE_LIST: &str = "$deleteFromPrimitiveList";

/// The schema is that of a built-in kind: custom resources know no strategic merge.
pub fn strategic_merge_patch(schema: Place, live: Value, patch: Value) -> Result<Value, Error> {
    match (live, patch) {
        (Value::Object(live), Value::Object(patch)) => {
            merge_map(live, patch, Some(schema)).map(Value::Object)
        }
        (Value::Object(live), Value::Null) => Ok(Value::Object(live)),
        (_, patch) => Err(Error::BadRequest(format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            go::json_kind(&patch)
        ))),
    }
}

/// What the schema says about the field of a map, where there is a schema.
struct Meta<'a> {
    place: Option<Place<'a>>,
    merge: bool,
    merge_key: &'a str,
}

fn lookup<'a>(place: Option<Place<'a>>, key: &str) -> Result<Meta<'a>, Error> {
    let free = Meta {
        place: None,
        merge: false,
        merge_key: "",
    };
    let Some(place) = place else { return Ok(free) };
    if let Some(field) = place.field(key) {
        let patch = &field.node().patch;
        return Ok(Meta {
            place: Some(field),
            merge: patch.merge,
            merge_key: patch.merge_key.as_deref().unwrap_or(""),
        });
    }
    match place.shape() {
        Shape::Object { .. } if !place.node().preserve_unknown => Err(Error::Internal(format!(
            "unable to find api field in struct for the json field {key:?}"
        ))),
        _ => Ok(free),
    }
}

fn merge_map(mut live: Object, mut patch: Object, place: Option<Place>) -> Result<Object, Error> {
    if let Some(directive) = patch.get(PATCH) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(PATCH);
                Ok(patch)
            }
            Some("delete") => Ok(Object::new()),
            _ => Err(bad_patch_type(&patch)),
        };
    }
    retain_keys(&mut live, &mut patch)?;
    order::set_element_order(&mut live, &mut patch, place)?;
    for (key, value) in patch {
        let deletes = key.starts_with(DELETE_LIST);
        let key = if deletes {
            match key.split_once('/') {
                Some((DELETE_LIST, key)) => key.into(),
                _ => {
                    return Err(Error::BadRequest(
                        "invalid patch format of primitive list".into(),
                    ));
                }
            }
        } else {
            key
        };
        if value.is_null() {
            live.remove(&key);
            continue;
        }
        let current = live.get_mut(&key);
        let merged = match (current.map(Value::take), value) {
            (Some(Value::Object(current)), Value::Object(value)) => {
                let field = lookup(place, &key)?;
                if field.place.is_some_and(|it| it.node().patch.replace) {
                    Some(value.into())
                } else {
                    Some(merge_map(current, value, field.place)?.into())
                }
            }
            (Some(Value::Array(current)), Value::Array(value)) => {
                let field = lookup(place, &key)?;
                Some(list::merge_list(current, value, &field, deletes)?.into())
            }
            (current, _) if deletes => current,
            (_, mut value) => {
                prune_nulls(&mut value);
                without_directives(value)
            }
        };
        match merged {
            Some(merged) => _ = live.insert(key, merged),
            None => _ = live.remove(&key),
        }
    }
    Ok(live)
}

/// `$retainKeys` names all fields that may stay.
fn retain_keys(live: &mut Object, patch: &mut Object) -> Result<(), Error> {
    let wrong = || Error::BadRequest("invalid patch format of retainKeys".into());
    let Some(names) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let names = names.as_array().ok_or_else(wrong)?;
    let names: HashSet<&str> = names.iter().filter_map(Value::as_str).collect();
    for (key, value) in patch.iter() {
        let directive = key.starts_with(DELETE_LIST) || key.starts_with(SET_ORDER);
        if !value.is_null() && !directive && !names.contains(key.as_str()) {
            return Err(wrong());
        }
    }
    live.retain(|key, _| names.contains(key));
    Ok(())
}

/// A value that is new to the object comes without the maps that only direct a merge.
fn without_directives(mut value: Value) -> Option<Value> {
    fn clean(value: &mut Value) -> bool {
        match value {
            Value::Object(object) => {
                if object.contains_key(PATCH) {
                    return false;
                }
                object.retain(|_, value| clean(value));
            }
            Value::Array(items) => items.retain_mut(clean),
            _ => {}
        }
        true
    }
    clean(&mut value).then_some(value)
}

fn bad_patch_type(patch: &Object) -> Error {
    let directive = match patch.get(PATCH) {
        Some(Value::String(it)) => it.to_string(),
        Some(other) => format!("%!s({}={})", go::type_name(other), go::v(other)),
        None => String::new(),
    };
    Error::Internal(format!(
        "unknown patch type: {directive} in map: {}",
        go::v(&patch.clone().into())
    ))
}

fn no_merge_key(item: &Value, merge_key: &str) -> Error {
    Error::Internal(format!(
        "map: {} does not contain declared merge key: {merge_key}",
        go::v(item)
    ))
}

fn bad_type(expected: &str, actual: &Value) -> Error {
    Error::Internal(format!(
        "expected a {expected}, but received a {}",
        go::type_name(actual)
    ))
}
