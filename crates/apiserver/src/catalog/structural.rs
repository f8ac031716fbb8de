//! Structural schemas: pruning, defaults and validation of custom objects.

use std::collections::BTreeSet;

use json::Value;
use meta::field::{Error, Path};
use schema::{Schema, structural};

use crate::catalog::Resource;
use crate::catalog::custom::Custom;

/// From `openAPIV3Schema`.
pub(crate) fn schema(props: &Value) -> Option<Schema> {
    structural::from_json_schema_props(props).ok()
}

/// Prunes what the schema does not name and fills in what it gives. With the paths of what was not known.
pub(crate) fn read(custom: &Custom, object: &mut Value) -> Result<Vec<String>, Error> {
    let Some(schema) = &custom.schema else {
        return Ok(Vec::new());
    };
    let place = schema.place();
    let coerced = structural::coerce(&Path::root(), place, object, true, false)?;
    // Objects in the object are read last.
    let is_own = |path: &String| path.starts_with("metadata.");
    let (mut unknown, inner): (Vec<_>, Vec<_>) = coerced.into_iter().partition(is_own);
    if custom.preserve_unknown {
        unknown.extend(inner);
        return Ok(unknown);
    }
    unknown.extend(schema::unknown_paths(place, object));
    unknown.extend(inner);
    schema::prune(place, object);
    structural::drop_nulls(place, object);
    structural::default(place, object);
    Ok(unknown)
}

/// What rests as its own version has it today.
pub(crate) fn restore(custom: &Custom, object: &mut Value) {
    let version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let version = version.rsplit_once('/').map_or(version, |(_, it)| it);
    let schema = custom.schemas.get(version);
    settle(custom, schema, object);
    if let Some(schema) = schema.filter(|_| !custom.preserve_unknown) {
        structural::default(schema.place(), object);
        // A default may be more than metadata has.
        coerce(schema, object);
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let generation = metadata.get("generation").and_then(Value::as_i64);
        if generation.unwrap_or(0) == 0 {
            metadata.insert("generation", 1);
        }
    }
}

/// Converts an object to the form in which it is stored. Defaults of the stored version are applied when it is read; returns
/// whether the object has them all already.
pub(crate) fn rest(custom: &Custom, version: &str, object: &mut Value) -> bool {
    let schema = custom.schemas.get(version);
    settle(custom, schema, object);
    schema.is_none_or(|it| !structural::lacks_default(it.place(), object))
}

/// What the schema does not know or is malformed goes.
fn settle(custom: &Custom, schema: Option<&Schema>, object: &mut Value) {
    let Some(schema) = schema else {
        return;
    };
    if !custom.preserve_unknown {
        schema::prune(schema.place(), object);
        structural::drop_nulls(schema.place(), object);
    }
    coerce(schema, object);
}

fn coerce(schema: &Schema, object: &mut Value) {
    // What is malformed is dropped: that cannot fail.
    let _ = structural::coerce(&Path::root(), schema.place(), object, true, true);
}

/// At another version than the one that rests: what this one does not know goes.
pub(crate) fn fit(custom: &Custom, object: &mut Value) {
    if let Some(schema) = &custom.schema
        && !custom.preserve_unknown
    {
        schema::prune(schema.place(), object);
        structural::drop_nulls(schema.place(), object);
    }
}

/// Only fills in what the schema gives: what it does not take is for validation to refuse, or goes when it comes to rest.
pub(crate) fn default(custom: &Custom, object: &mut Value) {
    if let Some(schema) = &custom.schema
        && !custom.preserve_unknown
    {
        structural::default(schema.place(), object);
    }
}

pub(crate) fn validate(
    resource: &Resource,
    custom: &Custom,
    object: &Value,
    live: Option<&Value>,
) -> Vec<Error> {
    let path = Path::new("metadata");
    let name = meta::names::name_is_dns_subdomain;
    let mut errors = match live {
        None => meta::object::validate_object_meta(object, resource.namespaced, name, &path),
        Some(live) => meta::object::validate_object_meta_update(object, live, &path),
    };
    let Some(schema) = &custom.schema else {
        errors.extend(scale(custom, object));
        return errors;
    };
    let place = schema.place();
    errors.extend(match live {
        None => structural::validate(place, object),
        Some(live) => structural::validate_update(place, object, live),
    });
    errors.extend(scale(custom, object));
    errors.extend(structural::validate_embedded(
        &Path::root(),
        place,
        object,
        false,
    ));
    errors.extend(lists(schema, object, live));
    errors
}

/// What is wrong with sets and maps, unless something was before.
fn lists(schema: &Schema, object: &Value, live: Option<&Value>) -> Vec<Error> {
    let wrong = |object| structural::validate_lists(&Path::root(), schema.place(), object);
    if live.is_some_and(|it| !wrong(it).is_empty()) {
        return Vec::new();
    }
    wrong(object)
}

