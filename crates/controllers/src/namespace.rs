//! `namespace-controller`: a namespace that is deleted takes all that is in it along.

mod content;

use std::time::Duration;

use apiserver::local::Local;
use json::{Value, json};
use meta::Status;
use meta::object::{is_being_deleted, name};

use crate::condition::{self, Condition};
use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};
use content::Remaining;

const FINALIZER: &str = "kubernetes";
/// Content that has to wait for others is looked at again after so much time at the latest.
const LONGEST: Duration = Duration::from_secs(5);
const WORKERS: usize = 10;
/// Writes of others may get in between.
const TRIES: usize = 8;

pub(crate) async fn run(client: Local) -> std::convert::Infallible {
    let queue = Queue::new(&client, "namespace", LONGEST);
    let work = {
        let client = client.clone();
        move |key: String| {
            let client = client.clone();
            async move {
                match end(&client, &key).await {
                    Ok(true) => Outcome::Done,
                    Ok(false) | Err(_) => Outcome::Retry,
                }
            }
        }
    };
    let changes = follow(&client, "/api/v1/namespaces", |event| {
        if let Event::Put(namespace) = event
            && is_being_deleted(&namespace)
        {
            queue.add(name(&namespace).to_owned());
        }
    });
    tokio::select! {
        never = queue.run(WORKERS, work) => never,
        never = changes => never,
    }
}

/// Takes the namespace as far as it gets. True if nothing is left to do.
async fn end(client: &Local, name: &str) -> Result<bool, Status> {
    let path = format!("/api/v1/namespaces/{name}");
    let namespace = match client.get(&path).await {
        Ok(namespace) => namespace,
        Err(status) if status.is_not_found() => return Ok(true),
        Err(status) => return Err(status),
    };
    let finalizers = namespace.at(&["spec", "finalizers"]);
    let mut finalizers = finalizers.and_then(Value::as_array).into_iter().flatten();
    if !is_being_deleted(&namespace) || !finalizers.any(|it| it.as_str() == Some(FINALIZER)) {
        return Ok(true);
    }
    let remaining = content::delete(client, name).await;
    let finished = remaining.is_empty();
    // The namespace is gone in the next moment: its conditions need no update.
    if !finished || namespace.at(&["status", "conditions"]).is_some() || held(&namespace) {
        update(client, &path, "status", |namespace| {
            report(namespace, &remaining)
        })
        .await?;
    }
    if finished {
        update(client, &path, "finalize", release).await?;
    }
    Ok(finished)
}

/// Others keep it, too.
fn held(namespace: &Value) -> bool {
    let spec = namespace.at(&["spec", "finalizers"]);
    let more = spec
        .and_then(Value::as_array)
        .is_some_and(|it| it.len() > 1);
    more || meta::object::finalizers(namespace).next().is_some()
}

/// Writes a subresource, on top of what others write meanwhile.
async fn update(
    client: &Local,
    path: &str,
    subresource: &str,
    mut change: impl FnMut(&mut Value) -> bool,
) -> Result<(), Status> {
    let target = format!("{path}/{subresource}");
    for _ in 0..TRIES {
        let done = match client.get(path).await {
            Ok(mut namespace) => {
                if !change(&mut namespace) {
                    return Ok(());
                }
                client.update(&target, &namespace).await.map(|_| ())
            }
            Err(status) => Err(status),
        };
        match done {
            Err(status) if status.is_conflict() => {}
            Err(status) if status.is_not_found() => return Ok(()),
            done => return done,
        }
    }
    Ok(())
}

fn release(namespace: &mut Value) -> bool {
    let Some(Value::Array(finalizers)) = namespace.at_mut(&["spec", "finalizers"]) else {
        return false;
    };
    let before = finalizers.len();
    finalizers.retain(|it| it.as_str() != Some(FINALIZER));
    finalizers.len() < before
}

/// The five conditions, in upstream's words.
fn report(namespace: &mut Value, remaining: &Remaining) -> bool {
    let failed = remaining.failures.join(", ");
    let failed = format!(
        "Failed to delete all resource types, {} remaining: {failed}",
        remaining.failures.len()
    );
    let kinds = remaining.kinds.iter();
    let mut kinds: Vec<String> = kinds
        .map(|(kind, count)| format!("{kind} has {count} resource instances"))
        .collect();
    kinds.sort();
    let kinds = format!("Some resources are remaining: {}", kinds.join(", "));
    let finalizers = remaining.finalizers.iter();
    let finalizers: Vec<String> = finalizers
        .map(|(finalizer, count)| format!("{finalizer} in {count} resource instances"))
        .collect();
    let finalizers = format!(
        "Some content in the namespace has finalizers remaining: {}",
        finalizers.join(", ")
    );
    let rows = [
        (
            "NamespaceDeletionDiscoveryFailure",
            None,
            (
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            None,
            (
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
        ),
        (
            "NamespaceDeletionContentFailure",
            (!remaining.failures.is_empty()).then_some(("ContentDeletionFailed", &failed)),
            (
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
        ),
        (
            "NamespaceContentRemaining",
            (!remaining.kinds.is_empty()).then_some(("SomeResourcesRemain", &kinds)),
            ("ContentRemoved", "All content successfully removed"),
        ),
        (
            "NamespaceFinalizersRemaining",
            (!remaining.finalizers.is_empty()).then_some(("SomeFinalizersRemain", &finalizers)),
            (
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            ),
        ),
    ];
    let mut changed = false;
    for (kind, trouble, fine) in rows {
        let (status, (reason, message)) = match trouble {
            Some((reason, message)) => ("True", (reason, &**message)),
            None => ("False", fine),
        };
        let condition = Condition {
            kind,
            status,
            reason,
            message,
        };
        changed |= condition::set(namespace, &condition);
    }
    changed
}

/// How the content is deleted: its dependents go with it anyway.
fn background() -> Value {
    json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"})
}
