//! Warnings of definitions: schemas with formats that are not checked.

use std::collections::{BTreeSet, HashSet};

use json::Value;

use super::Warnings;
use crate::read::Read;

/// What a definition says now, and did not say before.
pub(crate) fn check(new: &Value, old: Option<&Value>, all: &mut Warnings) {
    let (formats, lists) = told(new);
    let (known_formats, known_lists) = old.map(told).unwrap_or_default();
    let known: HashSet<String> = known_formats.into_iter().chain(known_lists).collect();
    let lists: BTreeSet<_> = lists.into_iter().collect();
    let mut seen = HashSet::new();
    for text in formats.into_iter().chain(lists) {
        if !known.contains(&text) && seen.insert(text.clone()) {
            all.push(text);
        }
    }
}

/// About formats, and about lists.
fn told(definition: &Value) -> (Vec<String>, Vec<String>) {
    let (mut formats, mut lists) = (Vec::new(), Vec::new());
    for version in definition.list("spec.versions") {
        if let Some(schema) = version.find("schema.openAPIV3Schema") {
            walk(schema, &mut |schema| {
                let (kind, format) = (schema.text("type"), schema.text("format"));
                if !format.is_empty() && !schema::structural::is_known_format(kind, format) {
                    formats.push(format!("unrecognized format {}", meta::go::quote(format)));
                }
                let items = schema.text("items.type");
                let is_set = schema.text("x-kubernetes-list-type") == "set";
                if is_set && matches!(items, "object" | "array") {
                    lists.push(format!(
                        "x-kubernetes-list-type: set for items of type \"{items}\" is not supported by server-side apply or CEL validation rules"
                    ));
                }
            });
        }
    }
    (formats, lists)
}

/// Depth is bounded by the reader of the definition.
fn walk(schema: &Value, look: &mut impl FnMut(&Value)) {
    look(schema);
    for key in ["items", "not", "additionalProperties", "additionalItems"] {
        if let Some(below @ Value::Object(_)) = schema.get(key) {
            walk(below, look);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        schema.list(key).iter().for_each(|it| walk(it, look));
    }
    for key in ["properties", "patternProperties", "definitions"] {
        let below = schema.get(key).and_then(Value::as_object);
        below
            .into_iter()
            .flat_map(json::Object::values)
            .for_each(|it| walk(it, look));
    }
}
