//! Times as RFC 3339 texts.

use std::borrow::Cow;

/// Seconds since 1970.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        text.get(from..to)?.parse().ok()
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let mut zone = text.get(19..)?;
    if let Some(fraction) = zone.strip_prefix('.') {
        zone = fraction.trim_start_matches(|it: char| it.is_ascii_digit());
    }
    let at = text.len() - zone.len();
    let offset = match zone.as_bytes().first()? {
        b'Z' | b'z' => 0,
        b'+' => number(at + 1, at + 3)? * 60 + number(at + 4, at + 6)?,
        b'-' => -(number(at + 1, at + 3)? * 60 + number(at + 4, at + 6)?),
        _ => return None,
    };
    // Days from civil: years begin in March, so that the leap day comes last.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days =
        y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (m * 153 + 2) / 5 + day
            - 1
            - 719_468;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second - offset * 60)
}

/// Whole seconds, UTC: as the API server writes it.
pub(crate) fn normal(text: &str) -> Cow<'_, str> {
    if text.len() == 20 && text.ends_with('Z') {
        return Cow::Borrowed(text);
    }
    seconds(text).map_or(Cow::Borrowed(text), |it| Cow::Owned(format(it)))
}

fn format(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = year + era * 400 + carry;
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::{normal, seconds};

    #[test]
    fn read_and_written() {
        for (text, expected, normalized) in [
            ("1970-01-01T00:00:00Z", Some(0), "1970-01-01T00:00:00Z"),
            (
                "2024-02-29T12:30:01Z",
                Some(1_709_209_801),
                "2024-02-29T12:30:01Z",
            ),
            (
                "2024-02-29T14:30:01.5+02:00",
                Some(1_709_209_801),
                "2024-02-29T12:30:01Z",
            ),
            (
                "2000-03-01T00:00:00-00:30",
                Some(951_870_600),
                "2000-03-01T00:30:00Z",
            ),
            ("yesterday", None, "yesterday"),
            ("2024-02-29T12:30:01", None, "2024-02-29T12:30:01"),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
            assert_eq!(normal(text), normalized, "{text}");
        }
    }
}
