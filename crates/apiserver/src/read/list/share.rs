//! Hot path. What the bytes of a list depend on: lists that agree in it are the same.

use std::sync::{Arc, Weak};

use store::Mark;

use super::List;
use crate::catalog::Resource;
use crate::request::negotiate::{Accepted, Format, View};

/// Only lists that are spliced from stored bytes have one: the rows of a table tell an age, and what a webhook converts
/// it may convert otherwise the next time. The user is no part of it: a list is allowed or refused as a whole.
pub(super) struct ListIdentity {
    state: Mark,
    /// One version of one kind, as its definition is now.
    resource: Weak<Resource>,
    range: Vec<u8>,
    after: Option<Vec<u8>>,
    limit: usize,
}

impl ListIdentity {
    pub(super) fn of(list: &List) -> Option<Arc<Self>> {
        const PLAIN: Accepted = Accepted {
            format: Format::Json,
            view: View::Whole,
            pretty: false,
        };
        let custom = list.resource.custom.as_ref();
        let is_converted = custom.is_some_and(|it| it.webhook().is_some());
        if list.accepted != PLAIN || !list.filter.is_empty() || is_converted {
            return None;
        }
        Some(Arc::new(Self {
            state: list.snapshot.mark(),
            resource: Arc::downgrade(&list.resource),
            range: list.range.clone(),
            after: list.after.clone(),
            limit: list.limit,
        }))
    }

    /// No client can request it again.
    pub(super) fn is_gone(&self) -> bool {
        self.state.is_gone() || self.resource.strong_count() == 0
    }
}

impl PartialEq for ListIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
            && self.resource.ptr_eq(&other.resource)
            && (&self.range, &self.after, self.limit) == (&other.range, &other.after, other.limit)
    }
}

/// Which piece of a list something is, and what it takes to go on behind it.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) list: Arc<ListIdentity>,
    pub(super) number: usize,
    /// How many objects its sender counts in metrics. The first chunk of a page counts all.
    pub(super) objects: usize,
    pub(super) behind: Place,
}

impl Part {
    pub(super) fn is(&self, list: &ListIdentity, number: usize) -> bool {
        self.number == number && *self.list == *list
    }
}

/// Somewhere between two objects of a list.
#[derive(Clone)]
pub(super) struct Place {
    /// The key of the object before.
    pub(super) after: Option<Vec<u8>>,
    /// How many objects are before.
    pub(super) taken: usize,
    /// None of them has been written.
    pub(super) is_first: bool,
    /// What is written behind the last. Gone when it has been.
    pub(super) end: Option<Vec<u8>>,
}

#[cfg(test)]
pub(super) mod tests {
    use store::{Snapshot, Store};

    use super::*;

    /// Lists of one state of a store.
    pub(in crate::read::list) struct Lists {
        store: Store,
        snapshot: Snapshot,
        resource: Arc<Resource>,
    }

    fn resource() -> Arc<Resource> {
        let row = resources::builtin().of_version("", "v1").next();
        Arc::new(Resource::builtin(row.expect("a kind").clone()))
    }

    impl Lists {
        pub(in crate::read::list) fn new() -> Self {
            let store = store::embedded::in_memory(&store::Options::default());
            Self {
                snapshot: store.latest(),
                store,
                resource: resource(),
            }
        }

        pub(in crate::read::list) fn of(&self, range: &str) -> Arc<ListIdentity> {
            Arc::new(ListIdentity {
                state: self.snapshot.mark(),
                resource: Arc::downgrade(&self.resource),
                range: range.into(),
                after: None,
                limit: 0,
            })
        }
    }

    pub(in crate::read::list) fn part(list: &Arc<ListIdentity>, number: usize) -> Part {
        Part {
            list: list.clone(),
            number,
            objects: 0,
            behind: Place {
                after: None,
                taken: 0,
                is_first: false,
                end: None,
            },
        }
    }

    #[tokio::test]
    async fn what_makes_a_difference() {
        let mut lists = Lists::new();
        let list = lists.of("/a/");
        assert!(list == lists.of("/a/") && list != lists.of("/b/"));
        let change = |change: fn(&mut ListIdentity)| {
            let mut other = Arc::into_inner(lists.of("/a/")).expect("nobody else has it");
            change(&mut other);
            other
        };
        assert!(*list != change(|it| it.limit = 1));
        assert!(*list != change(|it| it.after = Some(Vec::new())));
        // The same number of revisions, in another store.
        assert!(list != Lists::new().of("/a/"));
        let first = std::mem::replace(&mut lists.resource, resource());
        assert!(list != lists.of("/a/"));
        lists.resource = first;
        assert!(list == lists.of("/a/"));
        lists.store.put("/x", "y").await.expect("a write");
        assert!(list == lists.of("/a/") && !list.is_gone());
        lists.snapshot = lists.store.latest();
        assert!(list != lists.of("/a/"));
        assert!(list.is_gone() && !lists.of("/a/").is_gone());
    }
}
