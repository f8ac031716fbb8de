//! Names of time zones.

/// One a line, in order.
const ZONES: &str = include_str!("zones.txt");

pub(super) fn is_known(name: &str) -> bool {
    name == "UTC" || ZONES.lines().any(|it| it == name)
}
