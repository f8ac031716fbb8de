//! RFC 3339 as Go's `time.Parse` takes it, with its texts: an hour may have one digit, an offset may be of 24 hours.

use super::{Time, TimeError, civil};
use crate::go::quote;

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
const LAYOUT_MICRO: &str = "2006-01-02T15:04:05.000000Z07:00";

pub(super) fn parse(text: &str, micro: bool) -> Result<Time, TimeError> {
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
        let (text, rest) = (quote(text), quote(reader.rest));
        return Err(TimeError(format!(
            "parsing time {text}: extra text: {rest}"
        )));
    }
    reader.within(day, 1..=civil::days_in(year, month), "day")?;
    let seconds = civil::to_days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Ok(Time::from_unix(seconds - offset, nanos))
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    layout: &'static str,
}

impl Reader<'_> {
    fn cannot(&self, element: &str) -> TimeError {
        TimeError(format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quote(self.text),
            quote(self.layout),
            quote(self.rest),
            quote(element)
        ))
    }

    fn within(
        &self,
        number: i64,
        range: std::ops::RangeInclusive<i64>,
        what: &str,
    ) -> Result<(), TimeError> {
        if range.contains(&number) {
            return Ok(());
        }
        let text = quote(self.text);
        Err(TimeError(format!(
            "parsing time {text}: {what} out of range"
        )))
    }

    fn literal(&mut self, literal: &str) -> Result<(), TimeError> {
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

    fn number(&mut self, least: usize, most: usize, element: &str) -> Result<i64, TimeError> {
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
    fn offset(&mut self) -> Result<i64, TimeError> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let two = |from: usize| -> Option<i64> {
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
        self.within(hours, 0..=24, "time zone offset hour")?;
        self.within(minutes, 0..=60, "time zone offset minute")?;
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
                parse(text, false),
                Ok(Time::from_unix(seconds, nanos)),
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
            let error = parse(text, false).map_err(|it| it.to_string());
            assert_eq!(error, Err(want), "{text}");
        }
        let micro = [
            "2023-11-14T22:13:20Z",
            "2023-11-14T22:13:20.12345Z",
            "2023-11-14T22:13:20.1234567Z",
        ];
        for text in micro {
            assert!(parse(text, true).is_err(), "{text}");
        }
    }
}
