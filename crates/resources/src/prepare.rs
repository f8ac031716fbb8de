//! What happens to an object before it is created or updated: the server owns some of its fields.
//!
//! The row of a kind ([`crate::strategy`]) says which requests may change status and metadata, and when the generation
//! counts up; a few kinds add a function.

pub(crate) mod delete;
pub(crate) mod features;
pub(crate) mod fields;
pub(crate) mod kinds;
mod level;
mod ownership;
pub(crate) mod pod;
pub(crate) mod service;
pub mod warnings;

#[cfg(test)]
mod tests;

use json::{Object, Value};

use crate::defaults::made;
use crate::read::Read;
use crate::strategy::{self, Strategy};

pub(crate) use fields::SelectableFields;
pub use fields::{FieldLabelError, custom_field_label, field_label, field_value};
pub(crate) use kinds::secret_strings;
pub(crate) use ownership::{Generation, Meta, Status};
pub use ownership::{ResetFields, reset_fields};

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

/// What a kind does besides its row: on create, on update, and when a stored object is read.
#[derive(Clone, Copy)]
pub(crate) struct Prepare {
    pub(crate) create: fn(&mut Object, &Context<'_>),
    pub(crate) update: fn(&mut Object, &Value, &Context<'_>),
    pub(crate) update_status: fn(&mut Object, &Value, &Context<'_>),
    pub(crate) stored: fn(&mut Value),
}

impl Prepare {
    pub(crate) const NOTHING: Self = Self {
        create: |_, _| {},
        update: |_, _, _| {},
        update_status: |_, _, _| {},
        stored: |_| {},
    };
}

/// What is stored may be older than some of today's defaults: upstream fills them in when it reads.
pub fn stored(group: &str, version: &str, kind: &str, object: &mut Value) {
    let row = strategy::find(group, kind);
    row.defaults.apply(version, object);
    (row.prepare.stored)(object);
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
    (row.prepare.create)(fields, context);
    // What Go writes of an empty status belongs to the defaults.
    if row.status == Status::Wiped {
        row.defaults.apply(version, object);
    }
}

/// Before a built-in object is updated, in itself or through a subresource (empty for itself).
pub fn update(
    group: &str,
    version: &str,
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
            (row.prepare.update)(fields, old, context);
            if row
                .generation
                .counts((group, version, kind), fields, before)
            {
                set_generation(fields, old.int("metadata.generation").saturating_add(1));
            }
        }
        "status" => {
            copy(fields, before, "spec");
            reset_metadata(row, fields, old);
            (row.prepare.update_status)(fields, old, context);
        }
        _ => match row.subresource(subresource) {
            Some(row) => (row.prepare)(fields, old, context),
            None => keep_metadata(fields, old),
        },
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

/// Metadata as it was, but for managed fields.
pub(crate) fn keep_metadata(new: &mut Object, old: &Value) {
    if let (Some(metadata), Some(Value::Object(before))) =
        (made(new, "metadata"), old.get("metadata"))
    {
        reset_for_status(metadata, before);
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
