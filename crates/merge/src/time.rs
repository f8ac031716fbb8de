//! Times as RFC 3339 texts.

use std::borrow::Cow;

use encoding::civil::DateTime;
use encoding::rfc3339;

/// Seconds since 1970.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    Some(rfc3339::parse(text).ok()?.seconds)
}

/// Whole seconds, UTC: as the API server writes it.
pub(crate) fn normal(text: &str) -> Cow<'_, str> {
    if text.len() == 20 && text.ends_with('Z') {
        return Cow::Borrowed(text);
    }
    seconds(text).map_or(Cow::Borrowed(text), |seconds| {
        let it = DateTime::from_unix(seconds);
        Cow::Owned(rfc3339::format(it, 0, 0))
    })
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
