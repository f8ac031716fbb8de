//! The one form in which an object of a built-in kind is written: what Go's decoder and encoder make of it.
//!
//! Fields stand in the order of the struct and map keys in the order of their bytes; unknown fields and empty
//! `omitempty` ones go; fields that Go always writes are there (`"status":{}`); quantities and times have one form. Types
//! that are not Go's stay as they are.

use json::{Object, Value};
use meta::quantity::Quantity;
use meta::time::Time;

use crate::{Format, GoField, NodeId, Place, Shape};

/// Go's zero time, in seconds since 1970.
pub(crate) const ZERO_TIME: i64 = -62_135_596_800;

/// Puts fields in the order in which they are written; nothing else changes.
pub fn order(place: Place<'_>, value: &mut Value) {
    match (place.shape(), value) {
        (Shape::Object { fields, .. }, Value::Object(object)) if place.node().go.is_some() => {
            let rank = |key: &str| fields.position(key);
            let ranks: Vec<usize> = object
                .keys()
                .map(|key| rank(key).unwrap_or(fields.len()))
                .collect();
            if !ranks.is_sorted() {
                object.sort_by_rank(|key| rank(key).unwrap_or(fields.len()));
            }
            for (key, value) in object.iter_mut() {
                if let Some(place) = place.field(key) {
                    order(place, value);
                }
            }
        }
        (Shape::Map { values, .. }, Value::Object(object)) => {
            object.sort_keys();
            object
                .values_mut()
                .for_each(|value| order(place.at(*values), value));
        }
        (Shape::List { items, .. }, Value::Array(all)) => {
            for item in all {
                order(place.at(*items), item);
            }
        }
        (Shape::Any, value) => schemas(place, value, &mut |place, value| order(place, value)),
        _ => {}
    }
}

/// Gives a value its canonical form. It has passed [`crate::check_types`]; what has not stays as it is.
pub fn canonical(place: Place<'_>, value: &mut Value) {
    match (place.shape(), &mut *value) {
        (Shape::Object { .. }, Value::Object(object)) if place.node().go.is_some() => {
            *object = written(place, object);
        }
        (_, Value::Null) => *value = zero(place),
        (Shape::Map { values, .. }, Value::Object(object)) => {
            object.sort_keys();
            object
                .values_mut()
                .for_each(|value| canonical(place.at(*values), value));
        }
        (Shape::List { items, .. }, Value::Array(all)) => {
            for item in all {
                canonical(place.at(*items), item);
            }
        }
        (Shape::Any, value) => schemas(place, value, &mut |place, value| canonical(place, value)),
        (Shape::String, _) => {
            if let Some(formatted) = formatted(place.node().format, value) {
                *value = formatted;
            }
        }
        _ => {}
    }
}

/// Makes empty lists null: protobuf, in which upstream keeps objects, cannot tell them apart.
pub fn empty_lists_to_null(place: Place<'_>, value: &mut Value) {
    match (place.shape(), &mut *value) {
        (Shape::List { .. }, Value::Array(all)) if all.is_empty() => *value = Value::Null,
        (Shape::List { items, .. }, Value::Array(all)) => {
            for item in all {
                empty_lists_to_null(place.at(*items), item);
            }
        }
        (Shape::Map { values, .. }, Value::Object(object)) => {
            for value in object.values_mut() {
                empty_lists_to_null(place.at(*values), value);
            }
        }
        (Shape::Object { .. }, Value::Object(object)) => {
            for (key, value) in object.iter_mut() {
                if let Some(place) = place.field(key) {
                    empty_lists_to_null(place, value);
                }
            }
        }
        _ => {}
    }
}

/// The fields of a struct that Go writes, with their values.
fn written(place: Place<'_>, from: &mut Object) -> Object {
    let mut out = Object::with_capacity(from.len());
    let (Shape::Object { fields, .. }, Some(go)) = (place.shape(), &place.node().go) else {
        return std::mem::take(from);
    };
    for (field, facts) in fields.iter().zip(&go.fields) {
        let found = from
            .get_mut(&field.name)
            .map(Value::take)
            .filter(|it| !it.is_null());
        let place = place.at(field.node);
        let value = match found {
            Some(mut value) => {
                canonical(place, &mut value);
                value
            }
            None if facts.pointer => Value::Null,
            // Nothing is taken apart for what will not be written.
            None if facts.omit_empty && !is_struct(place) => continue,
            None => zero(place),
        };
        if !omitted(place, facts, &value) || clears(&field.name, &value) {
            out.push(field.name.clone(), value);
        }
    }
    out
}

/// Lists of a pod's status that an empty list clears, and that stay as they are if they are left out. Whoever prepares
/// the status needs to know.
fn clears(field: &str, value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
        && matches!(
            field,
            "resourceClaimStatuses" | "nodeAllocatableResourceClaimStatuses"
        )
}

fn omitted(place: Place<'_>, facts: &GoField, value: &Value) -> bool {
    if facts.pointer {
        return facts.omit_empty && value.is_null();
    }
    facts.omit_empty && !is_struct(place) && is_empty(value)
        || facts.omit_zero && is_zero(place, value)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

fn is_zero(place: Place<'_>, value: &Value) -> bool {
    *value == zero(place)
}

/// A struct in Go: `omitempty` means nothing to it.
fn is_struct(place: Place<'_>) -> bool {
    let node = place.node();
    match node.format {
        Format::None => matches!(node.shape, Shape::Object { .. } | Shape::IntOrString),
        Format::Int32 | Format::Int64 | Format::Double | Format::Byte => false,
        // A bare `any` is not; the others are.
        Format::Json => node.go.is_some(),
        _ => true,
    }
}

/// What Go writes for the zero value of a type.
pub(crate) fn zero(place: Place<'_>) -> Value {
    let node = place.node();
    match (&node.shape, node.format) {
        (Shape::String, Format::None) => "".into(),
        (Shape::String, Format::Quantity) => "0".into(),
        (Shape::String, Format::Duration) => "0s".into(),
        (Shape::Boolean, _) => false.into(),
        (Shape::Integer | Shape::Number | Shape::IntOrString, _) => 0.into(),
        (Shape::Object { .. }, _) => Value::Object(written(place, &mut Object::new())),
        _ => Value::Null,
    }
}

fn formatted(format: Format, value: &Value) -> Option<Value> {
    Some(match format {
        Format::Quantity => Quantity::from_value(value).ok()?.to_string().into(),
        Format::Time => written_time(Time::parse(value.as_str()?).ok()?, false),
        Format::MicroTime => written_time(Time::parse_micro(value.as_str()?).ok()?, true),
        _ => return None,
    })
}

/// The zero time of Go is null.
pub(crate) fn written_time(time: Time, micro: bool) -> Value {
    match (
        time.unix_nanos() == i128::from(ZERO_TIME) * 1_000_000_000,
        micro,
    ) {
        (true, _) => Value::Null,
        (false, true) => time.to_micro_string().into(),
        (false, false) => time.to_string().into(),
    }
}

/// The schemas below a field that is a schema or something else.
fn schemas(place: Place<'_>, value: &mut Value, each: &mut dyn FnMut(Place<'_>, &mut Value)) {
    let id: NodeId = match place.node().format {
        Format::SchemaOrArray(id) | Format::SchemaOrBool(id) | Format::SchemaOrStrings(id) => id,
        _ => return,
    };
    match value {
        Value::Object(_) => each(place.at(id), value),
        Value::Array(items) => items.iter_mut().for_each(|item| each(place.at(id), item)),
        _ => {}
    }
}
