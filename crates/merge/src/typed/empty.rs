//! What a kind's object is before anyone has written to it.

use json::{Object, Value};
use schema::{Place, Shape};

/// The empty object of a built-in kind, as Go's types have it: structs that are no pointers are there, and so are
/// fields that are always written. Whoever creates an object does not own those.
pub fn empty_object(place: Place) -> Value {
    let Shape::Object { fields, .. } = place.shape() else {
        return Value::Null;
    };
    let mut object = Object::new();
    if place.node().go.is_some() {
        let mut zero = object.into();
        schema::canonical(place, &mut zero);
        return zero;
    }
    for field in fields {
        let Some(below) = place.field(&field.name) else {
            continue;
        };
        // The OpenAPI documents give structs that are no pointers the default `{}`.
        let value = match (&below.node().default, below.shape()) {
            (Some(Value::Object(default)), Shape::Object { .. }) if default.is_empty() => {
                empty_object(below)
            }
            _ if !field.required => continue,
            (_, Shape::String) => "".into(),
            (_, Shape::Boolean) => false.into(),
            (_, Shape::Integer | Shape::Number) => 0.into(),
            _ => Value::Null,
        };
        object.push(field.name.clone(), value);
    }
    object.into()
}
