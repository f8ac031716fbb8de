//! What is done about one object, after a look at how it is now.

use json::{Value, json};
use meta::Status;
use meta::object::{OwnerReference, has_finalizer, is_being_deleted, resource_version, uid};
use tokio::task::JoinSet;

use super::graph::{Id, Node, Task};
use super::owners::{self, Owner, Unclear};
use super::{Collector, FOREGROUND, ORPHAN, path};
use crate::queue::Outcome;

/// Dependents that are freed of their owner at a time.
const TOGETHER: usize = 32;

impl Collector {
    pub(super) async fn work(&self, task: Task) -> Outcome {
        let mut synced = self.synced.subscribe();
        // It ends with the server only.
        let _ = synced.wait_for(|synced| *synced).await;
        let done = match task {
            Task::Look(id) => self.look(id).await,
            Task::Orphan(id) => self.orphan(id).await,
        };
        done.unwrap_or(Outcome::Retry)
    }

    /// The object as it is now, if it is still the one we mean.
    async fn live(&self, id: Id) -> Result<Option<(Node, Value)>, Status> {
        let node = self.graph().get(id).cloned();
        let Some(node) = node else {
            return Ok(None);
        };
        let found = self.client.metadata_of(&at(&node)).await;
        match found {
            Ok(live) if self.graph().id(uid(&live)) == id => Ok(Some((node, live))),
            // Its deletion is about to arrive in the stream of changes.
            Ok(_) => Ok(None),
            Err(status) if status.is_not_found() => Ok(None),
            Err(status) => Err(status),
        }
    }

    async fn look(&self, id: Id) -> Result<Outcome, Status> {
        let Some((node, live)) = self.live(id).await? else {
            return Ok(Outcome::Done);
        };
        if is_being_deleted(&live) {
            // The way of an object that is being deleted is decided, but its dependents may hold it.
            if has_finalizer(&live, FOREGROUND) {
                return self.wait(id, &node, &live).await;
            }
            return Ok(Outcome::Done);
        }
        let references = live.at(&["metadata", "ownerReferences"]);
        let references = references.cloned().unwrap_or_default();
        let mut owners = Vec::new();
        for owner in owners::references(&references) {
            match owners::classify(&self.client, &node.namespace, &owner).await {
                Ok(is) => owners.push((owner, is)),
                Err(Unclear::Scope) => return Ok(Outcome::Done),
                Err(Unclear::Kind | Unclear::Refused) => return Ok(Outcome::Retry),
            }
        }
        let has = |what: Owner| owners.iter().any(|(_, is)| *is == what);
        if owners.is_empty() {
            return Ok(Outcome::Done);
        }
        if has(Owner::Solid) {
            if !has(Owner::Dangling) && !has(Owner::Waiting) {
                return Ok(Outcome::Done);
            }
            let kept = owners.iter().filter(|(_, is)| *is == Owner::Solid);
            let kept = kept.map(|(owner, _)| owner.to_value()).collect();
            return self.set_owners(&node, &live, kept).await;
        }
        if has(Owner::Waiting) && self.has_dependents(id) {
            let opened = self.avoid_circle(id, &node, &live, &references).await?;
            return self.delete(&node, &live, "Foreground", !opened).await;
        }
        let policy = if has_finalizer(&live, ORPHAN) {
            "Orphan"
        } else if has_finalizer(&live, FOREGROUND) {
            "Foreground"
        } else {
            "Background"
        };
        self.delete(&node, &live, policy, true).await
    }

    fn has_dependents(&self, id: Id) -> bool {
        self.graph().dependents(id).next().is_some()
    }

    /// An owner in foreground deletion goes when nothing blocks it any more.
    async fn wait(&self, id: Id, node: &Node, live: &Value) -> Result<Outcome, Status> {
        let blocking: Vec<(Id, bool)> = {
            let graph = self.graph();
            let all = graph.blocking(id);
            all.map(|(id, node)| (id, node.foreground)).collect()
        };
        if blocking.is_empty() {
            return self.release(node, live, FOREGROUND).await;
        }
        for (dependent, foreground) in blocking {
            // One that waits for its own dependents is on its way.
            if !foreground {
                self.queue.add(Task::Look(dependent));
            }
        }
        Ok(Outcome::Done)
    }

