//! RFC 3339 as Go's `time.Parse` takes it, with its texts: an hour may have one digit, an offset may be of 24 hours.

use std::fmt::Write as _;

use crate::civil::{self, DateTime};
use crate::go::quote;

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
const LAYOUT_MICRO: &str = "2006-01-02T15:04:05.000000Z07:00";

/// A point in time, and the offset that it is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Since 1970, also before it.
    pub seconds: i64,
    pub nanos: u32,
    /// Seconds east of Greenwich.
    pub offset: i32,
}

/// What Go says of a text that is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    #[error("parsing time {} as {}: cannot parse {} as {}", quote(.text), quote(.layout), quote(.rest), quote(.element))]
    Layout {
        text: String,
        layout: &'static str,
        rest: String,
        element: &'static str,
    },
    #[error("parsing time {}: {part} out of range", quote(.text))]
    OutOfRange { text: String, part: &'static str },
    #[error("parsing time {}: extra text: {}", quote(.text), quote(.rest))]
    ExtraText { text: String, rest: String },
}

/// As `RFC3339`, which takes a fraction of any length.
pub fn parse(text: &str) -> Result<Timestamp, TimeError> {
    read(text, false)
}

/// As `metav1.MicroTime`, which wants six digits of a fraction.
pub fn parse_micro(text: &str) -> Result<Timestamp, TimeError> {
    read(text, true)
}

impl Timestamp {
    /// As `RFC3339Nano`: with as many digits of the second as there are.
    pub fn to_rfc3339(self) -> String {
        let it = DateTime::from_unix(self.seconds + i64::from(self.offset));
        format(it, self.nanos, self.offset / 60)
    }
}

/// The same for a date and a time of day that were read by other rules. The offset is in minutes.
pub fn format(it: DateTime, nanos: u32, offset: i32) -> String {
    let mut text = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        it.year, it.month, it.day, it.hour, it.minute, it.second
    );
    if nanos > 0 {
        let fraction = format!(".{nanos:09}");
        text.push_str(fraction.trim_end_matches('0'));
    }
    if offset == 0 {
        text.push('Z');
        return text;
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.unsigned_abs();
    _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    text
}

fn read(text: &str, micro: bool) -> Result<Timestamp, TimeError> {
    let mut reader = Reader {
        text,
        rest: text,
        layout: if micro { LAYOUT_MICRO } else { LAYOUT },
    };
    let year = reader.number(4, 4, "2006")?;
    reader.literal("-")?;
    let month = reader.number(2, 2, "01")?;
    reader.within(month, 1..=12, "month")?;
    reader.literal("-")?;
    let day = reader.number(2, 2, "02")?;
    reader.literal("T")?;
    let hour = reader.number(1, 2, "15")?;
    reader.within(hour, 0..=23, "hour")?;
    reader.literal(":")?;
    let minute = reader.number(2, 2, "04")?;
    reader.within(minute, 0..=59, "minute")?;
    reader.literal(":")?;
    let second = reader.number(2, 2, "05")?;
    reader.within(second, 0..=59, "second")?;
    let nanos = reader.fraction(micro)?;
    let offset = reader.offset()?;
    if !reader.rest.is_empty() {
        return Err(TimeError::ExtraText {
            text: text.to_owned(),
            rest: reader.rest.to_owned(),
        });
    }
    reader.within(day, 1..=civil::days_in(year, month), "day")?;
    let date = DateTime {
        year,
        month,
        day,
        hour,
        minute,
        second,
    };
    Ok(Timestamp {
        seconds: date.to_unix() - i64::from(offset),
        nanos,
        offset,
    })
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    layout: &'static str,
}

