//! Hot path. The requests of one kind: how many there are now, and for how long there were how many.

use crate::change_log::{Account, Change, ChangeLog};
use crate::{Nanos, RatioHistogram};

/// Requests of one kind, as a part of the most that there may be.
#[derive(Debug)]
pub struct Meter(ChangeLog<Accounts>);

#[derive(Debug)]
struct Accounts {
    /// Below zero for a moment if the clocks of two processors differ.
    number: i64,
    /// The most since somebody asked for it.
    peak: i64,
    ratio: RatioHistogram,
}

impl Account for Accounts {
    fn apply(&mut self, change: &Change) {
        self.number += if change.is_end { -1 } else { 1 };
    }

    fn observe(&mut self, now: Nanos) {
        self.peak = self.peak.max(self.number);
        #[expect(clippy::cast_precision_loss, reason = "requests are few")]
        self.ratio.set(self.number.max(0) as f64, now);
    }
}

impl Meter {
    pub fn new(bounds: &'static [f64], now: Nanos) -> Self {
        Self(ChangeLog::new(Accounts {
            number: 0,
            peak: 0,
            ratio: RatioHistogram::new(bounds, 1.0, now),
        }))
    }

    pub fn add(&self, now: Nanos) {
        self.change(now, false);
    }

    pub fn subtract(&self, now: Nanos) {
        self.change(now, true);
    }

    fn change(&self, at: Nanos, is_end: bool) {
        self.0.push(Change {
            at,
            seats: 1,
            schema: 0,
            is_end,
        });
    }

    pub fn get(&self) -> u64 {
        u64::try_from(self.0.settle().number).unwrap_or(0)
    }

    /// The most that there were at a time since the last call.
    pub fn take_peak(&self) -> u64 {
        let mut accounts = self.0.settle();
        let now = accounts.number;
        let peak = std::mem::replace(&mut accounts.peak, now);
        u64::try_from(peak).unwrap_or(0)
    }

    pub fn set_denominator(&self, denominator: f64, now: Nanos) {
        let ratio = &mut self.0.settle().ratio;
        ratio.set_denominator(denominator.max(1.0), now);
    }

    /// The nanoseconds in each bucket, and the integral.
    pub fn read(&self, now: Nanos) -> (Vec<u64>, f64) {
        self.0.settle().ratio.read(now)
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
        assert_eq!(meter.take_peak(), 3);
        assert_eq!(meter.take_peak(), 2, "what is there now counts");
    }
}