/// Of a new status, which is all that this way of writing changes.
pub(crate) fn validate_status(custom: &Custom, object: &Value, live: &Value) -> Vec<Error> {
    let mut errors =
        meta::object::validate_object_meta_update(object, live, &Path::new("metadata"));
    let status = custom
        .schema
        .as_ref()
        .and_then(|it| it.place().field("status"));
    if let (Some(place), Some(value)) = (status, object.get("status")) {
        let found = match live.get("status") {
            Some(live) => structural::validate_update(place, value, live),
            None => structural::validate(place, value),
        };
        errors.extend(found.into_iter().map(|it| it.below("status")));
    }
    errors.extend(scale_status(custom, object));
    if let Some(schema) = &custom.schema {
        errors.extend(lists(schema, object, Some(live)));
    }
    errors
}

/// The replicas of the scale subresource must be a number; errors name the whole path.
fn scale(custom: &Custom, object: &Value) -> Vec<Error> {
    let spec = custom.scale.as_ref();
    let spec = spec.and_then(|it| replicas(&it.spec, object));
    spec.into_iter()
        .chain(scale_status(custom, object))
        .collect()
}

fn replicas(path: &str, object: &Value) -> Option<Error> {
    let wrong = match found(object, path) {
        Ok(None) => return None,
        Ok(Some(Value::Number(json::Number::Int(it)))) => match i32::try_from(*it) {
            Ok(it) if it < 0 => (i64::from(it), "should be a non-negative integer".to_owned()),
            Ok(_) => return None,
            Err(_) if *it < 0 => (*it, "should be a non-negative integer".to_owned()),
            Err(_) => (*it, format!("should be less than or equal to {}", i32::MAX)),
        },
        Ok(Some(other)) => (0, unlike(path, other, "int64")),
        Err(error) => (0, error),
    };
    Some(Error::invalid(path, wrong.0, wrong.1))
}

fn scale_status(custom: &Custom, object: &Value) -> Vec<Error> {
    let Some(scale) = &custom.scale else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    errors.extend(replicas(&scale.status, object));
    if let Some(path) = &scale.selector {
        let wrong = match found(object, path) {
            Ok(None | Some(Value::String(_))) => None,
            Ok(Some(other)) => Some(unlike(path, other, "string")),
            Err(error) => Some(error),
        };
        errors.extend(wrong.map(|it| Error::invalid(&**path, "", it)));
    }
    errors
}

/// What is at a path; an error if something on the way there has no fields.
fn found<'a>(object: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let mut at = object;
    let path = path.trim_start_matches('.');
    let mut walked = String::new();
    for name in path.split('.') {
        let Some(fields) = at.as_object() else {
            return Err(unlike(&walked, at, "map[string]interface{}"));
        };
        walked.push('.');
        walked.push_str(name);
        match fields.get(name) {
            None => return Ok(None),
            Some(value) => at = value,
        }
    }
    Ok(Some(at))
}

fn unlike(path: &str, value: &Value, wanted: &str) -> String {
    let (shown, found) = match value {
        Value::Null => ("<nil>".to_owned(), "<nil>"),
        Value::String(it) => (it.to_string(), "string"),
        Value::Bool(it) => (it.to_string(), "bool"),
        Value::Number(json::Number::Int(it)) => (it.to_string(), "int64"),
        Value::Number(json::Number::Float(it)) => (it.to_string(), "float64"),
        Value::Array(_) => (merge::go_text(value), "[]interface {}"),
        Value::Object(_) => (merge::go_text(value), "map[string]interface {}"),
    };
    let path = path.trim_start_matches('.');
    format!(".{path} accessor error: {shown} is of the type {found}, expected {wanted}")
}

/// Finalizers that were added, and whose names may be anybody's.
pub(crate) fn finalizer_warnings(object: &Value, live: Option<&Value>) -> Vec<String> {
    fn names(object: &Value) -> BTreeSet<&str> {
        let all = object.at(&["metadata", "finalizers"]);
        let all = all.and_then(Value::as_array).into_iter().flatten();
        all.filter_map(Value::as_str).collect()
    }
    let before = live.map(names).unwrap_or_default();
    let mut warnings = Vec::new();
    for name in names(object).difference(&before) {
        let at = format!("metadata.finalizers: {}", meta::go::quote(name));
        let wrong = meta::names::qualified_name(name).into_iter();
        warnings.extend(wrong.map(|text| format!("{at}: {text}")));
        if !name.contains('/') && !matches!(*name, "orphan" | "foregroundDeletion" | "kubernetes") {
            let path = if name.contains('.') {
                " including a path (/)"
            } else {
                ""
            };
            warnings.push(format!(
                "{at}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
            ));
        }
    }
    warnings
}
