//! Hot path. What waits to be sent, and the books of what became of it.
//!
//! Whoever has something to send encodes it straight into a chunk of a message. Chunks lie in shards, one for each thread as a
//! rule, so that threads do not meet; where two do, the second goes on to the next shard, and where all are locked, to a chunk
//! of the overflow. **Pushing waits for no encoding.** The exporter may wait, for as long as it takes to encode one item.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use tokio::sync::Notify;

use super::Item;
use super::chunk::{Buffers, Chunk};

/// In `places`: nothing more is taken.
const CLOSED: u64 = 1 << 63;
/// Memory of a queue for which nothing else was said.
const BYTES: usize = 64 << 20;
/// More threads than that share.
const MOST_SHARDS: usize = 32;

/// What became of all spans that were ever offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// All that were offered.
    pub created: u64,
    /// The collector has them.
    pub exported: u64,
    /// They were never sent: there was no room, or no time at the end.
    pub dropped: u64,
    /// They were sent and the collector does not have them, as far as is known: it refused them, or nobody answered.
    pub failed: u64,
    /// How many may wait.
    pub capacity: u64,
}

impl Numbers {
    /// In the queue, or under way.
    pub fn waiting(&self) -> u64 {
        let settled = self.exported + self.dropped + self.failed;
        self.created.saturating_sub(settled)
    }
}

/// What waits to be sent. Never blocks, never grows beyond its bounds: an item for which there is no room is not encoded,
/// and its spans are counted as dropped.
#[derive(Debug)]
pub struct Queue {
    shards: Box<[Shard]>,
    /// Chunks that threads filled in part while all shards were locked. It is locked to take one out or to put one back, never
    /// while something is encoded; so there are at most as many as threads that push at once.
    overflow: Mutex<Vec<Chunk>>,
    buffers: Arc<Buffers>,
    /// Chunks that are full, from the shards to the exporter.
    full: Sender<Chunk>,
    filled: Mutex<Receiver<Chunk>>,
    most: u64,
    /// So few are as good as none.
    margin: u64,
    /// So many are worth waking the exporter for.
    batch: u64,
    enough: Notify,
    taken: Taken,
    exported: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

/// A chunk that is being filled, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<Option<Chunk>>);

/// What all who push change.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Taken {
    /// Spans for which there is an item in a chunk, or will be in a moment.
    places: AtomicU64,
    created: AtomicU64,
}

impl Queue {
    /// For so many spans, at most.
    pub fn new(most: usize) -> Self {
        Self::with_bytes(most, BYTES)
    }

    /// For so many spans, and so many bytes of memory.
    pub fn with_bytes(most: usize, bytes: usize) -> Self {
        let most = most.max(1) as u64;
        let (full, filled) = channel();
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let shards = threads.clamp(2, MOST_SHARDS);
        Self {
            shards: (0..shards).map(|_| Shard::default()).collect(),
            overflow: Mutex::default(),
            // One for each shard, and some that are full.
            buffers: Arc::new(Buffers::new(bytes, 2 * shards)),
            full,
            filled: Mutex::new(filled),
            most,
            margin: (most / 64).min(64),
            batch: (most / 4).clamp(1, 2048),
            enough: Notify::new(),
            taken: Taken::default(),
            exported: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// Gives the item back when there is no room.
    pub fn try_push<T: Item>(&self, item: T) -> Result<(), T> {
        if self.push(item.spans(), |out| item.encode(out)) {
            Ok(())
        } else {
            Err(item)
        }
    }

    /// Has an item of so many spans encoded, if there is room for it.
    pub fn push(&self, spans: u64, encode: impl FnOnce(&mut Vec<u8>)) -> bool {
        let Some(place) = self.reserve(spans) else {
            return false;
        };
        let first = here();
        for offset in 0..self.shards.len() {
            let Shard(shard) = &self.shards[(first + offset) % self.shards.len()];
            let mut slot = match shard.try_lock() {
                Ok(slot) => slot,
                Err(TryLockError::Poisoned(error)) => error.into_inner(),
                // Somebody else is at it.
                Err(TryLockError::WouldBlock) => continue,
            };
            return self.append(&mut slot, place, encode);
        }
        // All are locked: their threads encode just now, or were interrupted while they did.
        let mut borrowed = Borrowed {
            queue: self,
            chunk: lock(&self.overflow).pop(),
        };
        self.append(&mut borrowed.chunk, place, encode)
    }

    /// A place is taken first: what has one is waited for by whoever closes the queue.
    fn reserve(&self, spans: u64) -> Option<Place<'_>> {
        self.taken.created.fetch_add(spans, Ordering::Relaxed);
        // An item without spans still takes memory.
        let wanted = spans.max(1);
        let fits = |taken: u64| {
            (taken & CLOSED == 0 && taken + wanted <= self.most).then_some(taken + wanted)
        };
        let places = &self.taken.places;
        let Ok(before) = places.fetch_update(Ordering::AcqRel, Ordering::Relaxed, fits) else {
            self.dropped.fetch_add(spans, Ordering::Release);
            return None;
        };
        Some(Place {
            queue: self,
            spans,
            wanted,
            before,
            is_used: false,
        })
    }

    fn append(
        &self,
        slot: &mut Option<Chunk>,
        mut place: Place<'_>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let chunk = match slot {
            Some(chunk) => chunk,
            None => match self.buffers.take() {
                Some(new) => slot.insert(new),
                None => return false,
            },
        };
        chunk.push(place.spans, place.wanted, encode);
        place.is_used = true;
        if chunk.is_full() {
            self.hand_over(slot);
        }
        // Once for each batch: waking a thread costs more than all the rest.
        if place.before < self.batch && place.before + place.wanted >= self.batch {
            self.enough.notify_one();
        }
        true
    }

