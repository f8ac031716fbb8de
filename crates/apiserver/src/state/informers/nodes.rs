//! What the Node mode knows: which objects concern which node.

use auth::authorizer::ObjectGraph;
use json::scan;
use store::{Event, Snapshot};

use super::parse;

pub(super) fn load(graph: &ObjectGraph, plural: &str, snapshot: &Snapshot) {
    let prefix = format!("/{plural}/");
    let entries = snapshot.range(prefix.as_bytes());
    let entries = entries.filter(|it| plural != "pods" || !is_unbound(&it.value));
    graph.replace(plural, entries.filter_map(|it| parse(it)));
}

pub(super) fn put(graph: &ObjectGraph, plural: &str, event: &Event) {
    let Some(current) = event.current.as_deref() else {
        let key = String::from_utf8_lossy(&event.key);
        let mut parts = key.rsplit('/');
        let name = parts.next().unwrap_or_default();
        let namespace = parts.next().filter(|it| *it != plural);
        return graph.remove(plural, namespace.unwrap_or_default(), name);
    };
    let previous = event.previous.as_deref();
    if plural == "pods" && leads_nowhere_new(previous.map(|it| &*it.value), &current.value) {
        return;
    }
    if let Some(object) = parse(current) {
        graph.put(plural, &object);
    }
}

/// Most writes of a pod are before it has a node, or of its status: no reason to read it all.
fn leads_nowhere_new(previous: Option<&[u8]>, current: &[u8]) -> bool {
    let both = previous.filter(|it| is_json(it) && is_json(current));
    is_unbound(current) || both.is_some_and(|previous| seen(previous) == seen(current))
}

fn is_unbound(pod: &[u8]) -> bool {
    is_json(pod) && scan::field(pod, &["spec", "nodeName"]).is_none()
}

/// What kube-apiserver wrote is not.
fn is_json(value: &[u8]) -> bool {
    value.starts_with(b"{")
}

/// The parts of a pod that lead from or to it.
fn seen(pod: &[u8]) -> [Option<&[u8]>; 5] {
    let paths: [&[&str]; 5] = [
        &["metadata", "uid"],
        &["metadata", "annotations"],
        &["spec"],
        &["status", "resourceClaimStatuses"],
        &["status", "extendedResourceClaimStatus"],
    ];
    scan::fields(pod, paths).map(|it| it.map(|range| &pod[range]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worth_reading() {
        let pod = |node: &str, claim: &str, phase: &str| {
            let spec = match node {
                "" => String::new(),
                node => format!("\"nodeName\":\"{node}\""),
            };
            format!(
                r#"{{"metadata":{{"uid":"u"}},"spec":{{{spec}}},"status":{{"phase":"{phase}","resourceClaimStatuses":"{claim}"}}}}"#
            )
        };
        let bound = pod("n", "", "Pending");
        let cases = [
            (None, pod("", "", "Pending"), true),
            (None, bound.clone(), false),
            (Some(pod("", "", "Pending")), bound.clone(), false),
            (Some(bound.clone()), pod("n", "", "Running"), true),
            (Some(bound.clone()), pod("n", "c", "Pending"), false),
            (Some(bound.clone()), pod("m", "", "Pending"), false),
            // Of kube-apiserver.
            (Some(bound), "k8s\0...".into(), false),
        ];
        for (previous, current, skipped) in cases {
            let previous = previous.as_deref().map(str::as_bytes);
            let found = leads_nowhere_new(previous, current.as_bytes());
            assert_eq!(found, skipped, "{previous:?} {current}");
        }
    }
}
