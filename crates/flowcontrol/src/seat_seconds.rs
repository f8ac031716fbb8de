//! Seats times seconds: what work costs, and what the virtual time of fair queuing counts.

use std::fmt;

use crate::Nanos;

/// In units of 10 ns, as upstream. Differences wrap, as those of Go's `uint64` do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatSeconds(u64);

const PER_SECOND: f64 = 1e8;
const NANOS_PER_UNIT: f64 = 10.0;

impl SeatSeconds {
    pub const ZERO: Self = Self(0);
    pub const MAX: Self = Self(u64::MAX);

    /// The fraction `1 / divisor` of the largest value.
    pub(crate) const fn part_of_max(divisor: u64) -> Self {
        Self(u64::MAX / divisor)
    }

    pub(crate) const fn times(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as upstream: rounded in 64 bits, never negative"
    )]
    pub fn new(seats: f64, duration: Nanos) -> Self {
        Self((seats * duration as f64 / NANOS_PER_UNIT).round() as u64)
    }

    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self(self.0.wrapping_add(more.0))
    }

    #[must_use]
    pub fn minus(self, less: Self) -> Self {
        Self(self.0.wrapping_sub(less.0))
    }

    #[expect(clippy::cast_precision_loss, reason = "a metric is a float")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / PER_SECOND
    }

    /// How long so many seats take for this much work.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as upstream: truncated, never negative"
    )]
    pub fn duration_per_seat(self, seats: f64) -> Nanos {
        (self.0 as f64 / seats * NANOS_PER_UNIT) as Nanos
    }
}

impl fmt::Display for SeatSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 100_000_000;
        write!(f, "{}.{:08}ss", self.0 / unit, self.0 % unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn conversions_are_upstreams() {
        // seats, duration, value, text, and the duration per seat.
        let cases = [
            (0.0, SECOND, 0.0, "0.00000000ss"),
            (1.0, SECOND, 1.0, "1.00000000ss"),
            (1.0, SECOND / 10, 0.1, "0.10000000ss"),
            (10.0, 3 * SECOND, 30.0, "30.00000000ss"),
            (1.25, SECOND * 93 / 100, 1.1625, "1.16250000ss"),
        ];
        for (seats, duration, value, text) in cases {
            let made = SeatSeconds::new(seats, duration);
            assert!((made.as_f64() - value).abs() < 1e-9, "{made}");
            assert_eq!(made.to_string(), text);
            if seats > 0.0 {
                assert_eq!(made.duration_per_seat(seats), duration);
            }
        }
    }

    #[test]
    fn a_meter_may_be_set_back_by_more_than_it_shows() {
        let low = SeatSeconds::ZERO.minus(SeatSeconds::new(1.0, SECOND));
        assert_eq!(low.plus(SeatSeconds::new(1.0, SECOND)), SeatSeconds::ZERO);
    }
}
