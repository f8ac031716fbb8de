//! The current time, in the formats of objects.

use meta::time::Time;

/// Now, to the second.
pub(crate) fn now() -> String {
    after(0)
}

pub(crate) fn after(seconds: i64) -> String {
    Time::from_unix(unix().saturating_add(seconds), 0).to_string()
}

pub(crate) fn unix() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // A clock before 1970 is no clock.
    since.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX))
}
