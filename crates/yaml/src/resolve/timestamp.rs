//! Timestamps: the four layouts go-yaml takes, read as Go's time.Parse reads them.

use encoding::civil::{self, DateTime};
use encoding::rfc3339;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanosecond: u32,
    /// Minutes east of Greenwich.
    offset: i32,
}

impl Timestamp {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let digits = bytes.iter().take_while(|it| it.is_ascii_digit()).count();
        if digits != 4 || bytes.get(4) != Some(&b'-') {
            return None;
        }
        let mut rest = Rest(&bytes[5..]);
        let mut it = Self {
            year: text[..4].parse().ok()?,
            month: rest.number()?,
            day: rest.after(b'-')?.number()?,
            hour: 0,
            minute: 0,
            second: 0,
            nanosecond: 0,
            offset: 0,
        };
        let days = || civil::days_in(it.year.into(), it.month.into());
        if !(1..=12).contains(&it.month) || !(1..=days()).contains(&it.day.into()) {
            return None;
        }
        match rest.0 {
            [] => return Some(it),
            [b'T' | b't', more @ ..] => {
                rest.0 = more;
                it.time(&mut rest)?;
                it.offset = rest.zone()?;
            }
            [b' ', more @ ..] => {
                let spaces = more.iter().take_while(|it| **it == b' ').count();
                rest.0 = &more[spaces..];
                it.time(&mut rest)?;
            }
            _ => return None,
        }
        rest.0.is_empty().then_some(it)
    }

    /// As Go's `%#v` shows a `time.Time`.
    pub(crate) fn go_syntax(&self) -> String {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        let month = (self.month as usize).checked_sub(1);
        let month = month.and_then(|it| MONTHS.get(it)).unwrap_or(&"");
        let zone = match self.offset {
            0 => "time.UTC",
            _ => "time.Location(\"\")",
        };
        format!(
            "time.Date({}, time.{month}, {}, {}, {}, {}, {}, {zone})",
            self.year, self.day, self.hour, self.minute, self.second, self.nanosecond
        )
    }

    fn time(&mut self, rest: &mut Rest<'_>) -> Option<()> {
        self.hour = rest.number()?;
        self.minute = rest.after(b':')?.number()?;
        self.second = rest.after(b':')?.number()?;
        self.nanosecond = rest.fraction();
        (self.hour < 24 && self.minute < 60 && self.second < 60).then_some(())
    }

    /// RFC 3339, as Go writes a time in JSON.
    pub(crate) fn to_rfc3339(self) -> String {
        let date = DateTime {
            year: self.year.into(),
            month: self.month.into(),
            day: self.day.into(),
            hour: self.hour.into(),
            minute: self.minute.into(),
            second: self.second.into(),
        };
        rfc3339::format(date, self.nanosecond, self.offset)
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// One or two digits.
    fn number(&mut self) -> Option<u32> {
        let len = self.0.iter().take(2).take_while(|it| it.is_ascii_digit());
        let (digits, rest) = self.0.split_at(len.count());
        self.0 = rest;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(self)
    }

    /// Digits behind a dot (or a comma, which Go takes too); those past the ninth are dropped.
    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', digits @ ..] = self.0 else {
            return 0;
        };
        let len = digits.iter().take_while(|it| it.is_ascii_digit()).count();
        if len == 0 {
            return 0;
        }
        let nine = (0..9).map(|i| {
            if i < len {
                u32::from(digits[i] - b'0')
            } else {
                0
            }
        });
        self.0 = &digits[len..];
        nine.fold(0, |sum, digit| sum * 10 + digit)
    }

    fn zone(&mut self) -> Option<i32> {
        match *self.0 {
            [b'Z', ref rest @ ..] => {
                self.0 = rest;
                Some(0)
            }
            [sign @ (b'+' | b'-'), a, b, b':', c, d, ref rest @ ..] => {
                let number = |a: u8, b: u8| {
                    let both = a.is_ascii_digit() && b.is_ascii_digit();
                    both.then(|| i32::from(a - b'0') * 10 + i32::from(b - b'0'))
                };
                let (hours, minutes) = (number(a, b)?, number(c, d)?);
                if hours > 24 || minutes > 60 {
                    return None;
                }
                self.0 = rest;
                let offset = hours * 60 + minutes;
                Some(if sign == b'-' { -offset } else { offset })
            }
            _ => None,
        }
    }
}
