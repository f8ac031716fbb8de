//! Whether a schema is structural, in upstream's words.

use json::{Object, Value};
use meta::field::{Error, ErrorList, Path};

use super::{flag, pattern};

/// What keeps the schema at a path from being structural, in the order of the texts.
pub fn check(path: &Path<'_>, schema: &Value) -> Vec<Error> {
    let mut errors = ErrorList::default();
    structure(path, schema, Level::Root, &mut errors);
    complete(schema, schema, path, path, &mut errors);
    let mut errors = errors.into_vec();
    errors.sort_by_cached_key(Error::to_string);
    errors
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

fn object<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let found = schema.get(key).and_then(Value::as_object);
    found
        .into_iter()
        .flat_map(Object::iter)
        .map(|(key, value)| (&**key, value))
}

fn clauses<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    schema
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
}

fn is_set(schema: &Value, key: &str) -> bool {
    schema.get(key).is_some_and(|it| match it {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    })
}

fn ty(schema: &Value) -> &str {
    schema.str_at(&["type"]).unwrap_or_default()
}

fn structure(path: &Path<'_>, schema: &Value, level: Level, errors: &mut ErrorList) {
    let (embedded, int_or_string, preserve) = (
        flag(schema, "x-kubernetes-embedded-resource"),
        flag(schema, "x-kubernetes-int-or-string"),
        flag(schema, "x-kubernetes-preserve-unknown-fields"),
    );
    match schema.get("items") {
        Some(items) => structure(&path.child("items"), items, Level::Item, errors),
        None if ty(schema) == "array" => {
            errors.push_with(|| Error::required(path.child("items"), "must be specified"));
        }
        None => {}
    }
    let properties = path.child("properties");
    for (name, property) in object(schema, "properties") {
        structure(&properties.key(name), property, Level::Field, errors);
    }
    if let Some(additional) = schema.get("additionalProperties") {
        let path = path.child("additionalProperties");
        if level == Level::Root {
            errors.push_with(|| Error::forbidden(path, "must not be used at the root"));
        }
        if additional.as_object().is_some() {
            structure(&path, additional, Level::Field, errors);
        }
        if embedded {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            errors.push_with(|| Error::forbidden(path, detail));
        }
    }
    for (set, name) in [
        (preserve, "x-kubernetes-preserve-unknown-fields"),
        (embedded, "x-kubernetes-embedded-resource"),
    ] {
        if int_or_string && set {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.push_with(|| Error::invalid(path.child(name), true, detail));
        }
    }
    let first = schema.get("allOf").and_then(|it| it.as_array()?.first());
    let skip = Skip {
        any_of: is_int_or_string(schema),
        first_all_of: first.is_some_and(is_int_or_string),
    };
    values(path, schema, skip, errors);
    types(path, schema, level, errors);
    metadata(path, schema, level, errors);
    if embedded && !preserve && object(schema, "properties").next().is_none() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push_with(|| Error::required(properties, detail));
    }
}

fn types(path: &Path<'_>, schema: &Value, level: Level, errors: &mut ErrorList) {
    let at = path.child("type");
    let found = ty(schema);
    if flag(schema, "x-kubernetes-embedded-resource") && found != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push_with(|| match found {
            "" => Error::required(at, detail),
            _ => Error::invalid(at, found, detail),
        });
    } else if found.is_empty()
        && !flag(schema, "x-kubernetes-int-or-string")
        && !flag(schema, "x-kubernetes-preserve-unknown-fields")
    {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push_with(|| Error::required(at, detail));
    }
    if level == Level::Root && !matches!(found, "" | "object") {
        errors.push_with(|| Error::invalid(at, found, "must be object at the root"));
    }
}

fn metadata(path: &Path<'_>, schema: &Value, level: Level, errors: &mut ErrorList) {
    let is_object = level == Level::Root || flag(schema, "x-kubernetes-embedded-resource");
    let properties = path.child("properties");
    for (name, wanted) in [
        ("kind", "string"),
        ("apiVersion", "string"),
        ("metadata", "object"),
    ] {
        let Some(property) = schema.at(&["properties", name]) else {
            continue;
        };
        let at = properties.key(name);
        if is_object && ty(property) != wanted {
            let detail = format!("must be {wanted}");
            errors.push_with(|| Error::invalid(at.child("type"), ty(property), detail));
        }
        if name == "metadata" && level == Level::Root {
            let names = object(property, "properties")
                .all(|(name, _)| matches!(name, "name" | "generateName"));
            let bare =
                object_keys(property).all(|key| matches!(key, "type" | "properties" | "default"));
            if !names || !bare {
                let detail = "must not specify anything other than name and generateName, but metadata is implicitly \
                              specified";
                errors.push_with(|| Error::forbidden(at, detail));
            }
        }
    }
}

