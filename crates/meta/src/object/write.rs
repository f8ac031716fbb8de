use json::{Object, Text, Value};

use super::finalizers;
use crate::gvk::GroupVersionKind;
use crate::time::Time;

/// The fields of `ObjectMeta` in upstream's order.
const ORDER: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

fn rank(key: &str) -> usize {
    let rank = ORDER.iter().position(|it| *it == key);
    rank.unwrap_or(ORDER.len())
}

fn top_rank(key: &str) -> usize {
    match key {
        "kind" => 0,
        "apiVersion" => 1,
        "metadata" => 2,
        _ => 3,
    }
}

/// Puts `kind`, `apiVersion` and `metadata` first, and the fields of `metadata` in order.
pub fn order(object: &mut Value) {
    let Value::Object(object) = object else {
        return;
    };
    object.sort_by_rank(top_rank);
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.sort_by_rank(rank);
    }
}

fn as_object(value: &mut Value) -> &mut Object {
    if !matches!(value, Value::Object(_)) {
        *value = Value::Object(Object::new());
    }
    match value {
        Value::Object(object) => object,
        _ => unreachable!("it was made one just now"),
    }
}

/// The `metadata`, which is made if it is not there, as is the object.
pub fn metadata_mut(object: &mut Value) -> &mut Object {
    let object = as_object(object);
    let is_new = !object.contains_key("metadata");
    object.get_or_insert("metadata");
    if is_new {
        object.sort_by_rank(top_rank);
    }
    as_object(object.get_or_insert("metadata"))
}

fn set(object: &mut Value, key: &'static str, value: impl Into<Value>) {
    let metadata = metadata_mut(object);
    if metadata.insert(key, value).is_none() {
        metadata.sort_by_rank(rank);
    }
}

fn remove(object: &mut Value, key: &str) -> Option<Value> {
    object.get_mut("metadata")?.as_object_mut()?.remove(key)
}

/// An empty text is no field.
fn set_text(object: &mut Value, key: &'static str, text: &str) {
    if text.is_empty() {
        remove(object, key);
    } else {
        set(object, key, text);
    }
}

pub fn set_gvk(object: &mut Value, gvk: &GroupVersionKind) {
    let map = as_object(object);
    map.insert("kind", &gvk.kind);
    map.insert("apiVersion", gvk.api_version());
    order(object);
}

pub fn set_name(object: &mut Value, name: &str) {
    set_text(object, "name", name);
}

pub fn set_generate_name(object: &mut Value, prefix: &str) {
    set_text(object, "generateName", prefix);
}

pub fn set_namespace(object: &mut Value, namespace: &str) {
    set_text(object, "namespace", namespace);
}

pub fn set_uid(object: &mut Value, uid: &str) {
    set_text(object, "uid", uid);
}

pub fn set_resource_version(object: &mut Value, version: &str) {
    set_text(object, "resourceVersion", version);
}

pub fn set_generation(object: &mut Value, generation: i64) {
    if generation == 0 {
        remove(object, "generation");
    } else {
        set(object, "generation", generation);
    }
}

pub fn set_creation_timestamp(object: &mut Value, time: Option<Time>) {
    match time {
        Some(time) => set(object, "creationTimestamp", time.to_string()),
        None => _ = remove(object, "creationTimestamp"),
    }
}

/// When it was, or will be, gone, and the seconds it had for it.
pub fn set_deletion(object: &mut Value, time: Option<Time>, grace_period_seconds: Option<i64>) {
    match time {
        Some(time) => set(object, "deletionTimestamp", time.to_string()),
        None => _ = remove(object, "deletionTimestamp"),
    }
    match grace_period_seconds {
        Some(seconds) => set(object, "deletionGracePeriodSeconds", seconds),
        None => _ = remove(object, "deletionGracePeriodSeconds"),
    }
}

pub fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    if finalizers.is_empty() {
        remove(object, "finalizers");
    } else {
        set(
            object,
            "finalizers",
            finalizers.into_iter().collect::<Value>(),
        );
    }
}

/// Says whether it was not there.
pub fn add_finalizer(object: &mut Value, finalizer: &str) -> bool {
    let mut all: Vec<String> = finalizers(object).map(Into::into).collect();
    let added = !all.iter().any(|it| it == finalizer);
    if added {
        all.push(finalizer.into());
        set_finalizers(object, all);
    }
    added
}

/// Says whether it was there.
pub fn remove_finalizer(object: &mut Value, finalizer: &str) -> bool {
    let all: Vec<String> = finalizers(object).map(Into::into).collect();
    let left: Vec<String> = all.iter().filter(|it| *it != finalizer).cloned().collect();
    let removed = left.len() < all.len();
    if removed {
        set_finalizers(object, left);
    }
    removed
}

fn set_pair(object: &mut Value, map: &'static str, key: &str, value: &str) {
    let metadata = metadata_mut(object);
    let is_new = !metadata.contains_key(map);
    let pairs = as_object(metadata.get_or_insert(map));
    if pairs.insert(Text::from(key), value).is_none() {
        pairs.sort_keys();
    }
    if is_new {
        metadata.sort_by_rank(rank);
    }
}

fn remove_pair(object: &mut Value, map: &str, key: &str) -> Option<Value> {
    let pairs = object.at_mut(&["metadata", map])?.as_object_mut()?;
    let removed = pairs.remove(key);
    if pairs.is_empty() {
        remove(object, map);
    }
    removed
}

/// Keys stay sorted, as Go writes maps.
pub fn set_label(object: &mut Value, key: &str, value: &str) {
    set_pair(object, "labels", key, value);
}

pub fn remove_label(object: &mut Value, key: &str) -> Option<Value> {
    remove_pair(object, "labels", key)
}

pub fn set_annotation(object: &mut Value, key: &str, value: &str) {
    set_pair(object, "annotations", key, value);
}

pub fn remove_annotation(object: &mut Value, key: &str) -> Option<Value> {
    remove_pair(object, "annotations", key)
}

pub fn set_managed_fields(object: &mut Value, entries: Vec<Value>) {
    if entries.is_empty() {
        remove(object, "managedFields");
    } else {
        set(object, "managedFields", entries);
    }
}

pub fn take_managed_fields(object: &mut Value) -> Vec<Value> {
    match remove(object, "managedFields") {
        Some(Value::Array(entries)) => entries,
        _ => Vec::new(),
    }
}
