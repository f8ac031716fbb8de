//! Hot path. The accounts of a priority level whose requests never wait: no lock that anybody waits for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Nanos;
use crate::meter::observe;
use crate::queue_set::{Gauges, Totals};

/// Requests that execute, and their seats.
#[derive(Debug)]
pub struct Exempt {
    /// Requests in the high half, seats in the low one.
    now: AtomicU64,
    dispatched: AtomicU64,
    gauges: Mutex<Gauges>,
}

const REQUEST: u64 = 1 << 32;

impl Exempt {
    pub fn new(now: Nanos) -> Self {
        Self {
            now: AtomicU64::new(0),
            dispatched: AtomicU64::new(0),
            gauges: Mutex::new(Gauges::new(now)),
        }
    }

    pub fn start(&self, seats: u32, now: Nanos) {
        self.now
            .fetch_add(REQUEST + u64::from(seats), Ordering::Relaxed);
        self.dispatched.fetch_add(1, Ordering::Relaxed);
        self.observe(now);
    }

    pub fn finish(&self, seats: u32, now: Nanos) {
        self.now
            .fetch_sub(REQUEST + u64::from(seats), Ordering::Relaxed);
        self.observe(now);
    }

    pub fn totals(&self) -> Totals {
        Totals {
            dispatched: self.dispatched.load(Ordering::Relaxed),
            ..totals(self.now.load(Ordering::Relaxed))
        }
    }

    /// `denominator` is what metrics relate to.
    pub fn set_denominator(&self, denominator: u32, now: Nanos) {
        self.gauges().set_limits(1, denominator, now);
    }

    pub fn gauges(&self) -> MutexGuard<'_, Gauges> {
        self.gauges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observe(&self, now: Nanos) {
        observe(&self.now, &self.gauges, |gauges, found| {
            gauges.set(&totals(found), now);
        });
    }
}

#[expect(clippy::cast_possible_truncation, reason = "each half has 32 bits")]
fn totals(packed: u64) -> Totals {
    Totals {
        executing: (packed >> 32) as u32,
        seats_in_use: packed as u32,
        ..Totals::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn demand_is_what_executes() {
        let level = Exempt::new(0);
        level.start(3, 0);
        level.start(1, SECOND);
        level.finish(3, 2 * SECOND);
        let totals = level.totals();
        assert_eq!(
            (totals.executing, totals.seats_in_use, totals.dispatched),
            (1, 1, 2)
        );
        let demand = level.gauges().demand.results(4 * SECOND);
        assert_eq!((demand.average, demand.max), (9.0 / 4.0, 4.0));
    }

    /// However threads meet, what is seen in the end is what is true.
    #[test]
    fn nothing_is_left_when_all_have_ended() {
        let level = Arc::new(Exempt::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let level = level.clone();
                std::thread::spawn(move || {
                    for turn in 0..10_000 {
                        level.start(2, turn);
                        level.finish(2, turn);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let mut gauges = level.gauges();
        gauges.demand.reset(SECOND);
        assert!(gauges.demand.results(2 * SECOND).average.abs() < 1e-9);
        assert_eq!(level.totals().dispatched, 40_000);
    }
}
