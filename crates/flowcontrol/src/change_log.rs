//! Hot path. Requests that begin and end on many threads, weighed by how long they took, without a cache line that all
//! threads write.
//!
//! Each thread appends to a log of its own. The logs are merged in the order of time when one is full or when somebody
//! reads.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Nanos;

/// Threads beyond this number share logs.
pub const SHARDS: usize = 8;
/// Changes that a log holds before it is merged.
const FULL: usize = 256;

/// The number of the calling thread's shard: below [`SHARDS`], given to threads in turn.
pub fn thread_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<usize> = const { Cell::new(SHARDS) };
    }
    OWN.with(|own| {
        if own.get() == SHARDS {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        own.get()
    })
}

/// A request that begins or ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) at: Nanos,
    pub(crate) seats: u32,
    /// The number of its schema.
    pub(crate) schema: u16,
    pub(crate) is_end: bool,
}

/// What is known once changes are merged.
pub(crate) trait Account {
    fn apply(&mut self, change: &Change);

    /// Called when all changes of one moment are applied.
    fn observe(&mut self, now: Nanos);
}

#[derive(Debug)]
pub(crate) struct ChangeLog<A> {
    shards: [Shard; SHARDS],
    merged: Mutex<Merged<A>>,
}

/// On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<Vec<Change>>);

#[derive(Debug)]
struct Merged<A> {
    account: A,
    /// Empty but for its memory, used again.
    changes: Vec<Change>,
}

/// The account with all changes up to now.
pub(crate) struct Settled<'a, A>(MutexGuard<'a, Merged<A>>);

impl<A> Deref for Settled<'_, A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0.account
    }
}

impl<A> DerefMut for Settled<'_, A> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.0.account
    }
}

impl<A: Account> ChangeLog<A> {
    pub(crate) fn new(account: A) -> Self {
        Self {
            shards: Default::default(),
            merged: Mutex::new(Merged {
                account,
                changes: Vec::new(),
            }),
        }
    }

    pub(crate) fn push(&self, change: Change) {
        let mut log = self.shards[thread_shard()].lock();
        log.push(change);
        let is_full = log.len() >= FULL;
        drop(log);
        if is_full && let Ok(mut merged) = self.merged.try_lock() {
            self.merge(&mut merged);
        }
    }

    pub(crate) fn settle(&self) -> Settled<'_, A> {
        let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        self.merge(&mut merged);
        Settled(merged)
    }

    fn merge(&self, merged: &mut Merged<A>) {
        let Merged { account, changes } = merged;
        // All logs at the same moment: whatever ended has begun.
        let mut logs = self.shards.each_ref().map(Shard::lock);
        for log in &mut logs {
            changes.append(log);
        }
        drop(logs);
        changes.sort_unstable_by_key(|it| it.at);
        for moment in changes.chunk_by(|a, b| a.at == b.at) {
            for change in moment {
                account.apply(change);
            }
            account.observe(moment[0].at);
        }
        changes.clear();
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Vec<Change>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Debug, Default)]
    struct Seen {
        now: i64,
        all: Vec<(Nanos, i64)>,
    }

    impl Account for Seen {
        fn apply(&mut self, change: &Change) {
            self.now += if change.is_end { -1 } else { 1 };
        }

        fn observe(&mut self, now: Nanos) {
            self.all.push((now, self.now));
        }
    }

    fn change(at: Nanos, is_end: bool) -> Change {
        Change {
            at,
            seats: 1,
            schema: 0,
            is_end,
        }
    }

    #[test]
    fn changes_of_all_threads_are_seen_in_the_order_of_time() {
        let log = Arc::new(ChangeLog::new(Seen::default()));
        let other = log.clone();
        let thread = std::thread::spawn(move || {
            other.push(change(3, true));
            other.push(change(1, false));
        });
        thread.join().expect("it does not panic");
        log.push(change(2, false));
        log.push(change(3, true));
        assert_eq!(log.settle().all, [(1, 1), (2, 2), (3, 0)]);
        assert_eq!(log.settle().all.len(), 3, "each is seen once");
    }

    #[test]
    fn a_full_log_is_merged_without_a_reader() {
        let log = ChangeLog::new(Seen::default());
        for at in 0..FULL as Nanos {
            log.push(change(at, false));
        }
        let merged = log.merged.lock().expect("no thread panicked");
        assert_eq!(merged.account.now, i64::try_from(FULL).expect("small"));
    }
}
