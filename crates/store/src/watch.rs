//! Hot path. Fan-out: one list of changes per watched prefix, shared by all its watchers.
//!
//! The publisher appends a node to the list of each prefix that matches and wakes the waiting; a watcher walks the list
//! with a cursor. A node is one pointer for any number of watchers, and goes when the slowest has passed it. A watcher
//! that falls too far behind loses its cursor, so that what it held back can go: it gets [`WatchEnd::Lagged`].

use std::collections::BTreeMap;
use std::ops::{Bound, Deref};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

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

/// All watchers of one prefix. What a change touches of each of them lies side by side.
#[derive(Debug)]
struct Group(Mutex<Seats>);

#[derive(Debug)]
struct Seats {
    tail: Arc<Node>,
    places: Vec<Option<Seat>>,
    free: Vec<usize>,
    /// Look for laggards when the list has grown past this weight.
    next_sweep: u64,
}

/// Where a watcher stands, and how to wake it if it waits.
#[derive(Debug)]
struct Seat {
    at: Result<Arc<Node>, WatchEnd>,
    waker: Option<Waker>,
}

#[derive(Debug)]
pub(crate) struct Hub {
    groups: BTreeMap<Bytes, Arc<Group>>,
    /// Look for prefixes without watches when there are this many.
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
        // Prefixes come and go (namespaces): remove those without watches before the table grows.
        if self.groups.len() >= self.next_sweep {
            self.groups.retain(|_, group| !group.lock().is_empty());
            self.next_sweep = (self.groups.len() * 2).max(64);
        }
        let group = self.groups.entry(Bytes::copy_from_slice(prefix));
        let group = group
            .or_insert_with(|| Arc::new(Group::new(self.limit)))
            .clone();
        let seat = group.lock().sit();
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
            let mut seats = group.lock();
            for seat in seats.places.iter_mut().flatten() {
                seat.at = Err(reason.clone());
            }
            let waiting = seats.waiting();
            drop(seats);
            waiting.into_iter().for_each(Waker::wake);
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
        Self(Mutex::new(Seats {
            tail,
            places: Vec::new(),
            free: Vec::new(),
            next_sweep: limit,
        }))
    }

    /// The data is whole between statements: a panic elsewhere does not make it unusable.
    fn lock(&self) -> MutexGuard<'_, Seats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many watchers were dropped for being too slow.
    fn append(&self, events: Vec<Arc<Event>>, limit: u64) -> u64 {
        let mut seats = self.lock();
        if seats.is_empty() {
            return 0;
        }
        let before = seats.tail.weight;
        let added = events.iter().map(|event| event.weight() as u64);
        let weight = before + added.sum::<u64>();
        let node = Arc::new(Node {
            events,
            weight,
            next: OnceLock::new(),
        });
        // Only the publisher sets `next`, and only on the tail: it is never set twice.
        let _ = seats.tail.next.set(node.clone());
        seats.tail = node;
        let dropped = if weight >= seats.next_sweep {
            seats.next_sweep = weight + limit / 8;
            seats.sweep(before, limit)
        } else {
            0
        };
        let waiting = seats.waiting();
        drop(seats);
        waiting.into_iter().for_each(Waker::wake);
        dropped
    }
}

impl Seats {
    fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }

    /// At the end of the list.
    fn sit(&mut self) -> usize {
        let seat = Seat {
            at: Ok(self.tail.clone()),
            waker: None,
        };
        if let Some(free) = self.free.pop() {
            self.places[free] = Some(seat);
            return free;
        }
        self.places.push(Some(seat));
        self.places.len() - 1
    }

    /// A watch that is more than `limit` behind the previous head loses its cursor.
    fn sweep(&mut self, before: u64, limit: u64) -> u64 {
        let mut dropped = 0;
        for seat in self.places.iter_mut().flatten() {
            // A watch that has seen all before this node is not slow, however large the node.
            let behind = match &seat.at {
                Ok(node) => before.saturating_sub(node.weight),
                Err(_) => 0,
            };
            if behind > limit {
                seat.at = Err(WatchEnd::Lagged { behind, limit });
                dropped += 1;
            }
        }
        dropped
    }

    fn waiting(&mut self) -> Vec<Waker> {
        let seats = self.places.iter_mut().flatten();
        seats.filter_map(|it| it.waker.take()).collect()
    }

    /// The next node of a watcher, or why there is none. If there is nothing yet, `waker` is woken when there is.
    fn take(&mut self, seat: usize, waker: Option<&Waker>) -> Option<Result<Arc<Node>, WatchEnd>> {
        let seat = self.places.get_mut(seat)?.as_mut()?;
        let node = match &mut seat.at {
            Ok(node) => node,
            Err(end) => return Some(Err(end.clone())),
        };
        if let Some(next) = node.next.get().cloned() {
            *node = next.clone();
            return Some(Ok(next));
        }
        match (&mut seat.waker, waker) {
            (Some(known), Some(waker)) => known.clone_from(waker),
            (known, Some(waker)) => *known = Some(waker.clone()),
            (_, None) => {}
        }
        None
    }
}

