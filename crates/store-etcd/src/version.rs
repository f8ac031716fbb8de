//! What a member's version can do.

/// Whether a progress notification asked for comes after all events it covers.
///
/// Before these releases it overtook them (etcd issue 15220), or never came for a watch without events (17507).
/// Kubernetes draws the same line.
pub(crate) fn orders_progress(version: &str) -> bool {
    let mut parts = version.split(['.', '-', '+']).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) =
        (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    match (major, minor) {
        (3, 4) => patch >= 31,
        (3, 5) => patch >= 13,
        _ => (major, minor) >= (3, 6),
    }
}

#[cfg(test)]
mod tests {
    use super::orders_progress;

    #[test]
    fn only_releases_with_both_fixes_count() {
        for sound in ["3.4.31", "3.5.13", "3.5.29", "3.6.0", "3.6.0-rc.1", "4.0.0"] {
            assert!(orders_progress(sound), "{sound}");
        }
        for unsound in ["3.3.27", "3.4.23", "3.4.30", "3.5.0", "3.5.12", "", "x.y.z"] {
            assert!(!orders_progress(unsound), "{unsound}");
        }
    }
}
