//! A bound on the number of managers.

use std::collections::HashMap;

use crate::managed::{Managed, ManagerId, Operation};
use crate::time;

/// Merges the oldest updaters of each version until there are few enough.
pub(super) fn cap_updaters<'a>(managed: &mut Managed<'a>, max: usize) {
    let mut count = managed.iter().filter(|it| !it.applied).count();
    if count <= max {
        return;
    }
    let mut slots: Vec<_> = std::mem::take(managed).into_iter().map(Some).collect();
    let mut oldest: Vec<(i64, ManagerId<'a>, usize)> = Vec::with_capacity(count);
    for (at, owned) in slots.iter().enumerate() {
        if let Some(owned) = owned.as_ref().filter(|it| !it.applied) {
            let seconds = owned.time.as_deref().and_then(time::seconds).unwrap_or(0);
            oldest.push((seconds, owned.manager.clone(), at));
        }
    }
    oldest.sort();
    // Per version, where those that are merged go: a bucket that is there, or what the first of them becomes.
    let bucket =
        |version: String| ManagerId::new("ancient-changes", Operation::Update, version, "");
    let mut buckets: HashMap<String, usize> = HashMap::new();
    let mut firsts: HashMap<String, usize> = HashMap::new();
    for (at, owned) in slots.iter().enumerate() {
        if let Some(owned) = owned
            && owned.manager == bucket(owned.version.to_string())
        {
            buckets.insert(owned.version.to_string(), at);
        }
    }
    for (_, _, at) in oldest {
        if count <= max {
            break;
        }
        let Some(version) = slots[at].as_ref().map(|it| it.version.to_string()) else {
            continue;
        };
        let Some(&first) = firsts.get(&version) else {
            firsts.insert(version, at);
            continue;
        };
        let into = *buckets.entry(version.clone()).or_insert(first);
        if let Some(first) = slots[into].as_mut().filter(|_| into == first) {
            first.manager = bucket(version);
        }
        if into == at {
            continue;
        }
        if let (Some(merged), Some(into)) = (slots[at].take(), slots[into].as_mut()) {
            into.fields.union(merged.fields);
            into.time = merged.time;
        }
        count -= 1;
    }
    managed.extend(slots.into_iter().flatten());
}
