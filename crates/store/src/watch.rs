//! Hot path. Fan-out: one list of changes per watched prefix, shared by all its watchers.
//!
//! The publisher appends a node to the list of each prefix that matches and wakes the waiting; a watcher walks the list
//! with a cursor. A node is one pointer for any number of watchers, and goes when the slowest has passed it. A watcher
//! that falls too far behind loses its cursor, so that what it held back can go: it gets [`WatchEnd::Lagged`].

use std::collections::BTreeMap;
use std::ops::{Bound, Deref};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::{Event, Revision};

/// Why a watch is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchEnd {
    #[error("the watcher was too slow: {behind} bytes behind, the limit is {limit}")]
    Lagged { behind: u64, limit: u64 },
    /// The store lost its place in the order of changes (etcd compacted under us): read again, watch again.
    #[error("the watch cannot go on without a gap: compacted at {floor}")]
    Compacted { floor: Revision },
    #[error("the store is closed")]
    Closed,
}

/// A run of changes, each once, in order, never ending within a revision.
#[derive(Clone, Debug)]
pub struct Changes(Run);

#[derive(Clone, Debug)]
enum Run {
    Past(Arc<[Arc<Event>]>),
    Live(Arc<Node>),
}

impl Deref for Changes {
    type Target = [Arc<Event>];

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Run::Past(events) => events,
            Run::Live(node) => &node.events,
        }
    }
}

#[derive(Debug)]
struct Node {
    events: Vec<Arc<Event>>,
    /// Weight of everything appended to this list so far, this node included.
    weight: u64,
    next: OnceLock<Arc<Node>>,
}

impl Drop for Node {
    /// A long list must not unwind recursively.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(node) = next {
            next = Arc::into_inner(node).and_then(|mut node| node.next.take());
        }
    }
}

/// All watchers of one prefix.
#[derive(Debug)]
struct Group {
    wake: Notify,
    inner: Mutex<GroupInner>,
}

#[derive(Debug)]
struct GroupInner {
    tail: Arc<Node>,
    seats: Vec<Arc<Seat>>,
    /// Look for laggards when the list has grown past this weight.
    next_sweep: u64,
}

/// Where a watcher stands; shared so that the hub can take it away.
#[derive(Debug)]
struct Seat {
    at: Mutex<Result<Arc<Node>, WatchEnd>>,
    /// Weight the watcher has taken in.
    seen: AtomicU64,
}

#[derive(Debug)]
pub(crate) struct Hub {
    groups: BTreeMap<Bytes, Arc<Group>>,
    /// Look for prefixes nobody watches when there are this many.
    next_sweep: usize,
    limit: u64,
    watchers: Arc<AtomicU64>,
    lagged: u64,
}

impl Hub {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            groups: BTreeMap::new(),
            next_sweep: 64,
            limit: (limit as u64).max(1),
            watchers: Arc::default(),
            lagged: 0,
        }
    }

    pub(crate) fn watchers(&self) -> u64 {
        self.watchers.load(Ordering::Relaxed)
    }

    pub(crate) fn lagged(&self) -> u64 {
        self.lagged
    }

    /// A watcher that will see what is published from now on, after `past`.
    pub(crate) fn join(&mut self, prefix: &[u8]) -> Cursor {
        // Prefixes come and go (namespaces): forget the ones nobody watches before the table grows.
        if self.groups.len() >= self.next_sweep {
            self.groups
                .retain(|_, group| !lock(&group.inner).seats.is_empty());
            self.next_sweep = (self.groups.len() * 2).max(64);
        }
        let group = self.groups.entry(Bytes::copy_from_slice(prefix));
        let group = group
            .or_insert_with(|| Arc::new(Group::new(self.limit)))
            .clone();
        let mut inner = lock(&group.inner);
        let seat = Arc::new(Seat {
            at: Mutex::new(Ok(inner.tail.clone())),
            seen: AtomicU64::new(inner.tail.weight),
        });
        inner.seats.push(seat.clone());
        drop(inner);
        self.watchers.fetch_add(1, Ordering::Relaxed);
        Cursor {
            group,
            seat,
            watchers: self.watchers.clone(),
        }
    }

    /// Hands out the events of one batch: each group gets one node with those of its prefix.
    pub(crate) fn publish(&mut self, events: &[Arc<Event>]) {
        if self.groups.is_empty() {
            return;
        }
        let mut runs: BTreeMap<&Bytes, (&Arc<Group>, Vec<Arc<Event>>)> = BTreeMap::new();
        for event in events {
            for (prefix, group) in matching(&self.groups, &event.key) {
                runs.entry(prefix)
                    .or_insert_with(|| (group, Vec::new()))
                    .1
                    .push(event.clone());
            }
        }
        for (group, run) in runs.into_values() {
            self.lagged += group.append(run, self.limit);
        }
    }

    /// Ends every watch.
    pub(crate) fn end(&mut self, reason: &WatchEnd) {
        for group in std::mem::take(&mut self.groups).into_values() {
            for seat in std::mem::take(&mut lock(&group.inner).seats) {
                *lock(&seat.at) = Err(reason.clone());
            }
            group.wake.notify_waiters();
        }
    }
}

