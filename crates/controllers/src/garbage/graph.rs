//! The graph of owners and dependents. Only objects with owners, or that wait for their dependents, are in it; all that is kept of them is
//! where they are.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use apiserver::local::{ObjectMetadata, Resource};
use encoding::uuid;
use json::{Text, Value};
use meta::object::OwnerReference;

use super::{FOREGROUND, ORPHAN};

/// A uid, as short as it can be.
pub(super) type Id = u128;

/// What is to be done about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Task {
    /// See whether it has to go, or whether what it waits for has gone.
    Look(Id),
    /// Free its dependents of it.
    Orphan(Id),
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub resource: Arc<Resource>,
    pub namespace: Text,
    pub name: Text,
    owners: Box<[Owner]>,
    /// It is being deleted, after its dependents.
    pub foreground: bool,
    orphan: bool,
    /// When it was last read, to find out what is gone after a gap.
    round: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    id: Id,
    /// The owner has to wait for this object.
    blocks: bool,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: HashMap<Id, Node>,
    /// Owner and dependent.
    edges: BTreeSet<(Id, Id)>,
    round: u32,
    keys: (RandomState, RandomState),
}

impl Graph {
    /// UUIDs as the number they are; owner references may hold other words too.
    pub(super) fn id(&self, uid: &str) -> Id {
        uuid::parse(uid).unwrap_or_else(|| {
            let (high, low) = (self.keys.0.hash_one(uid), self.keys.1.hash_one(uid));
            u128::from(high) << 64 | u128::from(low)
        })
    }

    pub(super) fn get(&self, id: Id) -> Option<&Node> {
        self.nodes.get(&id)
    }

    pub(super) fn dependents(&self, id: Id) -> impl Iterator<Item = Id> {
        let range = self.edges.range((id, Id::MIN)..=(id, Id::MAX));
        range.map(|(_, dependent)| *dependent)
    }

    /// Dependents that the owner has to wait for.
    pub(super) fn blocking(&self, id: Id) -> impl Iterator<Item = (Id, &Node)> {
        let all = self.dependents(id);
        let all = all.filter_map(|it| Some((it, self.nodes.get(&it)?)));
        all.filter(move |(_, node)| node.owners.iter().any(|it| it.id == id && it.blocks))
    }

    /// Everything will be read again.
    pub(super) fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Everything has been read: what was not seen is gone, and so may be owners of what is left.
    pub(super) fn synced(&mut self, tasks: &mut Vec<Task>) {
        let gone = self.nodes.iter().filter(|(_, it)| it.round != self.round);
        let gone: Vec<Id> = gone.map(|(id, _)| *id).collect();
        for id in gone {
            self.remove(id, tasks);
        }
        if self.round > 1 {
            tasks.extend(self.nodes.keys().map(|it| Task::Look(*it)));
        }
    }

    /// An object as it is now. True if its owners have to be looked at.
    pub(super) fn put(&mut self, seen: &ObjectMetadata, tasks: &mut Vec<Task>) -> bool {
        let has = |name: &str| seen.is_deleting && seen.finalizers.iter().any(|it| it == name);
        let (foreground, orphan) = (has(FOREGROUND), has(ORPHAN));
        let id = self.id(&seen.uid);
        let owners = self.owners(&seen.owners);
        let old = self.nodes.get_mut(&id);
        if let Some(old) = old
            && *old.owners == *owners
            && (old.foreground, old.orphan) == (foreground, orphan)
        {
            old.round = self.round;
            return false;
        }
        let old = self.nodes.remove(&id);
        let before: &[Owner] = old.as_ref().map_or(&[], |it| &it.owners);
        let had = |owner: &Owner| before.iter().any(|it| it.id == owner.id);
        let is_new = owners.iter().any(|it| !had(it));
        for owner in before {
            let now = owners.iter().find(|it| it.id == owner.id);
            if now.is_none() {
                self.edges.remove(&(owner.id, id));
            }
            if owner.blocks && now.is_none_or(|it| !it.blocks) {
                self.wake(owner.id, tasks);
            }
        }
        self.edges.extend(owners.iter().map(|it| (it.id, id)));
        let was = old
            .as_ref()
            .map_or((false, false), |it| (it.foreground, it.orphan));
        if foreground && !was.0 {
            tasks.extend(self.dependents(id).map(Task::Look));
            tasks.push(Task::Look(id));
        }
        if orphan && !was.1 {
            tasks.push(Task::Orphan(id));
        }
        let looks = is_new && !owners.is_empty();
        if !owners.is_empty() || foreground || orphan {
            let node = Node {
                resource: seen.resource.clone(),
                namespace: (&*seen.namespace).into(),
                name: (&*seen.name).into(),
                owners,
                foreground,
                orphan,
                round: self.round,
            };
            self.nodes.insert(id, node);
        }
        looks
    }

    /// An object is gone: its dependents may have to follow, and its owners need not wait for it any more.
    pub(super) fn remove(&mut self, id: Id, tasks: &mut Vec<Task>) {
        tasks.extend(self.dependents(id).map(Task::Look));
        if let Some(node) = self.nodes.remove(&id) {
            for owner in &node.owners {
                self.edges.remove(&(owner.id, id));
                self.wake(owner.id, tasks);
            }
        }
    }

    fn wake(&self, owner: Id, tasks: &mut Vec<Task>) {
        if self.nodes.get(&owner).is_some_and(|it| it.foreground) {
            tasks.push(Task::Look(owner));
        }
    }

    fn owners(&self, references: &Value) -> Box<[Owner]> {
        let all = references.as_array().into_iter().flatten();
        let all = all.map(OwnerReference::from_value);
        all.map(|it| Owner {
            id: self.id(it.uid),
            blocks: it.block_owner_deletion == Some(true),
        })
        .collect()
    }
}
