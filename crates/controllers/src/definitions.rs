//! `customresourcedefinition-controller`: a definition takes its objects along, and frees its names for others.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use apiserver::local::{Local, Resource};
use json::{Value, json};
use meta::Status;
use meta::object::{has_finalizer, is_being_deleted, name, namespace, resource_version, uid};

use crate::condition::{self, Condition};
use crate::garbage::collection;
use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

const ALL: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
const LONGEST: Duration = Duration::from_secs(5);
const WORKERS: usize = 4;

pub(crate) async fn run(client: Local) -> std::convert::Infallible {
    let queue = Queue::new(&client, "crd_finalizer", LONGEST);
    // Those whose names others have.
    let refused: Mutex<BTreeSet<String>> = Mutex::default();
    let lock = || refused.lock().unwrap_or_else(PoisonError::into_inner);
    let work = |key: String| {
        let client = client.clone();
        async move {
            match keep(&client, &key).await {
                Ok(true) => Outcome::Done,
                Ok(false) | Err(_) => Outcome::Retry,
            }
        }
    };
    let definitions = follow(&client, ALL, |event| match event {
        Event::Put(definition) => {
            let name = name(&definition).to_owned();
            if is_being_deleted(&definition) {
                queue.add(name.clone());
            }
            if is_accepted(&definition) {
                lock().remove(&name);
            } else {
                lock().insert(name);
            }
        }
        Event::Gone(definition) => drop(lock().remove(name(&definition))),
        Event::Begin | Event::Synced => {}
    });
    let catalog = async {
        let mut changes = client.host().served_kinds_changes();
        while changes.changed().await.is_ok() {
            for name in lock().iter() {
                queue.add(name.clone());
            }
        }
        std::future::pending().await
    };
    tokio::select! {
        never = queue.run(WORKERS, work) => never,
        never = definitions => never,
        never = catalog => never,
    }
}

fn is_accepted(definition: &Value) -> bool {
    let accepted = condition::get(definition, "NamesAccepted");
    accepted.is_some_and(|it| it.str_at(&["status"]) == Some("True"))
}

/// True if nothing is left to do.
async fn keep(client: &Local, name: &str) -> Result<bool, Status> {
    let path = format!("{ALL}/{name}");
    let definition = match client.get(&path).await {
        Ok(definition) => definition,
        Err(status) if status.is_not_found() => return Ok(true),
        Err(status) => return Err(status),
    };
    if is_being_deleted(&definition) {
        return finalize(client, &path, definition).await;
    }
    if !is_accepted(&definition) {
        // Names are looked at with each write.
        client.update(&path, &definition).await?;
    }
    Ok(true)
}

async fn finalize(client: &Local, path: &str, definition: Value) -> Result<bool, Status> {
    if !has_finalizer(&definition, CLEANUP) {
        return Ok(true);
    }
    let established = condition::get(&definition, "Established");
    let established = established.is_some_and(|it| it.str_at(&["status"]) == Some("True"));
    let (reason, message) = if established {
        let progress = "CustomResource deletion is in progress";
        let progress = ("True", "InstanceDeletionInProgress", progress);
        if count(client, &definition).await? > 0 {
            say(client, path, definition.clone(), progress).await?;
            // From here on no new objects are created.
            client.host().wait_until_caught_up().await?;
        }
        if delete_all(client, &definition).await? > 0 {
            return Ok(false);
        }
        ("InstanceDeletionCompleted", "removed all instances")
    } else {
        ("NeverEstablished", "resource was never established")
    };
    let others = meta::object::finalizers(&definition).any(|it| it != CLEANUP);
    let definition = if others {
        let live = client.get(path).await?;
        say(client, path, live, ("False", reason, message)).await?
    } else {
        client.get(path).await?
    };
    let kept = meta::object::finalizers(&definition).filter(|it| *it != CLEANUP);
    let kept: Value = kept.map(Value::from).collect();
    let change = json!({"metadata": {
        "uid": (uid(&definition)),
        "resourceVersion": (resource_version(&definition)),
        "finalizers": kept,
    }});
    client.merge_patch(path, &change).await.map(|_| true)
}

/// Sets the condition `Terminating`.
async fn say(
    client: &Local,
    path: &str,
    mut definition: Value,
    (status, reason, message): (&str, &str, &str),
) -> Result<Value, Status> {
    let condition = Condition {
        kind: "Terminating",
        status,
        reason,
        message,
    };
    if !condition::set(&mut definition, &condition) {
        return Ok(definition);
    }
    client.update(&format!("{path}/status"), &definition).await
}

async fn objects(client: &Local, definition: &Value) -> Result<Vec<Value>, Status> {
    match resource(client, definition) {
        Some(resource) => client.metadata(&collection(&resource, "")).await,
        None => Ok(Vec::new()),
    }
}

fn resource(client: &Local, definition: &Value) -> Option<std::sync::Arc<Resource>> {
    let group = definition.str_at(&["spec", "group"])?;
    let plural = definition.str_at(&["status", "acceptedNames", "plural"])?;
    let found = client.host().preferred(group, plural)?;
    let own = found.custom.as_ref()?.definition == name(definition);
    own.then_some(found)
}

async fn count(client: &Local, definition: &Value) -> Result<usize, Status> {
    objects(client, definition).await.map(|it| it.len())
}

/// Says how many are left.
async fn delete_all(client: &Local, definition: &Value) -> Result<usize, Status> {
    let Some(resource) = resource(client, definition) else {
        return client.delete_unserved(definition).await;
    };
    let all = objects(client, definition).await?;
    let namespaces: BTreeSet<&str> = all.iter().map(namespace).collect();
    for namespace in namespaces {
        let path = collection(&resource, namespace);
        client.delete_collection(&path, &Value::Null).await?;
    }
    count(client, definition).await
}
