//! Durations on the command line, as Go writes them: `5m`, `1h30m`, `1.5s`, and `0`.

use std::time::Duration;

pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("time: invalid duration {text:?}");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.');
        let (number, unit) = rest.split_at(end.ok_or_else(wrong)?);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let end = unit.find(|it: char| it.is_ascii_digit() || it == '.');
        let (unit, next) = unit.split_at(end.unwrap_or(unit.len()));
        seconds += number
            * match unit {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" | "μs" => 1e-6,
                "ns" => 1e-9,
                _ => return Err(wrong()),
            };
        rest = next;
    }
    if text.is_empty() {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_go_reads_them() {
        for (text, millis) in [
            ("0", 0),
            ("0s", 0),
            ("5m0s", 300_000),
            ("1h30m", 5_400_000),
            ("1.5s", 1500),
            ("20ms", 20),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "",
            "5",
            "m",
            "-5m",
            "5x",
            "1e3s",
            "..5s",
            "99999999999999999999h",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
