//! Times as Kubernetes writes them.

/// Seconds since 1970 of an RFC 3339 text.
pub(crate) fn parse(text: &str) -> Option<i64> {
    Some(encoding::rfc3339::parse(text).ok()?.seconds)
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
