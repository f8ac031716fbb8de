//! Points in time and lengths of it, as Go's `time` package has them.

use std::cmp::Ordering;

use encoding::civil::{self, DateTime};
use encoding::rfc3339;

use crate::error::Error;

const SECOND: i64 = 1_000_000_000;
/// 0001-01-01T00:00:00Z
const MIN: i64 = -62_135_596_800;
/// 9999-12-31T23:59:59Z
const MAX: i64 = 253_402_300_799;

/// A point in time, and the offset it was written with.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Seconds since 1970.
    pub seconds: i64,
    pub nanos: u32,
    /// Seconds east of UTC.
    pub offset: i32,
}

impl Timestamp {
    pub fn new(seconds: i64, nanos: u32) -> Self {
        Self {
            seconds,
            nanos,
            offset: 0,
        }
    }

    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }

    pub(crate) fn is_zero(self) -> bool {
        self.seconds == MIN && self.nanos == 0
    }

    fn in_range(self) -> Result<Self, Error> {
        if (MIN..=MAX).contains(&self.seconds) {
            Ok(self)
        } else {
            Err(Error::new("timestamp overflow"))
        }
    }

    pub(crate) fn from_unix(seconds: i64) -> Result<Self, Error> {
        Self::new(seconds, 0).in_range()
    }

    /// Nothing if it is not written as RFC 3339 says.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, Error>> {
        let it = rfc3339::parse(text).ok()?;
        Some(
            Self {
                seconds: it.seconds,
                nanos: it.nanos,
                offset: it.offset,
            }
            .in_range(),
        )
    }

    /// A day without a time: `2006-01-02`.
    pub(crate) fn parse_date(text: &str) -> Option<Self> {
        if text.len() != 10 {
            return None;
        }
        let midnight = rfc3339::parse(&format!("{text}T00:00:00Z")).ok()?;
        Some(Self::new(midnight.seconds, 0))
    }

    pub(crate) fn add(self, nanos: i64) -> Result<Self, Error> {
        let total = i64::from(self.nanos) + nanos.rem_euclid(SECOND);
        let seconds = self
            .seconds
            .checked_add(nanos.div_euclid(SECOND))
            .and_then(|it| it.checked_add(total / SECOND))
            .ok_or_else(|| Error::new("timestamp overflow"))?;
        Self {
            seconds,
            nanos: u32::try_from(total % SECOND).unwrap_or(0),
            offset: self.offset,
        }
        .in_range()
    }

    pub(crate) fn since(self, other: Self) -> Result<i64, Error> {
        let seconds = self.seconds - other.seconds;
        let nanos = i64::from(self.nanos) - i64::from(other.nanos);
        seconds
            .checked_mul(SECOND)
            .and_then(|it| it.checked_add(nanos))
            .ok_or_else(|| Error::new("integer overflow"))
    }

    /// As it reads on a clock that is so many seconds east of UTC.
    pub(crate) fn civil(self, offset: i32) -> Civil {
        let local = self.seconds + i64::from(offset);
        let days = local.div_euclid(86_400);
        let date = DateTime::from_unix(local);
        Civil {
            date,
            year_day: days - civil::to_days(date.year, 1, 1),
            week_day: (days + 4).rem_euclid(7),
            nanos: self.nanos,
        }
    }

    /// With as many digits of the second as there are, and the offset it was written with.
    pub(crate) fn to_rfc3339(self) -> String {
        let Self {
            seconds,
            nanos,
            offset,
        } = self;
        rfc3339::Timestamp {
            seconds,
            nanos,
            offset,
        }
        .to_rfc3339()
    }
}

#[derive(Debug)]
pub(crate) struct Civil {
    pub(crate) date: DateTime,
    /// From 0.
    pub(crate) year_day: i64,
    /// Sunday is 0.
    pub(crate) week_day: i64,
    pub(crate) nanos: u32,
}

/// Seconds as a double, for `string(duration)`.
#[expect(clippy::cast_precision_loss, reason = "as Go computes it")]
pub(crate) fn seconds(nanos: i64) -> f64 {
    (nanos / SECOND) as f64 + (nanos % SECOND) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for text in [
            "2024-02-29T12:30:45.123456789Z",
            "0001-01-01T00:00:00Z",
            "2011-01-01T00:00:00+01:00",
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().unwrap().to_rfc3339(), text);
        }
        assert!(Timestamp::parse("2023-02-29T00:00:00Z").is_none());
    }
}