/// A watcher's place in its group's list.
#[derive(Debug)]
pub(crate) struct Cursor {
    group: Arc<Group>,
    seat: usize,
    watchers: Arc<AtomicU64>,
}

impl Cursor {
    fn take(&self, waker: Option<&Waker>) -> Option<Result<Arc<Node>, WatchEnd>> {
        self.group.lock().take(self.seat, waker)
    }

    fn is_at_end(&self) -> bool {
        let seats = self.group.lock();
        let seat = seats.places.get(self.seat).and_then(Option::as_ref);
        seat.is_some_and(|it| matches!(&it.at, Ok(node) if node.next.get().is_none()))
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let mut seats = self.group.lock();
        let left = seats.places.get_mut(self.seat).and_then(Option::take);
        seats.free.push(self.seat);
        drop(seats);
        // It may hold much of the list: not with the lock.
        drop(left);
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
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Changes, WatchEnd>> {
        match self.take(Some(context.waker())) {
            Some(ready) => Poll::Ready(ready),
            None => Poll::Pending,
        }
    }

    /// The next changes if there are any already.
    pub fn try_next(&mut self) -> Option<Result<Changes, WatchEnd>> {
        self.take(None)
    }

    fn take(&mut self, waker: Option<&Waker>) -> Option<Result<Changes, WatchEnd>> {
        let changes = match self.past.take() {
            Some(past) => Changes(Run::Past(past)),
            None => match self.cursor.take(waker)? {
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
        if self.past.is_none() && self.cursor.is_at_end() {
            self.progress = self.progress.max(published);
        }
        self.progress
    }
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
        let first = group.lock().tail.clone();
        group.lock().sit();
        for _ in 0..1_000_000 {
            group.append(Vec::new(), u64::MAX);
        }
        drop(group);
        drop(first);
    }

    #[test]
    fn seats_are_used_again_and_a_group_without_any_is_empty() {
        let mut hub = Hub::new(1 << 20);
        let (first, second) = (hub.join(b"/"), hub.join(b"/"));
        let group = first.group.clone();
        assert_eq!((first.seat, second.seat), (0, 1));
        drop(first);
        assert_eq!(hub.join(b"/").seat, 0);
        assert!(!group.lock().is_empty());
        drop(second);
        assert!(group.lock().is_empty());
        assert_eq!(hub.watchers(), 0);
    }

    #[test]
    fn whoever_waits_is_woken_once_for_each_change() {
        struct Count(AtomicU64);
        impl std::task::Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let count = Arc::new(Count(AtomicU64::new(0)));
        let waker = Waker::from(count.clone());
        let woken = || count.0.load(Ordering::Relaxed);
        let mut hub = Hub::new(1 << 20);
        let cursor = hub.join(b"/");
        assert!(cursor.take(None).is_none());
        cursor.group.append(Vec::new(), u64::MAX);
        assert_eq!(woken(), 0);
        assert!(cursor.take(Some(&waker)).is_some());
        for _ in 0..3 {
            assert!(cursor.take(Some(&waker)).is_none());
        }
        cursor.group.append(Vec::new(), u64::MAX);
        cursor.group.append(Vec::new(), u64::MAX);
        assert_eq!(woken(), 1);
        assert!(cursor.take(Some(&waker)).is_some());
        assert!(cursor.take(Some(&waker)).is_some());
        assert!(cursor.take(Some(&waker)).is_none());
        hub.end(&WatchEnd::Closed);
        assert_eq!(woken(), 2);
        assert!(matches!(cursor.take(None), Some(Err(WatchEnd::Closed))));
    }
}