    /// Breaks a cycle of objects that would wait for each other. Returns whether there was one.
    async fn avoid_circle(
        &self,
        id: Id,
        node: &Node,
        live: &Value,
        references: &Value,
    ) -> Result<bool, Status> {
        let circle = {
            let graph = self.graph();
            let mut all = graph.dependents(id);
            all.any(|it| graph.get(it).is_some_and(|it| it.foreground))
        };
        let blocks = |it: OwnerReference<'_>| it.block_owner_deletion == Some(true);
        if !circle || !owners::references(references).any(blocks) {
            return Ok(false);
        }
        let open = owners::references(references).map(|owner| {
            let owner = OwnerReference {
                block_owner_deletion: owner.block_owner_deletion.map(|_| false),
                ..owner
            };
            owner.to_value()
        });
        let metadata = json!({"uid": (uid(live)), "ownerReferences": (open.collect::<Value>())});
        let change = json!({"metadata": metadata});
        self.client.merge_patch(&at(node), &change).await?;
        Ok(true)
    }

    async fn delete(
        &self,
        node: &Node,
        live: &Value,
        policy: &str,
        exact: bool,
    ) -> Result<Outcome, Status> {
        // It may get a new owner at this moment; the collector changed it itself if a cycle was broken.
        let mut preconditions = json!({"uid": (uid(live))});
        if let (true, Some(fields)) = (exact, preconditions.as_object_mut()) {
            fields.insert("resourceVersion", resource_version(live));
        }
        let options = json!({
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "preconditions": preconditions,
            "propagationPolicy": policy,
        });
        match self.client.delete(&at(node), &options).await {
            Err(status) if !status.is_not_found() => Err(status),
            _ => Ok(Outcome::Done),
        }
    }

    /// Dependents live on without their owner, then the owner goes.
    async fn orphan(&self, id: Id) -> Result<Outcome, Status> {
        let Some((node, live)) = self.live(id).await? else {
            return Ok(Outcome::Done);
        };
        if !is_being_deleted(&live) || !has_finalizer(&live, ORPHAN) {
            return Ok(Outcome::Done);
        }
        let owner = uid(&live).to_owned();
        let dependents: Vec<Node> = {
            let graph = self.graph();
            let all = graph.dependents(id);
            all.filter_map(|it| graph.get(it).cloned()).collect()
        };
        for some in dependents.chunks(TOGETHER) {
            let mut tasks = JoinSet::new();
            for dependent in some {
                let (client, place) = (self.client.clone(), at(dependent));
                let owner = owner.clone();
                tasks.spawn(async move { disown(&client, &place, &owner).await });
            }
            for done in tasks.join_all().await {
                done?;
            }
        }
        self.release(&node, &live, ORPHAN).await
    }

    /// Takes away a finalizer of ours.
    async fn release(&self, node: &Node, live: &Value, finalizer: &str) -> Result<Outcome, Status> {
        let kept = meta::object::finalizers(live).filter(|it| *it != finalizer);
        let kept: Value = kept.map(Value::from).collect();
        let change = json!({"metadata": {
            "uid": (uid(live)),
            "resourceVersion": (resource_version(live)),
            "finalizers": kept,
        }});
        match self.client.merge_patch(&at(node), &change).await {
            Err(status) if !status.is_not_found() => Err(status),
            _ => Ok(Outcome::Done),
        }
    }

    async fn set_owners(
        &self,
        node: &Node,
        live: &Value,
        owners: Value,
    ) -> Result<Outcome, Status> {
        match write_owners(&self.client, &at(node), live, owners).await {
            Err(status) if !status.is_not_found() => Err(status),
            _ => Ok(Outcome::Done),
        }
    }
}

fn at(node: &Node) -> String {
    path(&node.resource, &node.namespace, &node.name)
}

async fn write_owners(
    client: &apiserver::local::Local,
    place: &str,
    live: &Value,
    owners: Value,
) -> Result<(), Status> {
    let change = json!({"metadata": {
        "uid": (uid(live)),
        "resourceVersion": (resource_version(live)),
        "ownerReferences": owners,
    }});
    client.merge_patch(place, &change).await.map(|_| ())
}

/// Takes one owner from an object's references.
async fn disown(client: &apiserver::local::Local, place: &str, owner: &str) -> Result<(), Status> {
    let live = match client.metadata_of(place).await {
        Ok(live) => live,
        Err(status) if status.is_not_found() => return Ok(()),
        Err(status) => return Err(status),
    };
    let references = live.at(&["metadata", "ownerReferences"]);
    let references = references.cloned().unwrap_or_default();
    let kept = owners::references(&references).filter(|it| it.uid != owner);
    let kept: Vec<Value> = kept.map(OwnerReference::to_value).collect();
    if references
        .as_array()
        .is_none_or(|it| it.len() == kept.len())
    {
        return Ok(());
    }
    match write_owners(client, place, &live, Value::Array(kept)).await {
        Err(status) if !status.is_not_found() => Err(status),
        _ => Ok(()),
    }
}