/// All groups whose prefix begins `key`, longest first.
///
/// Every prefix of `key` sorts at or below it, and whatever sorts between a prefix of `key` and `key` begins with that
/// prefix. So walking down from `key` may skip to the part shared with the last candidate.
fn matching<'a>(
    groups: &'a BTreeMap<Bytes, Arc<Group>>,
    key: &'a [u8],
) -> impl Iterator<Item = (&'a Bytes, &'a Arc<Group>)> {
    let mut bound = Some(Bound::Included(key));
    std::iter::from_fn(move || {
        loop {
            let (prefix, group) = groups
                .range::<[u8], _>((Bound::Unbounded, bound?))
                .next_back()?;
            let shared = prefix.iter().zip(key).take_while(|(a, b)| a == b).count();
            if shared == prefix.len() {
                bound = Some(Bound::Excluded(&key[..shared]));
                return Some((prefix, group));
            }
            bound = Some(Bound::Included(&key[..shared]));
        }
    })
}

impl Group {
    fn new(limit: u64) -> Self {
        let tail = Arc::new(Node {
            events: Vec::new(),
            weight: 0,
            next: OnceLock::new(),
        });
        Self {
            wake: Notify::new(),
            inner: Mutex::new(GroupInner {
                tail,
                seats: Vec::new(),
                next_sweep: limit,
            }),
        }
    }

    /// Returns how many watchers were dropped for being too slow.
    fn append(&self, events: Vec<Arc<Event>>, limit: u64) -> u64 {
        let mut inner = lock(&self.inner);
        if inner.seats.is_empty() {
            return 0;
        }
        let before = inner.tail.weight;
        let weight = before
            + events
                .iter()
                .map(|event| event.weight() as u64)
                .sum::<u64>();
        let node = Arc::new(Node {
            events,
            weight,
            next: OnceLock::new(),
        });
        // Only the publisher sets `next`, and only on the tail: it is never set twice.
        let _ = inner.tail.next.set(node.clone());
        inner.tail = node;
        let mut dropped = 0;
        if weight >= inner.next_sweep {
            inner.next_sweep = weight + limit / 8;
            inner.seats.retain(|seat| {
                // Whoever has seen all before this node is not slow, however heavy the node.
                let behind = before.saturating_sub(seat.seen.load(Ordering::Relaxed));
                if behind > limit {
                    *lock(&seat.at) = Err(WatchEnd::Lagged { behind, limit });
                    dropped += 1;
                }
                behind <= limit
            });
        }
        drop(inner);
        self.wake.notify_waiters();
        dropped
    }
}

/// A watcher's place in its group's list.
#[derive(Debug)]
pub(crate) struct Cursor {
    group: Arc<Group>,
    seat: Arc<Seat>,
    watchers: Arc<AtomicU64>,
}

