//! Hot path. Handles of series, held by the code that counts.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use super::layout::{Layout, Native};
use crate::Ids;
use crate::trace::{Tick, now};

/// A number that only grows.
#[derive(Clone, Debug)]
pub struct Counter(Arc<[Cell64]>);

/// A number that goes up and down.
#[derive(Clone, Debug)]
pub struct Gauge(Arc<AtomicI64>);

/// How many values were how large.
#[derive(Clone, Debug)]
pub struct Histogram(Arc<Buckets>);

/// What a histogram's whole numbers stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Observed in nanoseconds, shown in seconds.
    Seconds,
    /// Bytes, objects: shown as observed.
    One,
}

/// An exemplar: what was observed, when, and in which span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub ids: Ids,
    pub value: u64,
    pub at: SystemTime,
}

/// The last one of a bucket, or one that is nearly as new.
#[derive(Debug, Default)]
struct Exemplar {
    /// When it was taken, as a tick: nothing else is looked at while that is recent. Zero before the first.
    at: AtomicU64,
    last: Mutex<Option<Seen>>,
}

/// An exemplar is replaced after this time: to replace it with each request would have all threads write to one place.
const RECENT: Duration = Duration::from_millis(5);

/// On a cache line of its own: threads on different shards do not get into each other's way.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell64(AtomicU64);

#[derive(Debug)]
struct Buckets {
    layout: Arc<Layout>,
    /// Per shard: the sum, how often that ran over, then each cell.
    cells: Box<[AtomicU64]>,
    stride: usize,
    shards: usize,
    /// The last one of each bucket. Made with the first.
    exemplars: OnceLock<Box<[Exemplar]>>,
    /// The bounds were changed since: then `other` counts, for all handles.
    is_moved: AtomicBool,
    other: Mutex<Option<Arc<Buckets>>>,
}

/// Where a shard's cells begin.
const FIRST: usize = 2;

/// As many as threads may count at a time; a power of two.
fn shards() -> usize {
    static SHARDS: OnceLock<usize> = OnceLock::new();
    *SHARDS.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        threads.next_power_of_two().min(8)
    })
}

/// Numbers threads in the order in which they first count.
#[inline]
fn thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    OWN.with(|own| {
        if own.get() == usize::MAX {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed) & (usize::MAX >> 1));
        }
        own.get()
    })
}

impl Counter {
    pub(crate) fn new() -> Self {
        Self((0..shards()).map(|_| Cell64::default()).collect())
    }

    #[inline]
    pub fn inc(&self) {
        self.add(1);
    }

