//! What a definition's schema does to its objects.

use std::collections::BTreeSet;

use json::Value;
use meta::Status;
use meta::field::{Error, Path};
use schema::{Schema, structural};

use crate::catalog::Resource;
use crate::custom::Custom;

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

/// The same where nobody asks about unknown fields.
pub(crate) fn default(custom: &Custom, object: &mut Value) -> Result<(), Status> {
    read(custom, object)
        .map(|_| ())
        .map_err(|error| Status::bad_request(error.to_string()))
}

/// What rests is as complete as the version says that it rests in, if that is another.
pub(crate) fn complete_stored(custom: &Custom, object: &mut Value) {
    let Some(schema) = custom.stored.as_ref().filter(|_| !custom.preserve_unknown) else {
        return;
    };
    schema::prune(schema.place(), object);
    structural::drop_nulls(schema.place(), object);
    structural::default(schema.place(), object);
}

/// What became of an object of another version has what this one knows.
pub(crate) fn prune(custom: &Custom, object: &mut Value) {
    if let Some(schema) = custom.schema.as_ref().filter(|_| !custom.preserve_unknown) {
        schema::prune(schema.place(), object);
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
    errors.extend(structural::validate_lists(&Path::root(), place, object));
    errors
}

/// What is scaled by a subresource is a number where that looks for it, and is told by its whole path.
fn scale(custom: &Custom, object: &Value) -> Vec<Error> {
    let Some(scale) = &custom.scale else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    for path in [&scale.spec, &scale.status] {
        let wrong = match found(object, path) {
            Ok(None) => continue,
            Ok(Some(Value::Number(json::Number::Int(it)))) => match i32::try_from(*it) {
                Ok(it) if it < 0 => (i64::from(it), "should be a non-negative integer".to_owned()),
                Ok(_) => continue,
                Err(_) if *it < 0 => (*it, "should be a non-negative integer".to_owned()),
                Err(_) => (*it, format!("should be less than or equal to {}", i32::MAX)),
            },
            Ok(Some(other)) => (0, unlike(path, other, "int64")),
            Err(error) => (0, error),
        };
        errors.push(Error::invalid(&**path, wrong.0, wrong.1));
    }
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
