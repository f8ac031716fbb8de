//! Hot path. The series that the row of a resource holds, each from its first use on: a request finds them without looking
//! up labels.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use telemetry::metrics::{Counter, Histogram};

use super::labels::{Reported, ReportedVerb, Scope};
use super::requests::Series;

type Slots = [OnceLock<Arc<Series>>; ReportedVerb::WHOLE * Scope::OF_RESOURCES];

/// What a resource's row holds: handles of what is asked for often, each from its first use on.
#[derive(Debug, Default)]
pub(crate) struct RowSeries {
    whole: Slots,
    status: Slots,
    pub(crate) storage: StorageSeries,
    pub(crate) objects: ObjectSeries,
    pub(crate) watches: OnceLock<WatchSeries>,
}

impl RowSeries {
    pub(crate) fn slot(&self, reported: &Reported<'_>) -> Option<&OnceLock<Arc<Series>>> {
        let slots = match (reported.subresource, reported.dry_run) {
            ("", "") => &self.whole,
            ("status", "") => &self.status,
            _ => return None,
        };
        let at = reported.verb as usize * Scope::OF_RESOURCES + reported.scope as usize;
        slots.get(at)
    }
}

/// As upstream calls them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    const COUNT: usize = 3;

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// What a resource's row holds.
pub(crate) type StorageSeries = [OnceLock<(Histogram, Counter)>; Operation::COUNT];

/// What a resource's row holds.
#[derive(Debug, Default)]
pub(crate) struct ObjectSeries {
    pub(crate) lists: OnceLock<Arc<Lists>>,
    pub(crate) bodies: [OnceLock<Histogram>; 5],
}

/// Lists of one resource, what they looked at, and what they gave away.
#[derive(Debug)]
pub(crate) struct Lists {
    pub(crate) total: Counter,
    pub(crate) fetched: Counter,
    pub(crate) returned: Counter,
}

/// One list: how many objects it has looked at so far, and how many of them it answers with. Counted when it ends.
#[derive(Debug)]
pub(crate) struct Listing {
    lists: Arc<Lists>,
    fetched: AtomicUsize,
    returned: AtomicUsize,
}

impl Listing {
    pub(crate) fn new(lists: Arc<Lists>) -> Self {
        Self {
            lists,
            fetched: AtomicUsize::new(0),
            returned: AtomicUsize::new(0),
        }
    }

    pub(crate) fn add(&self, fetched: usize, returned: usize) {
        self.fetched.fetch_add(fetched, Ordering::Relaxed);
        self.returned.fetch_add(returned, Ordering::Relaxed);
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.lists.total.inc();
        self.lists.fetched.add(*self.fetched.get_mut() as u64);
        self.lists.returned.add(*self.returned.get_mut() as u64);
    }
}

/// What a resource's row holds for its watches.
#[derive(Debug)]
pub(crate) struct WatchSeries {
    pub(crate) total: Counter,
    pub(crate) sizes: Histogram,
    pub(crate) initial: Counter,
}

impl WatchSeries {
    pub(crate) fn sent(&self, bytes: usize) {
        self.total.inc();
        self.sizes.observe_value(bytes as u64);
    }
}
