//! Hot path. The accounts of a priority level whose requests never wait.

use crate::change_log::{Account, Change, ChangeLog};
use crate::queue_set::{Counts, Gauges, Totals};
use crate::{Nanos, Results};

/// Requests that execute, and their seats.
#[derive(Debug)]
pub struct Exempt(ChangeLog<Accounts>);

#[derive(Debug)]
struct Accounts {
    dispatched: u64,
    all: Executing,
    /// By the number of the schema.
    by_schema: Vec<Executing>,
    gauges: Gauges,
}

/// Signed: clocks of two processors may differ by a little, and then a request ends before it begins.
#[derive(Clone, Copy, Debug, Default)]
struct Executing {
    requests: i64,
    seats: i64,
}

impl Executing {
    fn apply(&mut self, change: &Change) {
        let sign = if change.is_end { -1 } else { 1 };
        self.requests += sign;
        self.seats += sign * i64::from(change.seats);
    }

    fn requests(&self) -> u32 {
        at_least_zero(self.requests)
    }

    fn seats(&self) -> u32 {
        at_least_zero(self.seats)
    }
}

fn at_least_zero(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

impl Accounts {
    fn totals(&self) -> Totals {
        Totals {
            executing: self.all.requests(),
            seats_in_use: self.all.seats(),
            dispatched: self.dispatched,
            ..Totals::default()
        }
    }
}

impl Account for Accounts {
    fn apply(&mut self, change: &Change) {
        let schema = usize::from(change.schema);
        if self.by_schema.len() <= schema {
            self.by_schema.resize(schema + 1, Executing::default());
        }
        self.by_schema[schema].apply(change);
        self.all.apply(change);
        self.dispatched += u64::from(!change.is_end);
    }

    fn observe(&mut self, now: Nanos) {
        let totals = self.totals();
        self.gauges.set(&totals, now);
    }
}

impl Exempt {
    pub fn new(now: Nanos) -> Self {
        Self(ChangeLog::new(Accounts {
            dispatched: 0,
            all: Executing::default(),
            by_schema: Vec::new(),
            gauges: Gauges::new(now),
        }))
    }

    /// A request of the schema of this number.
    pub fn start(&self, schema: u16, seats: u32, at: Nanos) {
        let is_end = false;
        self.0.push(Change {
            at,
            seats,
            schema,
            is_end,
        });
    }

    pub fn finish(&self, schema: u16, seats: u32, at: Nanos) {
        let is_end = true;
        self.0.push(Change {
            at,
            seats,
            schema,
            is_end,
        });
    }

    pub fn totals(&self) -> Totals {
        self.0.settle().totals()
    }

    /// The requests of one schema.
    pub fn counts(&self, schema: u16) -> Counts {
        let accounts = self.0.settle();
        let executing = accounts.by_schema.get(usize::from(schema));
        let executing = executing.copied().unwrap_or_default();
        Counts {
            executing: executing.requests(),
            seats_executing: executing.seats(),
            ..Counts::default()
        }
    }

    /// `denominator` is what metrics relate to.
    pub fn set_denominator(&self, denominator: u32, now: Nanos) {
        self.0.settle().gauges.set_limits(1, denominator, now);
    }

    /// The seats that were asked for since the last call.
    pub fn take_demand(&self, now: Nanos) -> Results {
        self.0.settle().gauges.demand.reset(now)
    }

    pub fn read<T>(&self, read: impl FnOnce(&mut Gauges) -> T) -> T {
        read(&mut self.0.settle().gauges)
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
        level.start(0, 3, 0);
        level.start(1, 1, SECOND);
        level.finish(0, 3, 2 * SECOND);
        let totals = level.totals();
        assert_eq!(
            (totals.executing, totals.seats_in_use, totals.dispatched),
            (1, 1, 2)
        );
        assert_eq!(level.counts(0), Counts::default());
        assert_eq!(level.counts(1).executing, 1);
        let demand = level.take_demand(4 * SECOND);
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
                        level.start(0, 2, turn);
                        level.finish(0, 2, turn);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(level.totals().dispatched, 40_000);
        level.take_demand(SECOND);
        assert!(level.take_demand(2 * SECOND).average.abs() < 1e-9);
    }
}
