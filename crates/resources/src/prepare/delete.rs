//! How objects go.

use json::Value;

use crate::read::Read;

/// What becomes of dependents if a request does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarbageCollection {
    Delete,
    Orphan,
    /// The kind has no dependents, and asking is refused.
    Unsupported,
}

pub fn garbage_collection(group: &str, version: &str, kind: &str) -> GarbageCollection {
    match (group, version, kind) {
        ("batch", "v1", "Job") | ("", "v1", "ReplicationController") => GarbageCollection::Orphan,
        ("" | "events.k8s.io", _, "Event") => GarbageCollection::Unsupported,
        _ => GarbageCollection::Delete,
    }
}

/// The seconds an object has before it goes, asked for or its own; nothing if its kind goes at once. Only pods have
/// time, and only those that are bound to a node and not finished.
pub fn grace_period(
    group: &str,
    kind: &str,
    object: &Value,
    requested: Option<i64>,
) -> Option<i64> {
    if (group, kind) != ("", "Pod") {
        return None;
    }
    let own = object.int("spec.terminationGracePeriodSeconds");
    let unbound = object.text("spec.nodeName").is_empty();
    let finished = matches!(object.text("status.phase"), "Failed" | "Succeeded");
    Some(match requested.unwrap_or(own) {
        _ if unbound || finished => 0,
        ..0 => 1,
        period => period,
    })
}
