//! Durations as Go writes them: `300ms`, `1m30s`, `-1.5h`.

use std::time::Duration;

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

/// What is less than nothing comes back as nothing.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut nanos = 0_f64;
    while !rest.is_empty() {
        let figure = |it: char| it.is_ascii_digit() || it == '.';
        let end = rest.find(|it| !figure(it)).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        // One point at most, and some digit.
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let end = after.find(figure).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        nanos += number
            * match unit {
                "" => return Err(DurationError::MissingUnit(text.to_owned())),
                "ns" => 1.0,
                "us" | "\u{b5}s" | "\u{3bc}s" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                "m" => 60e9,
                "h" => 3600e9,
                other => {
                    return Err(DurationError::UnknownUnit(
                        other.to_owned(),
                        text.to_owned(),
                    ));
                }
            };
        rest = after;
    }
    // Go counts nanoseconds in 64 bits.
    if nanos > 9.223_372_036_854_775e18 {
        return Err(invalid());
    }
    Ok(if negative {
        Duration::ZERO
    } else {
        Duration::from_secs_f64(nanos / 1e9)
    })
}

/// As Go's `Duration.String` writes it: `27s`, `1m30s`, `1.5ms`.
pub fn go_duration_string(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let decimal = |unit: u128, name: &str| {
        let (whole, rest) = (nanos / unit, nanos % unit);
        let width = unit.ilog10() as usize;
        let digits = format!("{whole}.{rest:0width$}");
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        format!("{digits}{name}")
    };
    let seconds = duration.as_secs();
    match nanos {
        0 => "0s".into(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => decimal(1_000, "µs"),
        1_000_000..1_000_000_000 => decimal(1_000_000, "ms"),
        _ if seconds < 60 => decimal(1_000_000_000, "s"),
        _ => {
            let rest = Duration::new(seconds % 60, duration.subsec_nanos());
            let rest = if rest < Duration::from_secs(1) && !rest.is_zero() {
                format!("{}s", rest.as_secs_f64())
            } else {
                go_duration_string(rest)
            };
            match seconds / 3600 {
                0 => format!("{}m{rest}", seconds / 60),
                hours => format!("{hours}h{}m{rest}", seconds / 60 % 60),
            }
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
            ("1s", 1_000),
            ("1m30s", 90_000),
            ("1.5h", 5_400_000),
            ("300ms", 300),
            ("+5s", 5_000),
            ("-5s", 0),
            (".5s", 500),
        ];
        for (text, millis) in good {
            let want = Duration::from_millis(millis);
            assert_eq!(parse_duration(text), Ok(want), "{text}");
        }
        let bad = [
            ("", r#"time: invalid duration """#),
            ("abc", r#"time: invalid duration "abc""#),
            ("-", r#"time: invalid duration "-""#),
            (".s", r#"time: invalid duration ".s""#),
            ("3", r#"time: missing unit in duration "3""#),
            ("3d", r#"time: unknown unit "d" in duration "3d""#),
            ("99999999h", r#"time: invalid duration "99999999h""#),
        ];
        for (text, want) in bad {
            let found = parse_duration(text).map_err(|it| it.to_string());
            assert_eq!(found, Err(want.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_duration_is_written_as_go_writes_it() {
        let nanos = |it| go_duration_string(Duration::from_nanos(it));
        assert_eq!(nanos(0), "0s");
        assert_eq!(nanos(1), "1ns");
        assert_eq!(nanos(1_500), "1.5µs");
        assert_eq!(nanos(20_000_000), "20ms");
        assert_eq!(nanos(27_000_000_000), "27s");
        assert_eq!(nanos(90_500_000_000), "1m30.5s");
        assert_eq!(nanos(60_500_000_000), "1m0.5s");
        assert_eq!(nanos(7_200_000_000_000), "2h0m0s");
    }
}
