//! Watches that are open: what they will be sent is part of what a change costs.

use std::sync::Arc;

use flowcontrol::{Tracked, WatchId};

use super::Shared;
use crate::pipeline::Ask;
use crate::state::Api;

/// One of them, until this is dropped.
#[derive(Debug)]
pub(crate) struct Watched {
    shared: Arc<Shared>,
    tracked: Option<Tracked>,
}

impl Watched {
    /// `None` for one that costs nothing: of pods on one node, which are found by an index.
    pub(crate) fn new(api: &Api, ask: &Ask<'_>) -> Option<Self> {
        let flow = api.limiter.flow()?;
        let selector = ask.query.get("fieldSelector").unwrap_or_default();
        if ask.info.resource == "pods" && selector.split(',').any(is_one_node) {
            return None;
        }
        let tracked = flow.shared.watches.register(&WatchId {
            group: &ask.info.group,
            resource: &ask.info.resource,
            namespace: &ask.info.namespace,
            name: &ask.info.name,
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
