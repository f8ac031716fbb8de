//! What every object says of itself: reading and changing `metadata` in a JSON value.
//!
//! Readers take what is there: a field that is missing, or of another type, is as good as empty. Writers keep the
//! fields of `metadata` in upstream's order, and leave no empty ones behind.

mod name;
mod owner;
mod validate;
mod write;

use json::{Object, Value};

use crate::gvk::{GroupVersionKind, ParseError};
use crate::time::Time;

pub use name::{MAX_GENERATED_NAME_PREFIX, generate_name};
pub use owner::{OwnerReference, controller_of, owner_references};
pub use validate::{
    TOTAL_ANNOTATION_SIZE_LIMIT, validate_annotations, validate_conditions, validate_field_manager,
    validate_finalizer_name, validate_finalizers, validate_immutable_field,
    validate_managed_fields, validate_object_meta, validate_object_meta_update,
    validate_owner_references,
};
pub use write::{
    add_finalizer, metadata_mut, order, remove_annotation, remove_finalizer, remove_label,
    set_annotation, set_creation_timestamp, set_deletion, set_finalizers, set_generate_name,
    set_generation, set_gvk, set_label, set_managed_fields, set_name, set_namespace,
    set_resource_version, set_uid, take_managed_fields,
};

pub const FINALIZER_ORPHAN_DEPENDENTS: &str = "orphan";
pub const FINALIZER_DELETE_DEPENDENTS: &str = "foregroundDeletion";

pub fn metadata(object: &Value) -> Option<&Object> {
    object.get("metadata").and_then(Value::as_object)
}

fn field<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    metadata(object)?.get(key)
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    let text = field(object, key).and_then(Value::as_str);
    text.unwrap_or_default()
}

fn items<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    let items = field(object, key).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

pub fn api_version(object: &Value) -> &str {
    object.str_at(&["apiVersion"]).unwrap_or_default()
}

pub fn kind(object: &Value) -> &str {
    object.str_at(&["kind"]).unwrap_or_default()
}

pub fn gvk(object: &Value) -> Result<GroupVersionKind, ParseError> {
    GroupVersionKind::parse(api_version(object), kind(object))
}

pub fn name(object: &Value) -> &str {
    text(object, "name")
}

pub fn generate_name_prefix(object: &Value) -> &str {
    text(object, "generateName")
}

pub fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

pub fn uid(object: &Value) -> &str {
    text(object, "uid")
}

pub fn resource_version(object: &Value) -> &str {
    text(object, "resourceVersion")
}

pub fn generation(object: &Value) -> i64 {
    let generation = field(object, "generation").and_then(Value::as_i64);
    generation.unwrap_or(0)
}

pub fn labels(object: &Value) -> Option<&Object> {
    field(object, "labels").and_then(Value::as_object)
}

pub fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    labels(object)?.get(key).and_then(Value::as_str)
}

pub fn annotations(object: &Value) -> Option<&Object> {
    field(object, "annotations").and_then(Value::as_object)
}

pub fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    annotations(object)?.get(key).and_then(Value::as_str)
}

pub fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    let all = items(object, "finalizers").iter();
    // Go reads null as no text.
    all.map(|it| it.as_str().unwrap_or_default())
}

pub fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    finalizers(object).any(|it| it == finalizer)
}

pub fn managed_fields(object: &Value) -> &[Value] {
    items(object, "managedFields")
}

fn time(object: &Value, key: &str) -> Option<Time> {
    field(object, key)
        .and_then(Value::as_str)
        .and_then(|it| Time::parse(it).ok())
}

pub fn creation_timestamp(object: &Value) -> Option<Time> {
    time(object, "creationTimestamp")
}

pub fn deletion_timestamp(object: &Value) -> Option<Time> {
    time(object, "deletionTimestamp")
}

/// Whether it only waits for its finalizers.
pub fn is_being_deleted(object: &Value) -> bool {
    field(object, "deletionTimestamp").is_some_and(|it| !it.is_null())
}

pub fn deletion_grace_period_seconds(object: &Value) -> Option<i64> {
    field(object, "deletionGracePeriodSeconds").and_then(Value::as_i64)
}

/// The `metadata` of a list, empty fields left out.
pub fn list_meta(
    resource_version: &str,
    continue_token: &str,
    remaining_item_count: Option<i64>,
) -> Value {
    let mut meta = Object::new();
    if !resource_version.is_empty() {
        meta.insert("resourceVersion", resource_version);
    }
    if !continue_token.is_empty() {
        meta.insert("continue", continue_token);
    }
    if let Some(count) = remaining_item_count {
        meta.insert("remainingItemCount", count);
    }
    Value::Object(meta)
}

/// Whether it is a list of objects, and not one that merely ends in `List`.
pub fn is_list(object: &Value) -> bool {
    kind(object).ends_with("List") && object.get("items").and_then(Value::as_array).is_some()
}

#[cfg(test)]
mod tests;
