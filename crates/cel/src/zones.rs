//! Offsets of named time zones.

/// How many seconds a zone is east of UTC at a point in time; nothing if there is no such zone.
pub(crate) fn offset(zone: &str, seconds: i64) -> Option<i32> {
    match zone {
        "" | "UTC" => Some(0),
        "Local" => Some(0),
        _ => find(zone, seconds),
    }
}

fn find(_zone: &str, _seconds: i64) -> Option<i32> {
    None
}
