//! Field selectors: which fields each kind supports, and their values in an object.

use std::borrow::Cow;

use json::{Number, Value};
use meta::Status;
use meta::selector::FieldSelector;
use resources::prepare;

use crate::catalog::Resource;

/// Refuses a selector on a field that cannot be selected by.
pub(crate) fn check(resource: &Resource, selector: &FieldSelector) -> Result<(), Status> {
    for term in selector.terms() {
        let field = &*term.field;
        let known = match &resource.custom {
            Some(custom) => {
                let selectable: Vec<&str> = custom.selectable.iter().map(String::as_str).collect();
                prepare::custom_field_label(&selectable, field).map(|_| ())
            }
            None => prepare::field_label(&resource.group, &resource.version, &resource.kind, field)
                .map(|_| ()),
        };
        known.map_err(|error| Status::bad_request(error.to_string()))?;
    }
    Ok(())
}

/// The field's value as text; empty if it is not there.
pub(crate) fn value<'a>(resource: &Resource, object: &'a Value, field: &str) -> Cow<'a, str> {
    if resource.custom.is_none() {
        return prepare::field_value(&resource.group, &resource.kind, object, field).into();
    }
    let path: Vec<&str> = field.split('.').collect();
    match object.at(&path) {
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(Value::Bool(it)) => Cow::Borrowed(if *it { "true" } else { "false" }),
        Some(Value::Number(Number::Int(it))) => Cow::Owned(it.to_string()),
        _ => Cow::Borrowed(""),
    }
}