fn object_keys(schema: &Value) -> impl Iterator<Item = &str> {
    let found = schema.as_object().into_iter().flat_map(Object::iter);
    found
        .filter(|(key, _)| is_set(schema, key) || **key == *"additionalProperties")
        .map(|(key, _)| &**key)
}

/// `anyOf` an integer and a string, which says again what `x-kubernetes-int-or-string` does.
fn is_int_or_string(schema: &Value) -> bool {
    schema.get("anyOf") == Some(&json::json!([{"type": "integer"}, {"type": "string"}]))
}

#[derive(Clone, Copy, Default)]
struct Skip {
    any_of: bool,
    first_all_of: bool,
}

fn values(path: &Path<'_>, schema: &Value, skip: Skip, errors: &mut ErrorList) {
    for key in ["anyOf", "allOf", "oneOf"] {
        if key == "anyOf" && skip.any_of {
            continue;
        }
        let at = path.child(key);
        for (index, clause) in clauses(schema, key) {
            let skip = Skip {
                any_of: key == "allOf" && index == 0 && skip.first_all_of,
                first_all_of: false,
            };
            nested(&at.index(index), clause, skip, errors);
        }
    }
    if let Some(not) = schema.get("not") {
        nested(&path.child("not"), not, Skip::default(), errors);
    }
    let text = schema.str_at(&["pattern"]).unwrap_or_default();
    if !text.is_empty()
        && let Err(why) = pattern::check(text)
    {
        let detail = format!("must be a valid regular expression, but isn't: {why}");
        errors.push_with(|| Error::invalid(path.child("pattern"), text, detail));
    }
}

/// What may not be said below a logical junctor.
const STRUCTURE: &[(&str, &str)] = &[
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (
        "x-kubernetes-preserve-unknown-fields",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-embedded-resource",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-int-or-string",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-list-map-keys",
        "must be empty to be structural",
    ),
    (
        "x-kubernetes-list-type",
        "must be undefined to be structural",
    ),
    (
        "x-kubernetes-map-type",
        "must be undefined to be structural",
    ),
    ("x-kubernetes-validations", "must be empty to be structural"),
];

fn nested(path: &Path<'_>, schema: &Value, skip: Skip, errors: &mut ErrorList) {
    values(path, schema, skip, errors);
    if let Some(items) = schema.get("items") {
        nested(&path.child("items"), items, Skip::default(), errors);
    }
    let properties = path.child("properties");
    for (name, property) in object(schema, "properties") {
        nested(&properties.key(name), property, Skip::default(), errors);
        if name == "metadata" {
            let detail = "must not be specified in a nested context";
            errors.push_with(|| Error::forbidden(properties.key(name), detail));
        }
    }
    for (key, detail) in STRUCTURE {
        if is_set(schema, key) {
            errors.push_with(|| Error::forbidden(path.child(key), *detail));
        }
    }
}

/// All that clauses speak of is also told outside of them.
fn complete(
    clause: &Value,
    schema: &Value,
    at: &Path<'_>,
    from: &Path<'_>,
    errors: &mut ErrorList,
) {
    if let Some(not) = clause.get("not") {
        complete_nested(not, Some(schema), at, &from.child("not"), errors);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let from = from.child(key);
        for (index, clause) in clauses(clause, key) {
            complete_nested(clause, Some(schema), at, &from.index(index), errors);
        }
    }
}

fn complete_nested(
    clause: &Value,
    schema: Option<&Value>,
    at: &Path<'_>,
    from: &Path<'_>,
    errors: &mut ErrorList,
) {
    let Some(schema) = schema else {
        errors.push_with(|| Error::required(at, format!("because it is defined in {from}")));
        return;
    };
    complete(clause, schema, at, from, errors);
    if let Some(items) = clause.get("items") {
        complete_nested(
            items,
            schema.get("items"),
            &at.child("items"),
            &from.child("items"),
            errors,
        );
    }
    let (at, from) = (at.child("properties"), from.child("properties"));
    for (name, property) in object(clause, "properties") {
        let known = schema.at(&["properties", name]);
        complete_nested(property, known, &at.key(name), &from.key(name), errors);
    }
}
