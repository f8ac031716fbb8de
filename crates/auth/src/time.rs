//! Times as Kubernetes writes them.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Seconds since 1970 of an RFC 3339 text.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    Some(time.unix_timestamp())
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads() {
        assert_eq!(super::parse("1970-01-01T00:01:00Z"), Some(60));
        assert_eq!(super::parse("1970-01-01T02:01:00.9+02:00"), Some(60));
        assert_eq!(super::parse("yesterday"), None);
    }
}