impl Cursor {
    fn take(&self) -> Option<Result<Arc<Node>, WatchEnd>> {
        let mut at = lock(&self.seat.at);
        match &*at {
            Ok(node) => {
                let next = node.next.get()?.clone();
                self.seat.seen.store(next.weight, Ordering::Relaxed);
                *at = Ok(next.clone());
                Some(Ok(next))
            }
            Err(end) => Some(Err(end.clone())),
        }
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let mut inner = lock(&self.group.inner);
        if let Some(index) = inner
            .seats
            .iter()
            .position(|seat| Arc::ptr_eq(seat, &self.seat))
        {
            inner.seats.swap_remove(index);
        }
        self.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Changes of one prefix, from a revision on.
#[derive(Debug)]
pub struct Watch {
    past: Option<Arc<[Arc<Event>]>>,
    cursor: Cursor,
    published: Arc<AtomicU64>,
    /// Everything up to here was handed out.
    progress: Revision,
}

impl Watch {
    pub(crate) fn new(
        past: Vec<Arc<Event>>,
        cursor: Cursor,
        published: Arc<AtomicU64>,
        after: Revision,
    ) -> Self {
        Self {
            past: (!past.is_empty()).then(|| past.into()),
            cursor,
            published,
            progress: after,
        }
    }

    /// Waits for the next changes. Safe to drop while waiting: nothing is lost.
    pub async fn next(&mut self) -> Result<Changes, WatchEnd> {
        let group = self.cursor.group.clone();
        loop {
            let mut wake = std::pin::pin!(group.wake.notified());
            // Register first, look second: an append between the two wakes us.
            wake.as_mut().enable();
            if let Some(ready) = self.try_next() {
                return ready;
            }
            wake.await;
        }
    }

    /// The next changes if there are any already.
    pub fn try_next(&mut self) -> Option<Result<Changes, WatchEnd>> {
        let changes = match self.past.take() {
            Some(past) => Changes(Run::Past(past)),
            None => match self.cursor.take()? {
                Ok(node) => Changes(Run::Live(node)),
                Err(end) => return Some(Err(end)),
            },
        };
        if let Some(last) = changes.last() {
            self.progress = self.progress.max(last.revision);
        }
        Some(Ok(changes))
    }

    /// The progress mark: every change up to this revision has been returned by [`Watch::next`]. Grows also when
    /// nothing under the prefix changes.
    pub fn progress(&mut self) -> Revision {
        // Read before looking at the list: the publisher appends first and publishes the revision second.
        let published = self.published.load(Ordering::Acquire);
        let at_end = matches!(&*lock(&self.cursor.seat.at), Ok(node) if node.next.get().is_none());
        if self.past.is_none() && at_end {
            self.progress = self.progress.max(published);
        }
        self.progress
    }
}

/// The data below these locks is whole between statements: a panic elsewhere does not make it unusable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_finds_every_prefix_of_a_key_and_nothing_else() {
        let prefixes = [
            "", "/", "/a", "/a/", "/a/b", "/a/b/c/d", "/a/c", "/ab", "/b", "\u{7f}",
        ];
        let mut hub = Hub::new(1 << 20);
        let _cursors: Vec<_> = prefixes
            .iter()
            .map(|prefix| hub.join(prefix.as_bytes()))
            .collect();
        for key in ["/a/b/c", "/a/b/c/d", "/a", "/", "/zz", "x", "/abc", "/a/bz"] {
            let found: Vec<_> = matching(&hub.groups, key.as_bytes())
                .map(|(prefix, _)| prefix.clone())
                .collect();
            let mut want: Vec<_> = prefixes
                .iter()
                .filter(|p| key.starts_with(*p))
                .map(|p| Bytes::from(*p))
                .collect();
            want.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
            assert_eq!(found, want, "key {key}");
        }
    }

    #[test]
    fn a_long_list_is_dropped_without_recursion() {
        let group = Group::new(u64::MAX);
        let first = group.inner.lock().unwrap().tail.clone();
        let seat = Arc::new(Seat {
            at: Mutex::new(Ok(first.clone())),
            seen: AtomicU64::new(0),
        });
        group.inner.lock().unwrap().seats.push(seat);
        for _ in 0..1_000_000 {
            group.append(Vec::new(), u64::MAX);
        }
        drop(group);
        drop(first);
    }
}