    #[inline]
    pub fn add(&self, more: u64) {
        let shard = thread() & (self.0.len() - 1);
        self.0[shard].0.fetch_add(more, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        let all = self.0.iter().map(|it| it.0.load(Ordering::Relaxed));
        all.fold(0, u64::wrapping_add)
    }

    pub(crate) fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

impl Gauge {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub fn inc(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn dec(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    pub fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

impl Histogram {
    pub(crate) fn new(layout: &Arc<Layout>) -> Self {
        Self(Arc::new(Buckets::new(layout)))
    }

    /// Begins anew with other bounds.
    pub(crate) fn rebound(&self, layout: &Arc<Layout>) {
        let other = self.0.other.lock();
        *other.unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(Buckets::new(layout)));
        self.0.is_moved.store(true, Ordering::Release);
    }

    /// What counts now.
    fn with<T>(&self, work: impl FnOnce(&Buckets) -> T) -> T {
        if !self.0.is_moved.load(Ordering::Acquire) {
            return work(&self.0);
        }
        let other = self.0.other.lock();
        let other = other.unwrap_or_else(PoisonError::into_inner).clone();
        work(other.as_ref().unwrap_or(&self.0))
    }

    /// Of a histogram in seconds.
    #[inline]
    pub fn observe(&self, took: Duration) {
        self.observe_value(nanoseconds(took));
    }

    /// In nanoseconds, or ones: see [`Unit`].
    #[inline]
    pub fn observe_value(&self, value: u64) {
        self.with(|buckets| buckets.observe(value));
    }

    /// The same, and remembers the trace it belongs to.
    pub fn observe_traced(&self, value: u64, ids: Option<Ids>) {
        self.observe_value(value);
        let Some(ids) = ids else {
            return;
        };
        self.with(|buckets| buckets.remember(value, ids));
    }

    /// The number of values in each bucket, in both forms, and their sum.
    pub(crate) fn read(&self) -> (Vec<u64>, Native, u128) {
        self.with(Buckets::read)
    }

    /// One per bucket that has one, with the bucket's number.
    pub(crate) fn exemplars(&self) -> Vec<(usize, Seen)> {
        self.with(Buckets::exemplars)
    }

    /// How many values were observed.
    pub fn count(&self) -> u64 {
        self.read().0.iter().sum()
    }

    pub(crate) fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

impl Buckets {
    fn new(layout: &Arc<Layout>) -> Self {
        // Whole cache lines, so that shards share none but at their ends.
        let stride = (layout.len() + FIRST).next_multiple_of(8);
        let shards = shards();
        Self {
            layout: layout.clone(),
            cells: (0..stride * shards).map(|_| AtomicU64::new(0)).collect(),
            stride,
            shards,
            exemplars: OnceLock::new(),
            is_moved: AtomicBool::new(false),
            other: Mutex::default(),
        }
    }

    #[inline]
    fn observe(&self, value: u64) {
        let shard = (thread() & (self.shards - 1)) * self.stride;
        let cells = &self.cells[shard..shard + self.stride];
        let before = cells[0].fetch_add(value, Ordering::Relaxed);
        if before > u64::MAX - value {
            // Ten thousand watches last 585 years in three weeks.
            cells[1].fetch_add(1, Ordering::Relaxed);
        }
        cells[FIRST + self.layout.cell(value)].fetch_add(1, Ordering::Relaxed);
    }

    fn remember(&self, value: u64, ids: Ids) {
        let all = self.exemplars.get_or_init(|| {
            let each = 0..self.layout.buckets;
            each.map(|_| Exemplar::default()).collect()
        });
        let now = now();
        let exemplar = &all[self.layout.bucket(value)];
        let before = exemplar.at.load(Ordering::Relaxed);
        if before != 0 && now.since(Tick::from_bits(before)) < RECENT {
            return;
        }
        // Whoever comes second at the same moment is not missed.
        if let Ok(mut last) = exemplar.last.try_lock() {
            exemplar.at.store(now.to_bits(), Ordering::Relaxed);
            *last = Some(Seen {
                ids,
                value,
                // A third of what it takes to ask the system.
                at: now.time(),
            });
        }
    }

    fn read(&self) -> (Vec<u64>, Native, u128) {
        let mut counts = vec![0_u64; self.layout.len()];
        let mut sum = 0_u128;
        for shard in self.cells.chunks(self.stride) {
            let over = u128::from(shard[1].load(Ordering::Relaxed)) << 64;
            sum += over + u128::from(shard[0].load(Ordering::Relaxed));
            for (count, cell) in counts.iter_mut().zip(&shard[FIRST..]) {
                *count = count.wrapping_add(cell.load(Ordering::Relaxed));
            }
        }
        let (shown, native) = self.layout.sums(&counts);
        (shown, native, sum)
    }

    fn exemplars(&self) -> Vec<(usize, Seen)> {
        let all = self.exemplars.get().map_or(&[][..], |it| it);
        let all = all.iter().enumerate();
        all.filter_map(|(at, it)| {
            let seen = *it.last.lock().unwrap_or_else(PoisonError::into_inner);
            Some((at, seen?))
        })
        .collect()
    }
}

impl Unit {
    /// From what is observed to what is shown.
    pub(crate) fn shown(self, value: u128) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "it is shown as a float")]
        let value = value as f64;
        match self {
            Self::Seconds => value / 1e9,
            Self::One => value,
        }
    }

    /// The greatest whole number that is not beyond a bound.
    pub(crate) fn at_most(self, bound: f64) -> u64 {
        let value = match self {
            Self::Seconds => bound * 1e9,
            Self::One => bound,
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounds are positive, and `as` saturates"
        )]
        let value = value.floor() as u64;
        value
    }

    pub(crate) fn observed(self, bound: f64) -> u64 {
        let value = match self {
            Self::Seconds => (bound * 1e9).round(),
            // What is counted is whole.
            Self::One => bound.floor(),
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounds are positive, and `as` saturates"
        )]
        let value = value as u64;
        value
    }
}

pub(crate) fn nanoseconds(took: Duration) -> u64 {
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}
