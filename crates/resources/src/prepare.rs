//! What happens to an object before it is created or updated: the server owns some of its fields.
//!
//! Each kind is a row ([`strategy`]) that says who owns status and metadata on which way in, and when the generation
//! counts up; a few kinds add a function.

mod delete;
mod fields;
mod kinds;
mod level;
mod pod;
mod same;
mod service;
mod strategy;
pub mod warnings;

#[cfg(test)]
mod tests;

use json::{Object, Value};

use crate::defaults::{self, made};
use crate::read::Read;
use strategy::{Generation, Meta, Status, Strategy};

pub use delete::{GarbageCollection, garbage_collection, grace_period};
pub use fields::{FieldLabelError, custom_field_label, field_label, field_value};
pub(crate) use kinds::secret_strings;
pub use same::same;
pub use strategy::{ResetFields, allow_create_on_update, allow_unconditional_update, reset_fields};

/// What the request brings along.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    pub user: Option<User<'a>>,
    /// RFC 3339, in seconds.
    pub now: &'a str,
    /// A fresh one, for kinds that make up a name.
    pub uid: &'a str,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct User<'a> {
    pub name: &'a str,
    pub uid: &'a str,
    pub groups: &'a [String],
    pub extra: &'a [(String, Vec<String>)],
}

/// What is stored may be older than some of today's defaults: upstream fills them in when it reads.
pub fn stored(group: &str, version: &str, kind: &str, object: &mut Value) {
    defaults::apply(group, version, kind, object);
    match (group, kind) {
        ("", "PersistentVolumeClaim") => {
            let before = object.clone();
            if let Some(claim) = object.as_object_mut() {
                kinds::data_sources(claim, &before);
            }
        }
        ("", "Service") => service::stored(object),
        _ => {}
    }
}

/// Before a built-in object is created. It has its defaults, its name and its UID.
pub fn create(group: &str, version: &str, kind: &str, object: &mut Value, context: &Context<'_>) {
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    let row = strategy::find(group, kind);
    if row.status == Status::Wiped {
        fields.remove("status");
    }
    if row.generation.starts_at_one() {
        set_generation(fields, 1);
    }
    kinds::create(group, kind, fields, context);
    // What Go writes of an empty status belongs to the defaults.
    if row.status == Status::Wiped {
        defaults::apply(group, version, kind, object);
    }
}

/// Before a built-in object is updated, in itself or through a subresource (empty for itself).
pub fn update(
    group: &str,
    kind: &str,
    subresource: &str,
    new: &mut Value,
    old: &Value,
    context: &Context<'_>,
) {
    let (Some(fields), Some(before)) = (new.as_object_mut(), old.as_object()) else {
        return;
    };
    let row = strategy::find(group, kind);
    set_generation(fields, old.int("metadata.generation"));
    match subresource {
        "" => {
            if row.status != Status::None {
                copy(fields, before, "status");
            }
            kinds::update(group, kind, fields, old, context);
            if row.generation.counts(fields, before) {
                set_generation(fields, old.int("metadata.generation").saturating_add(1));
            }
        }
        "status" => {
            copy(fields, before, "spec");
            reset_metadata(row, fields, old);
            kinds::update_status(group, kind, fields, old, context);
        }
        _ => kinds::update_subresource(group, kind, subresource, fields, old, context),
    }
}

/// Before an object of a custom kind is created; `has_status` says whether its version has that subresource.
pub fn create_custom(object: &mut Value, has_status: bool) {
    if let Some(fields) = object.as_object_mut() {
        if has_status {
            fields.remove("status");
        }
        set_generation(fields, 1);
    }
}

/// Before an object of a custom kind is updated. Through its status subresource nothing else changes.
pub fn update_custom(subresource: &str, new: &mut Value, old: &Value, has_status: bool) {
    let (Some(fields), Some(before)) = (new.as_object_mut(), old.as_object()) else {
        return;
    };
    if subresource == "status" {
        let status = fields.remove("status");
        let managed = fields
            .get_mut("metadata")
            .and_then(|it| it.get_mut("managedFields"))
            .map(Value::take);
        *fields = before.clone();
        fields.remove("status");
        if let Some(status) = status {
            fields.insert("status", status);
        }
        keep_managed(fields, managed);
        return;
    }
    if has_status {
        copy(fields, before, "status");
    }
    let generation = old.int("metadata.generation");
    let mut others = before.iter().filter(|(key, _)| **key != *"metadata");
    let count = |it: &Object| it.len() - usize::from(it.contains_key("metadata"));
    // Of values without a Go type, an empty one is not like none.
    let changed =
        count(fields) != count(before) || others.any(|(key, value)| fields.get(key) != Some(value));
    set_generation(fields, generation.saturating_add(i64::from(changed)));
}

pub(crate) fn set_generation(object: &mut Object, generation: i64) {
    let Some(metadata) = made(object, "metadata") else {
        return;
    };
    // Zero is not written.
    if generation == 0 {
        metadata.remove("generation");
    } else {
        metadata.insert("generation", generation);
    }
}

/// Takes a field as it was, absence included.
pub(crate) fn copy(new: &mut Object, old: &Object, key: &str) {
    match old.get(key) {
        Some(value) => drop(new.insert(key, value.clone())),
        None => drop(new.remove(key)),
    }
}

fn reset_metadata(row: &Strategy, new: &mut Object, old: &Value) {
    let Some(Value::Object(before)) = old.get("metadata") else {
        return;
    };
    let Some(metadata) = made(new, "metadata") else {
        return;
    };
    match row.metadata {
        Meta::Free => {}
        Meta::Labels => copy(metadata, before, "labels"),
        Meta::Reset => reset_for_status(metadata, before),
        Meta::Whole => {
            let managed = metadata.remove("managedFields");
            *metadata = before.clone();
            keep_managed(new, managed);
        }
    }
}

/// What a status update may not touch.
pub(crate) fn reset_for_status(metadata: &mut Object, before: &Object) {
    for key in [
        "deletionTimestamp",
        "generation",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ] {
        copy(metadata, before, key);
    }
}

fn keep_managed(object: &mut Object, managed: Option<Value>) {
    if let Some(metadata) = made(object, "metadata") {
        metadata.remove("managedFields");
        if let Some(managed) = managed {
            metadata.insert("managedFields", managed);
        }
    }
}

impl Generation {
    fn starts_at_one(self) -> bool {
        !matches!(self, Self::None | Self::UpdateOnly(_))
    }

    fn counts(self, new: &Object, old: &Object) -> bool {
        match self {
            Self::None | Self::Fixed => false,
            Self::Of(paths) | Self::UpdateOnly(paths) => {
                paths.iter().any(|path| !same::same_at(new, old, path))
            }
            Self::AllAndLabels => {
                !same::same_but(new, old, &["metadata"])
                    || !same::same_at(new, old, &["metadata", "labels"])
            }
        }
    }
}
