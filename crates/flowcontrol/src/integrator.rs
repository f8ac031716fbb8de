//! The mean, the deviation and the extremes of a number over time.

use crate::Nanos;

/// Follows a number from one reset to the next.
#[derive(Clone, Copy, Debug)]
pub struct Integrator {
    last: Nanos,
    value: f64,
    elapsed: f64,
    /// Integrals of the value and of its square.
    sum: f64,
    squares: f64,
    max: f64,
}

/// What there was since the last reset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Results {
    /// In seconds.
    pub duration: f64,
    /// Weighted by time. NaN if no time has passed.
    pub average: f64,
    pub deviation: f64,
    pub max: f64,
}

impl Integrator {
    pub fn new(now: Nanos) -> Self {
        Self {
            last: now,
            value: 0.0,
            elapsed: 0.0,
            sum: 0.0,
            squares: 0.0,
            max: 0.0,
        }
    }

    pub fn set(&mut self, value: f64, now: Nanos) {
        self.advance(now);
        self.value = value;
        self.max = self.max.max(value);
    }

    pub fn results(&mut self, now: Nanos) -> Results {
        self.advance(now);
        let average = self.sum / self.elapsed;
        let variance = self.squares / self.elapsed - average * average;
        Results {
            duration: self.elapsed,
            average,
            // Of a negative variance, which rounding may lead to, this is NaN, as upstream.
            deviation: variance.sqrt(),
            max: self.max,
        }
    }

    /// Begins anew with the value that there is.
    pub fn reset(&mut self, now: Nanos) -> Results {
        let results = self.results(now);
        (self.elapsed, self.sum, self.squares) = (0.0, 0.0, 0.0);
        self.max = self.value;
        results
    }

    fn advance(&mut self, now: Nanos) {
        #[expect(clippy::cast_precision_loss, reason = "a metric is a float")]
        let elapsed = now.saturating_sub(self.last) as f64 / 1e9;
        self.last = self.last.max(now);
        self.elapsed += elapsed;
        self.sum += self.value * elapsed;
        self.squares += self.value * self.value * elapsed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn values_count_by_how_long_they_stood() {
        let mut number = Integrator::new(0);
        let empty = number.results(0);
        assert!(empty.average.is_nan() && empty.deviation.is_nan());
        number.set(3.0, 0);
        let first = number.results(SECOND);
        assert_eq!(
            (first.duration, first.average, first.deviation, first.max),
            (1.0, 3.0, 0.0, 3.0)
        );
        number.set(7.0, SECOND);
        let both = number.results(2 * SECOND);
        assert_eq!((both.average, both.deviation, both.max), (5.0, 2.0, 7.0));
        assert_eq!(number.reset(2 * SECOND), both);
        let after = number.results(3 * SECOND);
        assert_eq!((after.duration, after.average, after.max), (1.0, 7.0, 7.0));
        number.set(2.0, 3 * SECOND);
        number.reset(3 * SECOND);
        assert!((number.results(4 * SECOND).max - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_time_that_was_before_changes_nothing() {
        let mut number = Integrator::new(SECOND);
        number.set(1.0, 0);
        assert!((number.results(2 * SECOND).duration - 1.0).abs() < 1e-9);
    }
}
