//! Where a histogram counts what is observed, so that one addition serves both of its forms: cells end at the bounds that
//! are shown, and at those of Prometheus' native histograms, which grow by a constant factor.

use super::handle::Unit;

/// Buckets of the native form per doubling are two to the power of this. Upstream begins with 3 and halves the resolution
/// when there are too many; ours stays, and costs a few hundred bytes.
pub(crate) const SCHEMA: i32 = 1;
const PER_DOUBLING: i32 = 1 << SCHEMA;
/// How far the native form reaches beyond the bounds that are shown, in doublings. What is less goes into its zero bucket.
const BEYOND: i32 = 6;

#[derive(Debug)]
pub(crate) struct Layout {
    /// The greatest value of each cell but the last.
    cells: Box<[u64]>,
    /// Of each cell: the bucket that is shown.
    shown: Box<[usize]>,
    /// Of each cell: the bucket of the native form, none for its zero bucket.
    native: Box<[Option<i32>]>,
    /// How many buckets are shown, the last one without a bound included.
    pub(crate) buckets: usize,
    /// What the zero bucket holds at most, as it is shown.
    pub(crate) zero_threshold: f64,
}

impl Layout {
    /// `bounds` as they are shown, growing.
    pub(crate) fn new(unit: Unit, bounds: &[f64]) -> Self {
        let classic: Vec<u64> = bounds.iter().map(|it| unit.observed(*it)).collect();
        let mut positive = bounds.iter().filter(|it| **it > 0.0);
        let first = positive.next().copied().unwrap_or(1.0);
        let last = bounds.last().copied().unwrap_or(1.0).max(first);
        let low = (doublings(first.log2().floor()) - BEYOND) * PER_DOUBLING;
        let high = (doublings(last.log2().ceil()) + BEYOND) * PER_DOUBLING;
        let native: Vec<(u64, i32)> = (low..=high)
            .map(|index| (unit.at_most(bound(index)), index))
            .collect();
        let mut cells: Vec<u64> = classic.clone();
        cells.extend(native.iter().map(|it| it.0));
        cells.sort_unstable();
        cells.dedup();
        // The last cell has no bound.
        let ends = || cells.iter().copied().map(Some).chain([None]);
        let shown = ends().map(|end| {
            let found = end.and_then(|end| classic.iter().position(|it| end <= *it));
            found.unwrap_or(classic.len())
        });
        let of = |end: Option<u64>| {
            let found = end.and_then(|end| native.iter().find(|it| end <= it.0));
            found.map_or(high + 1, |it| it.1)
        };
        let indexes = ends().map(|end| Some(of(end)).filter(|it| *it != low));
        Self {
            shown: shown.collect(),
            native: indexes.collect(),
            buckets: classic.len() + 1,
            zero_threshold: bound(low),
            cells: cells.clone().into(),
        }
    }

    /// Hot path: the cell of a value.
    #[inline]
    pub(crate) fn cell(&self, value: u64) -> usize {
        self.cells.partition_point(|end| *end < value)
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.shown.len()
    }

    /// The bucket of a value, as it is shown.
    pub(crate) fn bucket(&self, value: u64) -> usize {
        self.shown[self.cell(value)]
    }

    /// What is in each bucket that is shown, and in those of the native form.
    pub(crate) fn sums(&self, counts: &[u64]) -> (Vec<u64>, Native) {
        let mut shown = vec![0_u64; self.buckets];
        let mut native = Native {
            zero_threshold: self.zero_threshold,
            ..Native::default()
        };
        for (at, count) in counts.iter().enumerate().take(self.len()) {
            let bucket = &mut shown[self.shown[at]];
            *bucket = bucket.wrapping_add(*count);
            if *count == 0 {
                continue;
            }
            match (self.native[at], native.buckets.last_mut()) {
                (None, _) => native.zero += count,
                (Some(index), Some((last, total))) if *last == index => *total += count,
                (Some(index), _) => native.buckets.push((index, *count)),
            }
        }
        (shown, native)
    }
}

/// A native histogram: the buckets that hold something, by their index.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Native {
    pub zero_threshold: f64,
    pub zero: u64,
    pub buckets: Vec<(i32, u64)>,
}

impl Native {
    /// Adds another of the same layout.
    pub(crate) fn add(&mut self, other: &Self) {
        self.zero += other.zero;
        for (index, count) in &other.buckets {
            match self.buckets.binary_search_by_key(index, |it| it.0) {
                Ok(at) => self.buckets[at].1 += count,
                Err(at) => self.buckets.insert(at, (*index, *count)),
            }
        }
    }
}

/// The upper bound of a bucket.
fn bound(index: i32) -> f64 {
    (f64::from(index) / f64::from(PER_DOUBLING)).exp2()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "bounds are between a nanosecond and exabytes"
)]
fn doublings(log: f64) -> i32 {
    log.clamp(-64.0, 64.0) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_count_serves_both_forms() {
        let bounds = [0.005, 0.1, 60.0];
        let layout = Layout::new(Unit::Seconds, &bounds);
        let mut counts = vec![0; layout.len()];
        // In nanoseconds: on the bounds, one beside them, below and beyond all.
        let values = [
            0,
            1_000,
            5_000_000,
            5_000_001,
            100_000_000,
            100_000_001,
            1_000_000_000,
            60_000_000_000,
            61_000_000_000,
            3_600_000_000_000,
            u64::MAX,
        ];
        for value in values {
            counts[layout.cell(value)] += 1;
        }
        let (shown, native) = layout.sums(&counts);
        assert_eq!(shown, [3, 2, 3, 3]);
        assert_eq!(native.zero, 2, "less than 2^-14 s: {native:?}");
        let total: u64 = native.buckets.iter().map(|it| it.1).sum();
        assert_eq!(native.zero + total, values.len() as u64);
        for value in &values[2..10] {
            #[expect(clippy::cast_precision_loss, reason = "a test")]
            let seconds = *value as f64 / 1e9;
            let index = layout.native[layout.cell(*value)].unwrap();
            assert!(
                seconds <= bound(index) && bound(index - 1) < seconds,
                "{seconds}: {index}"
            );
        }
        // One second is the end of its bucket.
        assert_eq!(layout.native[layout.cell(1_000_000_000)], Some(0));
        assert_eq!(layout.native[layout.cell(1_000_000_001)], Some(1));
    }

    #[test]
    fn sums_of_two() {
        let layout = Layout::new(Unit::One, &[1e3, 1e6]);
        let count = |values: &[u64]| {
            let mut counts = vec![0; layout.len()];
            for value in values {
                counts[layout.cell(*value)] += 1;
            }
            layout.sums(&counts).1
        };
        let mut sum = count(&[0, 100, 5000]);
        sum.add(&count(&[100, 900_000]));
        assert_eq!(sum, count(&[0, 100, 100, 5000, 900_000]));
    }
}
