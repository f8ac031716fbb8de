//! How many requests are served and wait at a time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Requests that are served now, and that wait to be; of watches, those that begin.
#[derive(Debug, Default)]
pub(crate) struct Inflight {
    reading: Phases,
    writing: Phases,
}

#[derive(Debug, Default)]
struct Phases {
    executing: HighWater,
    queued: HighWater,
}

impl Inflight {
    fn of(&self, reads: bool) -> &Phases {
        if reads { &self.reading } else { &self.writing }
    }

    pub(crate) fn executing(&self, reads: bool) -> &HighWater {
        &self.of(reads).executing
    }

    pub(crate) fn queued(&self, reads: bool) -> &HighWater {
        &self.of(reads).queued
    }
}

/// The most of something, second by second.
#[derive(Debug, Default)]
pub(crate) struct HighWater {
    now: AtomicU64,
    before: AtomicU64,
}

impl HighWater {
    /// Mostly one read.
    pub(crate) fn note(&self, used: u64) {
        if self.now.load(Ordering::Relaxed) < used {
            self.now.fetch_max(used, Ordering::Relaxed);
        }
    }

    pub(crate) fn rotate(&self) {
        let last = self.now.swap(0, Ordering::Relaxed);
        self.before.store(last, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        let last = self.before.load(Ordering::Relaxed);
        last.max(self.now.load(Ordering::Relaxed))
    }
}
