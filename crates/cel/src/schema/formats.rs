//! Strings with a format, as go-openapi's `strfmt` reads them.

use encoding::duration;

use crate::value::Timestamp;

const SECOND: i64 = 1_000_000_000;

/// `1h30m` as Go writes it, or `2 weeks` and the like.
pub(crate) fn duration(text: &str) -> Option<i64> {
    if let Ok(nanos) = duration::parse(text) {
        return Some(nanos);
    }
    let text = text.trim().to_lowercase();
    let digits = text.find(|it: char| !it.is_ascii_digit())?;
    let number: i64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim();
    let nanos = match unit {
        "ns" | "nano" | "nanos" => 1,
        "us" | "µs" | "micro" | "micros" => 1_000,
        "ms" | "milli" | "millis" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * SECOND,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600 * SECOND,
        "d" | "day" | "days" => 86_400 * SECOND,
        "w" | "wk" | "wks" | "week" | "weeks" => 604_800 * SECOND,
        _ => return None,
    };
    number.checked_mul(nanos)
}

/// RFC 3339, with or without fractions; an offset may be written without a colon.
pub(crate) fn date_time(text: &str) -> Result<Timestamp, String> {
    let wrong = || {
        format!(
            "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} as \"2006\""
        )
    };
    let upper = text.to_ascii_uppercase();
    match Timestamp::parse(&upper) {
        Some(Ok(it)) => Ok(it),
        Some(Err(why)) => Err(why.to_string()),
        None => Err(wrong()),
    }
}
