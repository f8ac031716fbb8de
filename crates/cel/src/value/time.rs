//! Points in time and lengths of it, as Go's `time` package has them.

use std::cmp::Ordering;
use std::fmt::Write as _;

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
        parse(text).map(Self::in_range)
    }

    /// A day without a time: `2006-01-02`.
    pub(crate) fn parse_date(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 {
            return None;
        }
        let days = date(bytes)?;
        Some(Self::new(days * 86_400, 0))
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
        let (days, rest) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let (year, month, day) = from_days(days);
        Civil {
            year,
            month,
            day,
            year_day: days - to_days(year, 1, 1),
            week_day: (days + 4).rem_euclid(7),
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            nanos: self.nanos,
        }
    }

    /// With as many digits of the second as there are, and the offset it was written with.
    pub(crate) fn to_rfc3339(self) -> String {
        let it = self.civil(self.offset);
        let mut text = format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            it.year, it.month, it.day, it.hour, it.minute, it.second
        );
        if self.nanos > 0 {
            let digits = format!("{:09}", self.nanos);
            text.push('.');
            text.push_str(digits.trim_end_matches('0'));
        }
        if self.offset == 0 {
            text.push('Z');
        } else {
            let sign = if self.offset < 0 { '-' } else { '+' };
            let minutes = self.offset.unsigned_abs() / 60;
            let _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
        text
    }
}

#[derive(Debug)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    /// From 0.
    pub(crate) year_day: i64,
    /// Sunday is 0.
    pub(crate) week_day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) nanos: u32,
}

/// Days since 1970 (Howard Hinnant's algorithm).
pub(crate) fn to_days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let shifted = (month + 9) % 12;
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

fn from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |sum: i64, it| {
        it.is_ascii_digit().then(|| sum * 10 + i64::from(it - b'0'))
    })
}

fn date(bytes: &[u8]) -> Option<i64> {
    if bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
        return None;
    }
    let (year, month, day) = (
        digits(&bytes[..4])?,
        digits(&bytes[5..7])?,
        digits(bytes.get(8..10)?)?,
    );
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=last).contains(&day).then(|| to_days(year, month, day))
}

fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    if bytes.len() < 20 || bytes[10] != b'T' || bytes[13] != b':' || bytes[16] != b':' {
        return None;
    }
    let days = date(bytes)?;
    let (hour, minute, second) = (
        digits(&bytes[11..13])?,
        digits(&bytes[14..16])?,
        digits(&bytes[17..19])?,
    );
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut rest = &bytes[19..];
    let mut nanos = 0;
    if let Some(b'.' | b',') = rest.first() {
        let count = rest[1..]
            .iter()
            .take_while(|it| it.is_ascii_digit())
            .count();
        if count == 0 {
            return None;
        }
        let mut text = rest[1..=count.min(9)].to_vec();
        text.resize(9, b'0');
        nanos = u32::try_from(digits(&text)?).ok()?;
        rest = &rest[count + 1..];
    }
    let offset = match rest {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), a, b, b':', c, d] => {
            let (hours, minutes) = (digits(&[*a, *b])?, digits(&[*c, *d])?);
            if hours > 24 || minutes >= 60 {
                return None;
            }
            let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    Some(Timestamp {
        seconds: days * 86_400 + hour * 3600 + minute * 60 + second - i64::from(offset),
        nanos,
        offset,
    })
}

/// As Go's `time.ParseDuration`: `-1h30m`, `1.5s`, `2us`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = if whole > 0 {
            rest[..whole].parse().ok()?
        } else {
            0
        };
        if number > 1 << 63 {
            return None;
        }
        rest = &rest[whole..];
        let mut fraction = (0_u64, 1.0_f64);
        let mut decimals = 0;
        if let Some(behind) = rest.strip_prefix('.') {
            decimals = behind.bytes().take_while(u8::is_ascii_digit).count();
            let mut full = false;
            for it in behind.bytes().take(decimals) {
                let next = fraction
                    .0
                    .checked_mul(10)
                    .and_then(|sum| sum.checked_add(u64::from(it - b'0')))
                    .filter(|sum| *sum <= 1 << 63);
                match next {
                    Some(next) if !full => fraction = (next, fraction.1 * 10.0),
                    _ => full = true,
                }
            }
            rest = &behind[decimals..];
        }
        if whole == 0 && decimals == 0 {
            return None;
        }
        let length = rest
            .find(|it: char| it == '.' || it.is_ascii_digit())
            .unwrap_or(rest.len());
        let unit: u64 = match &rest[..length] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        rest = &rest[length..];
        let mut value = number.checked_mul(unit).filter(|it| *it <= 1 << 63)?;
        if fraction.0 > 0 {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "as Go computes it"
            )]
            let part = (fraction.0 as f64 * (unit as f64 / fraction.1)) as u64;
            value = value.checked_add(part).filter(|it| *it <= 1 << 63)?;
        }
        total = total.checked_add(value).filter(|it| *it <= 1 << 63)?;
    }
    if negative {
        return Some(0_i64.wrapping_sub_unsigned(total));
    }
    i64::try_from(total).ok()
}

/// As Go prints a duration: `1h30m0s`, `1.5µs`.
pub(crate) fn format_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let value = nanos.unsigned_abs();
    let decimals = |value: u64, unit: u64, digits: usize| {
        let fraction = format!("{:0digits$}", value % unit);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{}{point}{fraction}", value / unit)
    };
    match value {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{value}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", decimals(value, 1_000, 3)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", decimals(value, 1_000_000, 6)),
        _ => {
            let minutes = value / 60_000_000_000;
            let seconds = decimals(value % 60_000_000_000, 1_000_000_000, 9);
            let mut text = sign.to_owned();
            if minutes >= 60 {
                let _ = write!(text, "{}h", minutes / 60);
            }
            if minutes > 0 {
                let _ = write!(text, "{}m", minutes % 60);
            }
            text + &seconds + "s"
        }
    }
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

    #[test]
    fn durations_are_read_and_written() {
        for (text, nanos, shown) in [
            ("1h30m", 5_400_000_000_000, "1h30m0s"),
            ("-1.5s", -1_500_000_000, "-1.5s"),
            ("1500ns", 1500, "1.5µs"),
            ("0", 0, "0s"),
        ] {
            assert_eq!(parse_duration(text), Some(nanos));
            assert_eq!(format_duration(nanos), shown);
        }
        for text in ["", "1", "x", "1x", ".s", "9223372036854775808ns"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
