//! What a definition's schema does to its objects.

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
    let mut unknown = structural::coerce(&Path::root(), place, object, true, false)?;
    if custom.preserve_unknown {
        return Ok(unknown);
    }
    unknown.extend(schema::unknown_paths(place, object));
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
        return errors;
    };
    let place = schema.place();
    errors.extend(match live {
        None => structural::validate(place, object),
        Some(live) => structural::validate_update(place, object, live),
    });
    errors.extend(structural::validate_embedded(
        &Path::root(),
        place,
        object,
        false,
    ));
    errors.extend(structural::validate_lists(&Path::root(), place, object));
    errors
}
