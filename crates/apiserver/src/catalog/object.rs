//! The metadata of an object: fields that the server sets, checks and removes.

use std::collections::HashSet;

use json::{Object, Value, json};
use meta::Status;
use meta::go::parse_uint;
pub(crate) use meta::object::{is_being_deleted, name, uid};

use crate::catalog::Resource;
use crate::runtime::clock;
use crate::runtime::random;

/// The object's metadata, which is made if it is missing.
pub(crate) fn metadata(object: &mut Value) -> Result<&mut Object, Status> {
    let Some(fields) = object.as_object_mut() else {
        return Err(Status::bad_request("the object provided is not an object"));
    };
    let metadata = fields.get_or_insert("metadata");
    if metadata.is_null() {
        *metadata = Object::new().into();
    }
    metadata
        .as_object_mut()
        .ok_or_else(|| Status::bad_request("metadata is not an object"))
}

pub(crate) fn finalizers(object: &Value) -> &[Value] {
    let found = object.at(&["metadata", "finalizers"]);
    found.and_then(Value::as_array).map_or(&[], |it| it)
}

/// Namespace and name are those of the path.
pub(crate) fn place(
    object: &mut Value,
    resource: &Resource,
    namespace: &str,
    name: &str,
) -> Result<(), Status> {
    let metadata = metadata(object)?;
    let found = metadata
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if resource.namespaced {
        check_namespace(found, namespace)?;
        metadata.insert("namespace", namespace);
    } else if !found.is_empty() {
        metadata.remove("namespace");
    }
    let found = metadata
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if found.is_empty() && !name.is_empty() {
        metadata.insert("name", name);
    }
    Ok(())
}

/// What a body says of its namespace, if anything, is what the URL says.
pub(crate) fn check_namespace(found: &str, namespace: &str) -> Result<(), Status> {
    if found.is_empty() || found == namespace {
        return Ok(());
    }
    Err(Status::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request",
    ))
}

pub(crate) fn check_name(object: &Value, name: &str) -> Result<(), Status> {
    let found = self::name(object);
    if found.is_empty() || found == name {
        return Ok(());
    }
    Err(Status::bad_request(format!(
        "the name of the object ({found}) does not match the name on the URL ({name})"
    )))
}

/// The name of an object that says only how it begins.
pub(crate) fn fill_name(object: &mut Value) -> Result<(), Status> {
    let metadata = metadata(object)?;
    let is_named = metadata
        .get("name")
        .and_then(Value::as_str)
        .is_some_and(|it| !it.is_empty());
    let base = metadata
        .get("generateName")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !is_named && !base.is_empty() {
        let name = random::name(base);
        metadata.insert("name", name);
    }
    Ok(())
}

/// What only the server says of a new object.
pub(crate) fn fill_new(object: &mut Value) -> Result<(), Status> {
    let metadata = metadata(object)?;
    forget_system_fields(metadata);
    metadata.insert("uid", random::uid());
    metadata.insert("creationTimestamp", clock::now());
    Ok(())
}

/// Metadata that a client may not set on a new object; it is dropped without a warning.
pub(crate) fn forget_system_fields(metadata: &mut Object) {
    for field in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    ] {
        metadata.remove(field);
    }
}

/// What a client cannot change stays as it is.
pub(crate) fn carry_over(object: &mut Value, live: &Value) -> Result<(), Status> {
    let old = live.get("metadata").and_then(Value::as_object);
    let metadata = metadata(object)?;
    // Fields that are left out stay as they are; other values are refused by validation.
    for field in ["uid", "deletionGracePeriodSeconds"] {
        let given = metadata.get(field);
        let given = given.is_some_and(|it| !it.is_null() && it.as_str() != Some(""));
        if !given && let Some(value) = old.and_then(|old| old.get(field)) {
            metadata.insert(field, value.clone());
        }
    }
    // Dropped without a warning.
    for field in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(value) = old
            .and_then(|old| old.get(field))
            .filter(|it| !it.is_null())
        {
            metadata.insert(field, value.clone());
        }
    }
    for field in ["generation", "selfLink"] {
        match old.and_then(|old| old.get(field)) {
            Some(value) if !value.is_null() => {
                metadata.insert(field, value.clone());
            }
            _ => {
                metadata.remove(field);
            }
        }
    }
    Ok(())
}

/// Owners that are named twice are kept once. With the uids of those that were.
pub(crate) fn distinct_owners(object: &mut Value) -> Vec<String> {
    let owners = object.get_mut("metadata");
    let owners = owners.and_then(|it| it.get_mut("ownerReferences"));
    let Some(Value::Array(owners)) =
        owners.filter(|it| it.as_array().is_some_and(|it| it.len() > 1))
    else {
        return Vec::new();
    };
    let (mut seen, mut twice) = (HashSet::new(), Vec::new());
    owners.retain(|owner| {
        let is_new = seen.insert(json::to_string(owner));
        if !is_new {
            twice.push(owner.str_at(&["uid"]).unwrap_or_default().to_owned());
        }
        is_new
    });
    twice
}

/// The managed fields.
pub(crate) fn set_managers(object: &mut Value, managers: Option<Value>) {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    match (metadata, managers) {
        (Some(metadata), Some(managers)) => drop(metadata.insert("managedFields", managers)),
        (Some(metadata), None) => drop(metadata.remove("managedFields")),
        (None, _) => {}
    }
}

/// Removes the managed fields.
pub(crate) fn forget_managers(object: &mut Value) {
    set_managers(object, None);
}

pub(crate) fn forget_version(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
}

/// The version that a query names; `None` for the newest.
pub(crate) fn asked_version(text: &str) -> Result<Option<u64>, Status> {
    if text.is_empty() {
        return Ok(None);
    }
    parse_uint(text).map(Some).map_err(|error| {
        let detail = error.to_string();
        let error = meta::field::Error::invalid("resourceVersion", text, detail);
        // Not the client's fault, as upstream sees it, but for lists.
        Status::failure(500, meta::status::Reason::Unknown, error.to_string())
    })
}

/// Puts a condition into an object's status, in the place of one of its type.
pub(crate) fn set_condition(object: &mut Value, condition: Value) {
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    let status = fields.get_or_insert("status");
    if status.is_null() {
        *status = Object::new().into();
    }
    let Some(status) = status.as_object_mut() else {
        return;
    };
    let conditions = status.get_or_insert("conditions");
    if conditions.is_null() {
        *conditions = Value::Array(Vec::new());
    }
    if let Some(conditions) = conditions.as_array_mut() {
        conditions.retain(|it| it.get("type") != condition.get("type"));
        conditions.push(condition);
    }
}

/// The `Success` that a deletion answers with.
pub(crate) fn deleted(resource: &Resource, object: &Value) -> Value {
    let mut details = Object::new();
    details.insert("name", name(object));
    if !resource.group.is_empty() {
        details.insert("group", &resource.group);
    }
    details.insert("kind", &resource.plural);
    details.insert("uid", uid(object));
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    })
}
