//! Durations as Go's `time` package reads and writes them: `300ms`, `1m30s`, `-1.5h`.

use std::fmt::Write as _;

use crate::go::quote;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    #[error("time: invalid duration {}", quote(.0))]
    Invalid(String),
    #[error("time: missing unit in duration {}", quote(.0))]
    MissingUnit(String),
    #[error("time: unknown unit {} in duration {}", quote(.0), quote(.1))]
    UnknownUnit(String, String),
}

/// Go counts nanoseconds in 64 bits, of which the lowest number has one more.
const LIMIT: u64 = 1 << 63;

/// `time.ParseDuration`, in nanoseconds.
pub fn parse(text: &str) -> Result<i64, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let within = |it: Option<u64>| it.filter(|it| *it <= LIMIT).ok_or_else(invalid);
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (decimals, after) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        if whole.is_empty() && decimals.is_empty() {
            return Err(invalid());
        }
        let number = if whole.is_empty() {
            0
        } else {
            within(whole.parse().ok())?
        };
        let end = after.find(|it: char| it == '.' || it.is_ascii_digit());
        let (name, after) = after.split_at(end.unwrap_or(after.len()));
        rest = after;
        let unit: u64 = match name {
            "" => return Err(DurationError::MissingUnit(text.to_owned())),
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            other => {
                return Err(DurationError::UnknownUnit(
                    other.to_owned(),
                    text.to_owned(),
                ));
            }
        };
        let value = within(number.checked_mul(unit))?;
        let value = within(value.checked_add(fraction(decimals, unit)))?;
        total = within(u64::checked_add(total, value))?;
    }
    if negative {
        return Ok(0_i64.wrapping_sub_unsigned(total));
    }
    i64::try_from(total).map_err(|_| invalid())
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// Of a unit. Digits beyond what a number holds are dropped.
fn fraction(decimals: &str, unit: u64) -> u64 {
    let (mut part, mut scale) = (0_u64, 1.0_f64);
    for digit in decimals.bytes() {
        let next = part
            .checked_mul(10)
            .and_then(|it| it.checked_add(u64::from(digit - b'0')));
        match next.filter(|it| *it <= LIMIT) {
            Some(next) => (part, scale) = (next, scale * 10.0),
            None => break,
        }
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as Go computes it"
    )]
    let part = (part as f64 * (unit as f64 / scale)) as u64;
    part
}

/// `Duration.String`: `1h30m0s`, `1.5µs`.
pub fn format(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let value = nanos.unsigned_abs();
    let decimals = |value: u64, unit: u64| {
        let width = unit.ilog10() as usize;
        let fraction = format!("{:0width$}", value % unit);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{}{point}{fraction}", value / unit)
    };
    match value {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{value}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", decimals(value, 1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", decimals(value, 1_000_000)),
        _ => {
            let minutes = value / 60_000_000_000;
            let mut text = sign.to_owned();
            if minutes >= 60 {
                _ = write!(text, "{}h", minutes / 60);
            }
            if minutes > 0 {
                _ = write!(text, "{}m", minutes % 60);
            }
            text + &decimals(value % 60_000_000_000, 1_000_000_000) + "s"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_go_reads_them() {
        let good = [
            ("0", 0),
            ("1s", 1_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("300ms", 300_000_000),
            ("+5s", 5_000_000_000),
            ("-5s", -5_000_000_000),
            ("-1.5s", -1_500_000_000),
            (".5s", 500_000_000),
            ("1500ns", 1_500),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
            ("0.9223372036854775807h", 3_320_413_933_267),
        ];
        for (text, nanos) in good {
            assert_eq!(parse(text), Ok(nanos), "{text}");
        }
        let bad = [
            ("", r#"time: invalid duration """#),
            ("abc", r#"time: invalid duration "abc""#),
            ("-", r#"time: invalid duration "-""#),
            (".s", r#"time: invalid duration ".s""#),
            ("3", r#"time: missing unit in duration "3""#),
            ("3d", r#"time: unknown unit "d" in duration "3d""#),
            ("99999999h", r#"time: invalid duration "99999999h""#),
            (
                "9223372036854775808ns",
                r#"time: invalid duration "9223372036854775808ns""#,
            ),
        ];
        for (text, want) in bad {
            let found = parse(text).map_err(|it| it.to_string());
            assert_eq!(found, Err(want.to_owned()), "{text}");
        }
    }

    #[test]
    fn as_go_writes_them() {
        for (nanos, want) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (20_000_000, "20ms"),
            (27_000_000_000, "27s"),
            (90_500_000_000, "1m30.5s"),
            (60_500_000_000, "1m0.5s"),
            (7_200_000_000_000, "2h0m0s"),
            (-1_500_000_000, "-1.5s"),
            (5_400_000_000_000, "1h30m0s"),
        ] {
            assert_eq!(format(nanos), want);
        }
    }
}
