//! All that is in a namespace, whatever its kind.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use apiserver::local::{Local, Resource};
use json::Value;
use meta::Status;
use tokio::task::JoinSet;

/// What could not be deleted yet.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    /// Resource and group, as in `pods.`.
    pub kinds: BTreeMap<String, usize>,
    pub finalizers: BTreeMap<String, usize>,
    pub failures: Vec<String>,
}

impl Remaining {
    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.failures.is_empty()
    }

    fn take(&mut self, resource: &Resource, found: Result<Vec<Value>, Status>) {
        match found {
            Ok(left) if left.is_empty() => {}
            Ok(left) => {
                let kind = format!("{}.{}", resource.plural, resource.group);
                self.kinds.insert(kind, left.len());
                for finalizer in left.iter().flat_map(meta::object::finalizers) {
                    *self.finalizers.entry(finalizer.to_owned()).or_default() += 1;
                }
            }
            Err(status) => self.failures.push(status.message),
        }
    }
}

/// Deletes what there is. Pods first: what they need outlives them (KEP-5080).
pub(super) async fn delete(client: &Local, namespace: &str) -> Remaining {
    let (pods, others): (Vec<_>, Vec<_>) =
        kinds(client).into_iter().partition(|it| it.is("", "pods"));
    let mut remaining = Remaining::default();
    for some in [pods, others] {
        let mut tasks = JoinSet::new();
        for resource in some {
            let (client, namespace) = (client.clone(), namespace.to_owned());
            tasks.spawn(async move {
                let found = delete_kind(&client, &resource, &namespace).await;
                (resource, found)
            });
        }
        for (resource, found) in tasks.join_all().await {
            remaining.take(&resource, found);
        }
        if !remaining.is_empty() {
            break;
        }
    }
    remaining.failures.sort();
    remaining
}

/// Each kind of namespaced objects once, also if two groups have it.
fn kinds(client: &Local) -> Vec<Arc<Resource>> {
    let catalog = client.host().served_kinds();
    let mut seen = HashSet::new();
    let all = catalog.preferred();
    let all = all.filter(|it| it.namespaced && it.verbs.contains(resources::Verb::Delete));
    let all = all.filter(|it| !it.prefix.is_empty());
    all.filter(|it| seen.insert(it.prefix.clone()))
        .cloned()
        .collect()
}

/// What is left of a kind.
async fn delete_kind(
    client: &Local,
    resource: &Resource,
    namespace: &str,
) -> Result<Vec<Value>, Status> {
    let collection = crate::garbage::collection(resource, namespace);
    if client
        .get(&format!("{collection}?limit=1"))
        .await
        .is_ok_and(|it| is_empty(&it))
    {
        return Ok(Vec::new());
    }
    if resource.verbs.contains(resources::Verb::DeleteCollection) {
        client
            .delete_collection(&collection, &super::background())
            .await?;
    } else {
        for object in client.metadata(&collection).await? {
            let one = format!("{collection}/{}", meta::object::name(&object));
            match client.delete(&one, &super::background()).await {
                Err(status) if !status.is_not_found() => return Err(status),
                _ => {}
            }
        }
    }
    client.metadata(&collection).await
}

fn is_empty(list: &Value) -> bool {
    let items = list.get("items").and_then(Value::as_array);
    items.is_none_or(Vec::is_empty)
}
