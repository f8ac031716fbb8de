//! Hot path. A number that many threads change, and that is weighed by how long it stood, without anybody waiting for a
//! lock.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};

use crate::{Nanos, RatioHistogram};

/// Has `seen` look at the number. Whoever finds somebody else at it leaves it to them: they look again when they are
/// done. What came and went meanwhile is not seen.
pub(crate) fn observe<T>(number: &AtomicU64, seen: &Mutex<T>, look: impl Fn(&mut T, u64)) {
    loop {
        fence(Ordering::SeqCst);
        let Ok(mut state) = seen.try_lock() else {
            return;
        };
        let found = number.load(Ordering::Relaxed);
        look(&mut state, found);
        drop(state);
        fence(Ordering::SeqCst);
        if number.load(Ordering::Relaxed) == found {
            return;
        }
    }
}

/// Requests of one kind, as a part of the most that there may be.
#[derive(Debug)]
pub struct Meter {
    number: AtomicU64,
    seen: Mutex<RatioHistogram>,
}

impl Meter {
    pub fn new(bounds: &'static [f64], now: Nanos) -> Self {
        Self {
            number: AtomicU64::new(0),
            seen: Mutex::new(RatioHistogram::new(bounds, 1.0, now)),
        }
    }

    pub fn add(&self, now: Nanos) {
        self.number.fetch_add(1, Ordering::Relaxed);
        self.observe(now);
    }

    pub fn get(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    pub fn subtract(&self, now: Nanos) {
        self.number.fetch_sub(1, Ordering::Relaxed);
        self.observe(now);
    }

    pub fn set_denominator(&self, denominator: f64, now: Nanos) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.set_denominator(denominator.max(1.0), now);
    }

    /// The nanoseconds in each bucket, and the integral.
    pub fn read(&self, now: Nanos) -> (Vec<u64>, f64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.read(now)
    }

    fn observe(&self, now: Nanos) {
        observe(&self.number, &self.seen, |seen, number| {
            #[expect(clippy::cast_precision_loss, reason = "requests are few")]
            seen.set(number as f64, now);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_how_long_there_were_how_many() {
        let meter = Meter::new(&[0.0, 0.5, 1.0], 0);
        meter.set_denominator(4.0, 0);
        for now in [1, 1, 3] {
            meter.add(now);
        }
        meter.subtract(6);
        assert_eq!(meter.get(), 2);
        assert_eq!(meter.read(10).0, [1, 6, 3, 0]);
    }
}
