//! How long ago things happened, in words for people.

use json::Value;
use meta::time::{Time, human_duration};

/// Nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now(pub(crate) i128);

impl Now {
    pub(crate) fn new(now: Time) -> Self {
        Self(now.unix_nanos())
    }

    /// Time since an RFC 3339 timestamp; `<unknown>` where there is none.
    pub(crate) fn since(self, timestamp: Option<&Value>) -> String {
        match timestamp.and_then(Value::as_str).and_then(parse) {
            Some(then) => human(self.0 - then),
            None => "<unknown>".into(),
        }
    }

    pub(crate) fn age(self, object: &Value) -> String {
        self.since(object.at(&["metadata", "creationTimestamp"]))
    }
}

/// A timestamp as nanoseconds since 1970.
pub(crate) fn parse(text: &str) -> Option<i128> {
    Time::parse(text).ok().map(Time::unix_nanos)
}

pub(crate) fn human(nanoseconds: i128) -> String {
    human_duration(nanoseconds)
}
