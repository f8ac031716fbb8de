//! Points in time as objects have them: RFC 3339, in UTC, to the second or the microsecond.

mod duration;

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use encoding::civil::DateTime;
use encoding::rfc3339::{self, Timestamp};

pub use duration::{age, human_duration, short_human_duration};
pub use encoding::duration::DurationError;
pub use encoding::rfc3339::TimeError;

/// `metav1.Time` and `metav1.MicroTime`, which differ in how they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Since 1970, also before it.
    seconds: i64,
    nanos: u32,
}

/// Go's `ParseDuration`. What is less than nothing comes back as nothing.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let nanos = encoding::duration::parse(text)?;
    Ok(Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))
}

/// As Go's `Duration.String` writes it: `27s`, `1m30s`, `1.5ms`.
pub fn go_duration_string(duration: Duration) -> String {
    let nanos = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    encoding::duration::format(nanos)
}

impl Time {
    pub fn from_unix(seconds: i64, nanos: u32) -> Self {
        Self {
            seconds: seconds.saturating_add((nanos / 1_000_000_000).into()),
            nanos: nanos % 1_000_000_000,
        }
    }

    /// Reads RFC 3339 as `metav1.Time` does: a fraction is taken, any offset is allowed.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        rfc3339::parse(text).map(Self::from)
    }

    /// Reads `metav1.MicroTime`, which wants six digits of a fraction.
    pub fn parse_micro(text: &str) -> Result<Self, TimeError> {
        rfc3339::parse_micro(text).map(Self::from)
    }

    pub fn unix_seconds(self) -> i64 {
        self.seconds
    }

    pub fn unix_nanos(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }

    /// As it will be once written and read again.
    #[must_use]
    pub fn truncated(self) -> Self {
        Self {
            seconds: self.seconds,
            nanos: 0,
        }
    }

    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Self::from_unix(
            self.seconds.saturating_add(seconds),
            self.nanos + duration.subsec_nanos(),
        )
    }

    /// `metav1.MicroTime`'s form; `Display` is that of `metav1.Time`.
    pub fn to_micro_string(self) -> String {
        let micros = self.nanos / 1000;
        let whole = self.to_string();
        let whole = whole.strip_suffix('Z').unwrap_or(&whole);
        format!("{whole}.{micros:06}Z")
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DateTime {
            year,
            month,
            day,
            hour,
            minute,
            second,
        } = DateTime::from_unix(self.seconds);
        if let Some(text) = plain([year, month, day, hour, minute, second]) {
            return f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?);
        }
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
        )
    }
}

/// The text of a year with four digits, without the formatter: every object has several.
fn plain(parts: [i64; 6]) -> Option<[u8; 20]> {
    let mut text = *b"0000-00-00T00:00:00Z";
    let ends = [4, 7, 10, 13, 16, 19];
    for (mut part, end) in parts.into_iter().zip(ends) {
        let digits = if end == 4 { 4 } else { 2 };
        for digit in text[end - digits..end].iter_mut().rev() {
            *digit = b'0' + u8::try_from(part.rem_euclid(10)).ok()?;
            part = part.div_euclid(10);
        }
        if part != 0 {
            return None;
        }
    }
    Some(text)
}

impl From<Timestamp> for Time {
    fn from(it: Timestamp) -> Self {
        Self::from_unix(it.seconds, it.nanos)
    }
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        let zero = Self::default();
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => zero.plus(after),
            Err(before) => {
                let nanos = i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX);
                let seconds = (-nanos).div_euclid(1_000_000_000);
                let rest = (-nanos).rem_euclid(1_000_000_000);
                let seconds = i64::try_from(seconds).unwrap_or(i64::MIN);
                Self::from_unix(seconds, u32::try_from(rest).unwrap_or(0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_reads() {
        let table = [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
            (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ];
        for (seconds, text) in table {
            assert_eq!(Time::from_unix(seconds, 999).to_string(), text);
            assert_eq!(Time::parse(text), Ok(Time::from_unix(seconds, 0)));
        }
        let micro = Time::from_unix(1_700_000_000, 123_456_789);
        assert_eq!(micro.to_micro_string(), "2023-11-14T22:13:20.123456Z");
        assert_eq!(
            Time::parse_micro("2023-11-14T22:13:20.123456Z"),
            Ok(Time::from_unix(1_700_000_000, 123_456_000))
        );
    }

    #[test]
    fn system_times() {
        let table = [
            (Duration::from_millis(1500), 1, 500_000_000),
            (Duration::ZERO, 0, 0),
        ];
        for (since, seconds, nanos) in table {
            assert_eq!(
                Time::from(UNIX_EPOCH + since),
                Time::from_unix(seconds, nanos)
            );
        }
        let before = UNIX_EPOCH - Duration::from_millis(1500);
        assert_eq!(Time::from(before), Time::from_unix(-2, 500_000_000));
        assert_eq!(Time::from_unix(5, 7).truncated(), Time::from_unix(5, 0));
    }
}
