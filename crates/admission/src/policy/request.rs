//! What expressions see beside the objects: `request` and `namespaceObject`.

use json::{Object, Value, json};
use meta::Status;
use meta::gvk::{GroupResource, GroupVersionKind, GroupVersionResource};

use super::constraints::Matched;
use crate::Request;

/// The value of `request`.
pub(crate) fn request(request: &Request<'_>, matched: &Matched) -> Value {
    let mut out = Object::new();
    let mut set = |key: &str, value: &str| {
        if !value.is_empty() {
            out.insert(key, value);
        }
    };
    set("subResource", request.subresource);
    set("requestSubResource", request.subresource);
    set("name", request.name);
    set("namespace", request.namespace);
    out.insert("kind", kind(&matched.kind));
    out.insert("resource", resource(&matched.resource));
    out.insert("requestKind", kind(request.kind));
    out.insert("requestResource", resource(request.resource));
    out.insert("operation", request.operation.as_str());
    out.insert("userInfo", request.user.to_value());
    out.insert("dryRun", request.dry_run);
    out.insert("options", request.options.clone());
    out.into()
}

fn kind(it: &GroupVersionKind) -> Value {
    json!({"group": (&*it.group), "version": (&*it.version), "kind": (&*it.kind)})
}

fn resource(it: &GroupVersionResource) -> Value {
    json!({"group": (&*it.group), "version": (&*it.version), "resource": (&*it.resource)})
}

/// The metadata that expressions see of a Namespace.
const METADATA: [&str; 12] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "finalizers",
];

/// The value of `namespaceObject`.
pub(crate) fn namespace_object(namespace: &Value) -> Value {
    let mut out = Object::new();
    let mut metadata = Object::new();
    for key in METADATA {
        if let Some(value) = namespace.at(&["metadata", key]) {
            metadata.insert(key, value.clone());
        }
    }
    out.insert("metadata", metadata);
    for key in ["spec", "status"] {
        // Structs are never left out.
        let value = namespace.get(key).cloned();
        out.insert(key, value.unwrap_or_else(|| Object::new().into()));
    }
    out.into()
}

/// The namespace of a request, as `namespaceObject` shows it and as it is; null for requests that have none.
pub(crate) fn namespaces(request: &Request<'_>) -> Result<(Value, Value), Status> {
    let kind = request.kind;
    let is_namespace = (&*kind.group, &*kind.version, &*kind.kind) == ("", "v1", "Namespace");
    if request.namespace.is_empty() || is_namespace {
        return Ok((Value::Null, Value::Null));
    }
    let found = request.lookup.get("", "namespaces", "", request.namespace);
    let Some(found) = found else {
        let resource = GroupResource::new("", "namespaces");
        return Err(Status::not_found(&resource, request.namespace));
    };
    Ok((namespace_object(&found), found))
}