    fn hand_over(&self, slot: &mut Option<Chunk>) {
        if let Some(chunk) = slot.take_if(|it| !it.is_empty()) {
            // The receiver lives as long as this does.
            let _ = self.full.send(chunk);
        }
    }

    /// Whether it is no use to begin making an item: those who ask early are spared the work.
    pub fn is_full(&self) -> bool {
        let taken = self.taken.places.load(Ordering::Relaxed);
        taken & CLOSED != 0 || taken + self.margin >= self.most || self.buffers.is_exhausted()
    }

    /// Counts what was not made because there was no room.
    pub fn refuse(&self, spans: u64) {
        self.taken.created.fetch_add(spans, Ordering::Relaxed);
        self.dropped.fetch_add(spans, Ordering::Release);
    }

    /// What has waited longest, or nearly so. Whoever takes it tells [`Self::settle`] what became of it.
    pub fn pop(&self) -> Option<Chunk> {
        let chunk = self.next_full().or_else(|| {
            let mut shards = self.shards.iter();
            let of_shard = shards.find_map(|Shard(it)| lock(it).take_if(|it| !it.is_empty()));
            of_shard.or_else(|| lock(&self.overflow).pop())
        })?;
        let places = chunk.places();
        self.taken.places.fetch_sub(places, Ordering::AcqRel);
        Some(chunk)
    }

    /// What waits in shards comes before what is pushed from now on.
    pub(super) fn sweep(&self) {
        for Shard(shard) in &self.shards {
            self.hand_over(&mut lock(shard));
        }
        for chunk in std::mem::take(&mut *lock(&self.overflow)) {
            self.hand_over(&mut Some(chunk));
        }
    }

    fn next_full(&self) -> Option<Chunk> {
        lock(&self.filled).try_recv().ok()
    }

    /// What became of spans that were taken.
    pub fn settle(&self, exported: u64, failed: u64, dropped: u64) {
        self.exported.fetch_add(exported, Ordering::Release);
        self.failed.fetch_add(failed, Ordering::Release);
        self.dropped.fetch_add(dropped, Ordering::Release);
    }

    pub fn numbers(&self) -> Numbers {
        // Those that are settled first: whatever is settled was created before.
        let load = |it: &AtomicU64| it.load(Ordering::Acquire);
        let (exported, failed) = (load(&self.exported), load(&self.failed));
        let dropped = load(&self.dropped);
        Numbers {
            created: load(&self.taken.created),
            exported,
            dropped,
            failed,
            capacity: self.most,
        }
    }

    /// Whether so much waits that it should be sent now.
    pub(super) fn is_batch(&self) -> bool {
        self.taken.places.load(Ordering::Acquire) & !CLOSED >= self.batch
    }

    /// Comes back when a batch has come together.
    pub(crate) async fn batch(&self) {
        self.enough.notified().await;
    }

    /// Nothing more is taken.
    pub(crate) fn close(&self) {
        self.taken.places.fetch_or(CLOSED, Ordering::AcqRel);
    }

    /// Whether a closed queue has given out everything. Who has a place and is not in a chunk yet will be at once: pushing
    /// waits for nothing.
    pub(crate) fn is_drained(&self) -> bool {
        self.taken.places.load(Ordering::Acquire) == CLOSED
    }
}

/// A chunk of the overflow, which goes back there, also when an encoder panics.
struct Borrowed<'a> {
    queue: &'a Queue,
    chunk: Option<Chunk>,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Some(chunk) = self.chunk.take_if(|it| !it.is_empty()) {
            lock(&self.queue.overflow).push(chunk);
        }
    }
}

/// Room for an item, which is given back if nothing is put there.
struct Place<'a> {
    queue: &'a Queue,
    spans: u64,
    wanted: u64,
    /// How many were taken before.
    before: u64,
    is_used: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.is_used {
            self.queue.dropped.fetch_add(self.spans, Ordering::Release);
            let places = &self.queue.taken.places;
            places.fetch_sub(self.wanted, Ordering::AcqRel);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of this thread among all that ever pushed.
fn here() -> usize {
    thread_local! {
        static HERE: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    if HERE.get() == usize::MAX {
        HERE.set(THREADS.fetch_add(1, Ordering::Relaxed));
    }
    HERE.get()
}

#[cfg(test)]
mod tests;
