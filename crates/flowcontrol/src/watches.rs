//! Hot path. How many watches see a change.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a watch, or a change, is about. An empty name is every name, an empty namespace every namespace.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub struct WatchId<'a> {
    pub group: &'a str,
    pub resource: &'a str,
    pub namespace: &'a str,
    pub name: &'a str,
}

/// Counts the watches that are open.
#[derive(Debug, Default)]
pub struct WatchTracker {
    hasher: RandomState,
    /// By the hash of what they are about. Two that share one are counted together, and cost is only estimated by it.
    counts: Mutex<HashMap<u64, u32>>,
}

/// A watch that is counted, until it is forgotten.
#[derive(Debug)]
pub struct Tracked(u64);

impl WatchTracker {
    pub fn register(&self, id: &WatchId<'_>) -> Tracked {
        let hash = self.hasher.hash_one(id);
        *self.counts().entry(hash).or_default() += 1;
        Tracked(hash)
    }

    pub fn forget(&self, Tracked(hash): Tracked) {
        let mut counts = self.counts();
        if let Some(count) = counts.get_mut(&hash) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&hash);
            }
        }
    }

    /// The watches of everything, of the namespace and of the object itself.
    pub fn interested(&self, change: &WatchId<'_>) -> u32 {
        let everything = WatchId {
            namespace: "",
            name: "",
            ..*change
        };
        let namespace = WatchId {
            name: "",
            ..*change
        };
        let hash = |id: &WatchId<'_>| self.hasher.hash_one(id);
        let hashes = [
            Some(hash(&everything)),
            (!change.namespace.is_empty()).then(|| hash(&namespace)),
            (!change.name.is_empty()).then(|| hash(change)),
        ];
        let counts = self.counts();
        if counts.is_empty() {
            return 0;
        }
        let each = hashes.iter().flatten().map(|it| counts.get(it).copied());
        each.map(Option::unwrap_or_default).sum()
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<u64, u32>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id<'a>(group: &'a str, namespace: &'a str, name: &'a str) -> WatchId<'a> {
        WatchId {
            group,
            resource: "pods",
            namespace,
            name,
        }
    }

    /// Upstream's table.
    #[test]
    fn changes_are_seen_by_those_who_watch_them() {
        let tracker = WatchTracker::default();
        let watches = [
            id("", "", ""),
            id("", "foo", ""),
            id("", "foo", "mypod"),
            id("", "bar", "mypod"),
            id("group", "foo", ""),
            id("group", "bar", "mypod"),
        ];
        let tracked: Vec<_> = watches.iter().map(|it| tracker.register(it)).collect();
        let table = [
            (id("", "foo", ""), 2),
            (id("", "foo", "mypod"), 3),
            (id("", "foo", "otherpod"), 2),
            (id("", "bar", ""), 1),
            (id("", "bar", "mypod"), 2),
            (id("group", "foo", "mypod"), 1),
            (id("group", "foo", "otherpod"), 1),
            (id("group", "bar", "mypod"), 1),
            (id("group", "bar", "otherpod"), 0),
        ];
        for (change, expected) in table {
            assert_eq!(tracker.interested(&change), expected, "{change:?}");
        }
        for one in tracked {
            tracker.forget(one);
        }
        assert_eq!(tracker.interested(&watches[2]), 0);
        assert!(tracker.counts().is_empty());
    }
}
