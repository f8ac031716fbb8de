//! `serviceaccount-controller`: a service account `default` in every namespace.

use std::time::Duration;

use apiserver::local::Local;
use json::{Value, json};
use meta::Status;
use meta::object::{name, namespace};

use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

const LONGEST: Duration = Duration::from_secs(60);
const WORKERS: usize = 8;

pub(crate) async fn run(client: Local) -> std::convert::Infallible {
    let accounts = "/api/v1/serviceaccounts?fieldSelector=metadata.name%3Ddefault";
    each_namespace(
        client,
        "serviceaccount",
        accounts,
        |client, namespace| async move {
            let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
            let found = client.get(&format!("{path}/default")).await;
            if !found.is_err_and(|status| status.is_not_found()) {
                return Ok(());
            }
            let account = json!({
                "kind": "ServiceAccount",
                "apiVersion": "v1",
                "metadata": {"name": "default", "namespace": (namespace.clone())},
            });
            client.create(&path, &account).await.map(|_| ())
        },
    )
    .await
}

/// Calls `keep` for each namespace that lives: once it is there, and when something of `objects` in it changed.
pub(crate) async fn each_namespace<F>(
    client: Local,
    queue: &str,
    objects: &str,
    keep: impl Fn(Local, String) -> F + Clone + Send + Sync + 'static,
) -> std::convert::Infallible
where
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let queue = Queue::new(&client, queue, LONGEST);
    let work = |key: String| {
        let (client, keep) = (client.clone(), keep.clone());
        async move {
            let place = format!("/api/v1/namespaces/{key}");
            match client.get(&place).await {
                Ok(found) if is_active(&found) => {}
                Err(status) if !status.is_not_found() => return Outcome::Retry,
                _ => return Outcome::Done,
            }
            match keep(client.clone(), key).await {
                Ok(()) => Outcome::Done,
                Err(status) if status.is_already_exists() => Outcome::Done,
                // The namespace may have ended in between: the next try sees it.
                Err(_) => Outcome::Retry,
            }
        }
    };
    let namespaces = follow(&client, "/api/v1/namespaces", |event| {
        if let Event::Put(object) = event
            && is_active(&object)
        {
            queue.add(name(&object).to_owned());
        }
    });
    let objects = follow(&client, objects, |event| {
        if let Event::Put(object) | Event::Gone(object) = event {
            queue.add(namespace(&object).to_owned());
        }
    });
    tokio::select! {
        never = queue.run(WORKERS, work) => never,
        never = namespaces => never,
        never = objects => never,
    }
}

fn is_active(namespace: &Value) -> bool {
    namespace.str_at(&["status", "phase"]) != Some("Terminating")
        && !meta::object::is_being_deleted(namespace)
}
