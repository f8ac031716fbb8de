//! Watches that are open: what they will be sent is part of what a change costs.

use std::sync::Arc;

use flowcontrol::{Tracked, WatchId};

use super::{FlowControl, Shared};
use crate::request::{Query, ResourceRequest};

/// One of them, until this is dropped.
#[derive(Debug)]
pub(crate) struct Watched {
    shared: Arc<Shared>,
    tracked: Option<Tracked>,
}

impl Watched {
    /// `None` for one that costs nothing: of pods on one node, which are found by an index.
    pub(crate) fn new(
        flow: &FlowControl,
        info: &ResourceRequest<'_>,
        query: &Query,
    ) -> Option<Self> {
        let selector = query.get("fieldSelector").unwrap_or_default();
        if info.resource == "pods" && selector.split(',').any(is_one_node) {
            return None;
        }
        let tracked = flow.shared.watches.register(&WatchId {
            group: &info.group,
            resource: &info.resource,
            namespace: &info.namespace,
            name: &info.name,
        });
        Some(Self {
            shared: flow.shared.clone(),
            tracked: Some(tracked),
        })
    }
}

fn is_one_node(term: &str) -> bool {
    let value = term.strip_prefix("spec.nodeName=");
    value.is_some_and(|it| !it.trim_start_matches('=').is_empty())
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(tracked) = self.tracked.take() {
            self.shared.watches.forget(tracked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watches_of_one_node_are_told_from_others() {
        let table = [
            ("spec.nodeName=a", true),
            ("spec.nodeName==a", true),
            ("spec.nodeName=", false),
            ("spec.nodeName!=a", false),
            ("metadata.name=a", false),
            ("", false),
        ];
        for (term, expected) in table {
            assert_eq!(is_one_node(term), expected, "{term}");
        }
    }
}
