//! Histograms of a number over time: each nanosecond counts once, in the bucket of the value that it found.

use crate::Nanos;

/// How long a number was how large. Kubernetes calls it a timing histogram.
#[derive(Clone, Debug)]
pub struct TimingHistogram {
    bounds: &'static [f64],
    /// Nanoseconds in each bucket; the last has no bound.
    counts: Box<[u64]>,
    sum: f64,
    value: f64,
    /// The bucket of the value.
    bucket: usize,
    last: Nanos,
}

impl TimingHistogram {
    /// `bounds` grow.
    pub fn new(bounds: &'static [f64], value: f64, now: Nanos) -> Self {
        let mut new = Self {
            bounds,
            counts: vec![0; bounds.len() + 1].into(),
            sum: 0.0,
            value: 0.0,
            bucket: 0,
            last: now,
        };
        new.set(value, now);
        new
    }

    pub fn set(&mut self, value: f64, now: Nanos) {
        if value.to_bits() != self.value.to_bits() {
            self.advance(now);
            self.value = value;
            self.bucket = self.bucket_of(value);
        }
    }

    /// The nanoseconds in each bucket, and the integral of the value.
    pub fn read(&mut self, now: Nanos) -> (Vec<u64>, f64) {
        self.advance(now);
        (self.counts.to_vec(), self.sum)
    }

    fn advance(&mut self, now: Nanos) {
        let elapsed = now.saturating_sub(self.last);
        self.last = self.last.max(now);
        self.counts[self.bucket] = self.counts[self.bucket].saturating_add(elapsed);
        #[expect(clippy::cast_precision_loss, reason = "a metric is a float")]
        let elapsed = elapsed as f64;
        self.sum += self.value * elapsed;
    }

    fn bucket_of(&self, value: f64) -> usize {
        let found = self.bounds.iter().position(|bound| value <= *bound);
        found.unwrap_or(self.bounds.len())
    }
}

/// The same of a number as a part of a limit.
#[derive(Clone, Debug)]
pub struct RatioHistogram {
    histogram: TimingHistogram,
    numerator: f64,
    denominator: f64,
}

impl RatioHistogram {
    pub fn new(bounds: &'static [f64], denominator: f64, now: Nanos) -> Self {
        Self {
            histogram: TimingHistogram::new(bounds, 0.0, now),
            numerator: 0.0,
            denominator,
        }
    }

    pub fn set(&mut self, numerator: f64, now: Nanos) {
        self.numerator = numerator;
        self.histogram.set(numerator / self.denominator, now);
    }

    pub fn set_denominator(&mut self, denominator: f64, now: Nanos) {
        self.denominator = denominator;
        self.histogram.set(self.numerator / denominator, now);
    }

    pub fn read(&mut self, now: Nanos) -> (Vec<u64>, f64) {
        self.histogram.read(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_nanosecond_counts_once() {
        let mut histogram = TimingHistogram::new(&[0.0, 1.0, 2.0], 1.0, 0);
        histogram.set(2.5, 10);
        histogram.set(0.0, 15);
        assert_eq!(histogram.read(22), (vec![7, 10, 0, 5], 22.5));
    }

    #[test]
    fn the_limit_may_change() {
        let mut ratio = RatioHistogram::new(&[0.0, 0.5, 1.0], 4.0, 0);
        ratio.set(2.0, 1);
        ratio.set_denominator(2.0, 3);
        ratio.set(3.0, 6);
        assert_eq!(ratio.read(10), (vec![1, 2, 3, 4], 10.0));
    }
}