impl Reader<'_> {
    fn cannot(&self, element: &'static str) -> TimeError {
        TimeError::Layout {
            text: self.text.to_owned(),
            layout: self.layout,
            rest: self.rest.to_owned(),
            element,
        }
    }

    fn within(
        &self,
        number: i64,
        range: std::ops::RangeInclusive<i64>,
        part: &'static str,
    ) -> Result<(), TimeError> {
        if range.contains(&number) {
            return Ok(());
        }
        Err(TimeError::OutOfRange {
            text: self.text.to_owned(),
            part,
        })
    }

    fn literal(&mut self, literal: &'static str) -> Result<(), TimeError> {
        match self.rest.strip_prefix(literal) {
            Some(rest) => self.rest = rest,
            None => return Err(self.cannot(literal)),
        }
        Ok(())
    }

    fn digits(&self) -> usize {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit);
        digits.count()
    }

    fn number(
        &mut self,
        least: usize,
        most: usize,
        element: &'static str,
    ) -> Result<i64, TimeError> {
        let length = self.digits().min(most);
        if length < least {
            return Err(self.cannot(element));
        }
        let (digits, rest) = self.rest.split_at(length);
        let number = digits.parse().map_err(|_| self.cannot(element))?;
        self.rest = rest;
        Ok(number)
    }

    /// Nanoseconds; digits beyond are dropped.
    fn fraction(&mut self, micro: bool) -> Result<u32, TimeError> {
        let whole = self.rest;
        let Some(rest) = whole.strip_prefix(['.', ',']) else {
            return if micro {
                Err(self.cannot(".000000"))
            } else {
                Ok(0)
            };
        };
        self.rest = rest;
        let length = self.digits();
        if length == 0 || micro && length < 6 {
            self.rest = whole;
            return if micro {
                Err(self.cannot(".000000"))
            } else {
                Ok(0)
            };
        }
        let taken = if micro { 6 } else { length };
        let (digits, rest) = rest.split_at(taken);
        self.rest = rest;
        let digits = format!("{digits:0<9.9}");
        Ok(digits.parse().unwrap_or(0))
    }

    /// Seconds east of Greenwich.
    fn offset(&mut self) -> Result<i32, TimeError> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let two = |from: usize| -> Option<i32> {
            let digits = self.rest.get(from..from + 2)?;
            let all = digits.bytes().all(|it| it.is_ascii_digit());
            all.then(|| digits.parse().ok()).flatten()
        };
        let sign = match self.rest.as_bytes() {
            [b'+', _, _, b':', ..] => 1,
            [b'-', _, _, b':', ..] => -1,
            _ => return Err(self.cannot("Z07:00")),
        };
        let (Some(hours), Some(minutes)) = (two(1), two(4)) else {
            return Err(self.cannot("Z07:00"));
        };
        self.within(hours.into(), 0..=24, "time zone offset hour")?;
        self.within(minutes.into(), 0..=60, "time zone offset minute")?;
        self.rest = &self.rest[6..];
        Ok(sign * (hours * 3600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What go1.26 made of them.
    #[test]
    fn as_go_does() {
        let base = 1_700_000_000;
        let good = [
            ("2023-11-14T22:13:20Z", base, 0),
            ("2023-11-14T22:13:20.5Z", base, 500_000_000),
            ("2023-11-14T22:13:20,25Z", base, 250_000_000),
            ("2023-11-14T22:13:20.1234567891Z", base, 123_456_789),
            ("2023-11-15T00:13:20+02:00", base, 0),
            ("2023-11-14T16:43:20-05:30", base, 0),
            ("2023-11-15T22:13:20+24:00", base, 0),
            ("2023-11-14T1:00:00Z", 1_699_923_600, 0),
        ];
        for (text, seconds, nanos) in good {
            assert_eq!(
                parse(text).map(|it| (it.seconds, it.nanos)),
                Ok((seconds, nanos)),
                "{text}"
            );
        }
        let layout = r#"as "2006-01-02T15:04:05Z07:00": cannot parse"#;
        let bad = [
            ("", format!(r#"parsing time "" {layout} "" as "2006""#)),
            (
                "now",
                format!(r#"parsing time "now" {layout} "now" as "2006""#),
            ),
            (
                "2023-1-01T00:00:00Z",
                format!(r#"parsing time "2023-1-01T00:00:00Z" {layout} "1-01T00:00:00Z" as "01""#),
            ),
            (
                "2023-01-01 00:00:00Z",
                format!(r#"parsing time "2023-01-01 00:00:00Z" {layout} " 00:00:00Z" as "T""#),
            ),
            (
                "2023-01-01T00:00:00",
                format!(r#"parsing time "2023-01-01T00:00:00" {layout} "" as "Z07:00""#),
            ),
            (
                "2023-01-01T00:00:00.Z",
                format!(r#"parsing time "2023-01-01T00:00:00.Z" {layout} ".Z" as "Z07:00""#),
            ),
            (
                "2023-13-01T00:00:00Z",
                r#"parsing time "2023-13-01T00:00:00Z": month out of range"#.into(),
            ),
            (
                "2023-02-29T00:00:00Z",
                r#"parsing time "2023-02-29T00:00:00Z": day out of range"#.into(),
            ),
            (
                "2023-01-01T24:00:00Z",
                r#"parsing time "2023-01-01T24:00:00Z": hour out of range"#.into(),
            ),
            (
                "2023-01-01T00:00:00+25:00",
                r#"parsing time "2023-01-01T00:00:00+25:00": time zone offset hour out of range"#
                    .into(),
            ),
            (
                "2023-01-01T00:00:00Zx",
                r#"parsing time "2023-01-01T00:00:00Zx": extra text: "x""#.into(),
            ),
        ];
        for (text, want) in bad {
            let error = parse(text).map_err(|it| it.to_string());
            assert_eq!(error, Err(want), "{text}");
        }
        let micro = [
            "2023-11-14T22:13:20Z",
            "2023-11-14T22:13:20.12345Z",
            "2023-11-14T22:13:20.1234567Z",
        ];
        for text in micro {
            assert!(parse_micro(text).is_err(), "{text}");
        }
    }
    #[test]
    fn written_with_the_offset_that_was_read() {
        for text in [
            "2024-02-29T12:30:45.123456789Z",
            "0001-01-01T00:00:00Z",
            "2011-01-01T00:00:00+01:00",
            "2011-01-01T00:00:00.5-00:30",
        ] {
            assert_eq!(parse(text).unwrap().to_rfc3339(), text);
        }
    }
}
