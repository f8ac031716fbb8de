//! The body of a response, written within its span.

use http_body::Body as _;
use meta::Status;
use telemetry::trace::{self, Role, Scope};

use crate::transport::body::Body;

/// What a verb answers.
pub(crate) fn serialize<T: Into<Body>>(
    make: impl FnOnce() -> Result<T, Status>,
) -> Result<Body, Status> {
    trace::event("About to write a response");
    let made = written(Role::Answer, make);
    trace::event("Writing http response done");
    made
}

/// An answer's body. A list that goes out in pieces is only begun here.
pub(crate) fn written<T: Into<Body>>(
    role: Role,
    make: impl FnOnce() -> Result<T, Status>,
) -> Result<Body, Status> {
    let span = trace::span_as("SerializeObject", Scope::Component, role);
    let made = make().map(Into::into);
    match made.as_ref().map(|it| it.size_hint().exact()) {
        Ok(Some(size)) => {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            trace::event_with("About to start writing response", "size", size);
            trace::event_with("Write call succeeded", "size", size);
        }
        Ok(None) => trace::event("About to start writing response"),
        Err(_) => span.fail(),
    }
    made
}
