//! Conversion between stored bytes and objects at the version that a client asked for.

use std::sync::Arc;

use bytes::Bytes;
use json::Value;
use meta::Status;
use store::{Entry, Revision};

use crate::catalog::Resource;
use crate::catalog::canonical;
use crate::catalog::converter::Webhook;
use crate::catalog::defaults;
use crate::catalog::object;
use crate::catalog::structural;

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// Values that kube-apiserver wrote as protobuf begin so.
const PROTOBUF: &[u8] = b"k8s\0";

/// The object at the resource's version, with its resource version.
pub(crate) fn decode(
    resource: &Resource,
    bytes: &[u8],
    revision: Revision,
) -> Result<Value, Status> {
    let mut object = restored(resource, bytes, revision)?;
    if !bytes.starts_with(resource.head.as_bytes()) {
        to_version(resource, &mut object, &resource.group, &resource.version)?;
        if let Some(custom) = &resource.custom {
            structural::fit(custom, &mut object);
        }
        if bytes.starts_with(PROTOBUF) {
            // kube-apiserver applies some defaults only when an object is read.
            defaults::apply(resource, &mut object);
        }
        if let (None, Some(schema)) = (&resource.custom, &resource.schema) {
            schema::order(schema.place(), &mut object);
        }
    }
    let metadata = object::metadata(&mut object)?;
    metadata.insert("resourceVersion", revision.to_string());
    // Behind the uid, where Go has it.
    metadata.sort_by_rank(|key| match key {
        "name" | "generateName" | "namespace" | "selfLink" | "uid" => 0,
        "resourceVersion" => 1,
        _ => 2,
    });
    Ok(object)
}

/// The object at the version it rests in; a custom one as its schema has it today.
fn restored(resource: &Resource, bytes: &[u8], revision: Revision) -> Result<Value, Status> {
    let mut object = parse(resource, bytes)?;
    if let Some(custom) = &resource.custom
        && (revision <= custom.since || !canonical::is_whole(bytes))
    {
        structural::restore(custom, &mut object);
    }
    Ok(object)
}

/// The object as it rests.
pub(crate) fn parse(resource: &Resource, bytes: &[u8]) -> Result<Value, Status> {
    read(bytes).map_err(|what| {
        let kind = &resource.kind;
        Status::internal(format!("unable to decode a stored {kind}: {what}"))
    })
}

/// Any stored value: JSON, or protobuf where kube-apiserver wrote it.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, String> {
    if bytes.starts_with(PROTOBUF) {
        return schema::protobuf::decode_object(bytes).map_err(|error| error.to_string());
    }
    json::parse(bytes).map_err(|error| error.to_string())
}

/// The entries, with those that are at another version converted by the webhook of their definition, all in one call.
pub(crate) async fn ahead(
    resource: &Resource,
    webhook: &Webhook,
    mut entries: Vec<Arc<Entry>>,
) -> Result<Vec<Arc<Entry>>, Status> {
    let wanted = resource.api_version();
    let (mut others, mut objects) = (Vec::new(), Vec::new());
    for entry in &mut entries {
        if entry.value.starts_with(resource.head.as_bytes()) {
            continue;
        }
        let object = restored(resource, &entry.value, entry.modified)?;
        if object.str_at(&["apiVersion"]) != Some(&*wanted) {
            others.push(entry);
            objects.push(object);
        }
    }
    if objects.is_empty() {
        return Ok(entries);
    }
    let converted = webhook.all(objects, &wanted).await?;
    for (entry, mut object) in others.into_iter().zip(converted) {
        if let Some(custom) = &resource.custom {
            structural::fit(custom, &mut object);
        }
        order(resource, &mut object, true);
        let value = json::to_vec(&object).into();
        *entry = Arc::new(Entry {
            key: entry.key.clone(),
            value,
            ..**entry
        });
    }
    Ok(entries)
}

/// Canonical bytes: at the version that is stored, without resource version, fields in their order.
pub(crate) fn encode(resource: &Resource, object: &Value) -> Result<Bytes, Status> {
    let mut object = object.clone();
    let (group, version) = &resource.stored;
    to_version(resource, &mut object, group, version)?;
    let custom = resource.custom.as_deref();
    let is_whole = custom.is_none_or(|it| structural::rest(it, version, &mut object));
    object::forget_version(&mut object);
    order(resource, &mut object, is_whole);
    // A copy of just this length: what rests in the store keeps no spare room.
    Ok(Bytes::copy_from_slice(&json::to_vec(&object)))
}

pub(crate) fn to_version(
    resource: &Resource,
    object: &mut Value,
    group: &str,
    version: &str,
) -> Result<(), Status> {
    let want = meta::gvk::api_version(group, version);
    if object.str_at(&["apiVersion"]) == Some(&*want) {
        return Ok(());
    }
    if let Some(custom) = &resource.custom {
        return custom.convert(object, &want);
    }
    let (from_group, from_version) = {
        let found = object.str_at(&["apiVersion"]).unwrap_or_default();
        let (group, version) = found.split_once('/').unwrap_or(("", found));
        (group.to_owned(), version.to_owned())
    };
    let target = (group, version);
    resources::convert::to(&from_group, &from_version, &resource.kind, object, target)
        .map_err(Status::internal)
}

/// Built-in kinds in the order of their Go structs; custom ones with their metadata so, the rest as it came. One that is
/// not whole begins with its kind.
fn order(resource: &Resource, object: &mut Value, is_whole: bool) {
    if resource.custom.is_none() {
        let (group, version) = &resource.stored;
        if let Some(schema) = schema::builtin().kind(group, version, &resource.kind) {
            schema::empty_lists_to_null(schema.place(), object);
            schema::order(schema.place(), object);
        }
        return;
    }
    order_metadata(object);
    if let Some(fields) = object.as_object_mut() {
        fields.sort_by_rank(|key| match key {
            "kind" if !is_whole => 0,
            "apiVersion" => 1,
            "kind" => 2,
            "metadata" => 3,
            _ => 4,
        });
    }
}

fn order_metadata(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata")
        && let Some(schema) = schema::builtin().named(OBJECT_META)
    {
        schema::order(schema.place(), metadata);
    }
}

/// Any value with kind and apiVersion, in Kubernetes' envelope.
pub(crate) fn to_protobuf(value: &Value) -> Result<Bytes, Status> {
    let refused = || Status::not_acceptable(&["application/json", "application/yaml"]);
    let gvk = meta::object::gvk(value).map_err(Status::internal)?;
    // An old name of the same type.
    let version = match (&*gvk.group, &*gvk.version, &*gvk.kind) {
        ("meta.k8s.io", "v1beta1", "PartialObjectMetadata") => "v1",
        (_, version, _) => version,
    };
    let schema = schema::builtin()
        .kind(&gvk.group, version, &gvk.kind)
        .ok_or_else(refused)?;
    let encoded = schema::protobuf::encode_object(schema.place(), value);
    encoded.map(Into::into).map_err(|_| refused())
}
