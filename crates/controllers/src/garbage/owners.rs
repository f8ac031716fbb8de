//! Whether owners are there.

use std::sync::Arc;

use apiserver::local::{Local, ObjectMetadata, Resource};
use json::{Value, json};
use meta::Status;
use meta::object::OwnerReference;

use super::{FOREGROUND, path};
use crate::condition;

/// An owner, as far as a dependent is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Solid,
    /// There is none of this uid.
    Dangling,
    /// It is being deleted after its dependents.
    Waiting,
}

/// Why nothing can be said about an owner.
#[derive(Debug)]
pub(super) enum Unclear {
    /// Its kind is not served now.
    Kind,
    /// An object of the cluster cannot belong to one of a namespace.
    Scope,
    Refused,
}

/// The resource of an owner's kind.
fn resource(client: &Local, owner: &OwnerReference<'_>) -> Option<Arc<Resource>> {
    let (group, version) = owner
        .api_version
        .split_once('/')
        .unwrap_or(("", owner.api_version));
    client.host().resource_of_kind(group, version, owner.kind)
}

/// A quick look at what is in memory: nothing is wrong with any of the owners.
pub(super) fn all_there(client: &Local, seen: &ObjectMetadata) -> bool {
    references(&seen.owners).all(|owner| {
        let Some(resource) = resource(client, &owner) else {
            return false;
        };
        let found = client
            .host()
            .cached_metadata(&resource, &seen.namespace, owner.name);
        found.is_some_and(|it| {
            let waits = it.is_deleting && it.finalizers.iter().any(|it| it == FOREGROUND);
            it.uid == owner.uid && !waits
        })
    })
}

pub(super) fn references(owners: &Value) -> impl Iterator<Item = OwnerReference<'_>> {
    let all = owners.as_array().into_iter().flatten();
    all.map(OwnerReference::from_value)
}

/// A thorough look.
pub(super) async fn classify(
    client: &Local,
    namespace: &str,
    owner: &OwnerReference<'_>,
) -> Result<Owner, Unclear> {
    let resource = resource(client, owner).ok_or(Unclear::Kind)?;
    if resource.namespaced && namespace.is_empty() {
        return Err(Unclear::Scope);
    }
    let path = path(&resource, namespace, owner.name);
    match client.metadata_of(&path).await {
        Ok(found) if meta::object::uid(&found) != owner.uid => Ok(Owner::Dangling),
        Ok(found) => {
            let deleting = meta::object::is_being_deleted(&found);
            if deleting && meta::object::has_finalizer(&found, FOREGROUND) {
                Ok(Owner::Waiting)
            } else {
                Ok(Owner::Solid)
            }
        }
        Err(status) if status.is_not_found() => Ok(Owner::Dangling),
        Err(_) => Err(Unclear::Refused),
    }
}

/// Tells about owners that are in another namespace than the object: it will be deleted, to the surprise of its maker.
pub(super) async fn report(client: &Local, seen: &ObjectMetadata) {
    for owner in references(&seen.owners) {
        let Some(resource) = resource(client, &owner) else {
            continue;
        };
        if resource.namespaced && is_elsewhere(client, &resource, seen, &owner) {
            // An event is all that would be lost.
            let _ = event(client, seen, &owner).await;
        }
    }
}

fn is_elsewhere(
    client: &Local,
    resource: &Arc<Resource>,
    seen: &ObjectMetadata,
    owner: &OwnerReference<'_>,
) -> bool {
    let host = client.host();
    let has = |namespace: &str| {
        let found = host.cached_metadata(resource, namespace, owner.name);
        found.is_some_and(|it| it.uid == owner.uid)
    };
    let all = host.cached_namespaces();
    !has(&seen.namespace) && all.iter().any(|it| *it != seen.namespace && has(it))
}

async fn event(
    client: &Local,
    seen: &ObjectMetadata,
    owner: &OwnerReference<'_>,
) -> Result<Value, Status> {
    let place = match &*seen.namespace {
        "" => "default",
        namespace => namespace,
    };
    let message = format!(
        "ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist in namespace {:?}",
        owner.api_version, owner.kind, seen.namespace, owner.name, owner.uid, seen.namespace
    );
    let now = condition::now();
    let event = json!({
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"generateName": (format!("{}.", seen.name)), "namespace": place},
        "involvedObject": {
            "kind": (seen.resource.kind.clone()),
            "namespace": (seen.namespace.clone()),
            "name": (seen.name.clone()),
            "uid": (seen.uid.clone()),
            "apiVersion": (seen.resource.api_version()),
        },
        "reason": "OwnerRefInvalidNamespace",
        "message": message,
        "source": {"component": "garbage-collector-controller"},
        "firstTimestamp": (now.clone()),
        "lastTimestamp": now,
        "count": 1,
        "type": "Warning",
        "reportingComponent": "garbage-collector-controller",
        "reportingInstance": "",
    });
    let path = format!("/api/v1/namespaces/{place}/events");
    client.create(&path, &event).await
}
