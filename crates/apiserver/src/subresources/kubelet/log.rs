//! What is asked of a pod's log, checked before anybody looks for the pod.

use http::header::{CACHE_CONTROL, HeaderValue};
use http::{Response, StatusCode};
use meta::field::Error;
use meta::gvk::GroupKind;
use meta::{Status, go, time};
use telemetry::trace;

use crate::handler::context::RequestContext;
use crate::transport::body::Body;

const POSITIVE: &str = "must be greater than 0";

pub(super) fn check(ctx: &RequestContext<'_>) -> Result<(), Status> {
    let number = |name| {
        let asked = ctx.query.get(name).map(go::parse_int).transpose();
        asked.map_err(|error| Status::bad_request(error.to_string()))
    };
    let (lines, bytes) = (number("tailLines")?, number("limitBytes")?);
    let seconds = number("sinceSeconds")?;
    let since = ctx.query.get("sinceTime").filter(|it| !it.is_empty());
    if let Some(Err(error)) = since.map(time::Time::parse) {
        return Err(Status::bad_request(error.to_string()));
    }
    let mut errors = Vec::new();
    if let Some(lines) = lines.filter(|it| *it < 0) {
        let detail = "must be greater than or equal to 0";
        errors.push(Error::invalid("tailLines", lines, detail));
    }
    if let Some(bytes) = bytes.filter(|it| *it < 1) {
        errors.push(Error::invalid("limitBytes", bytes, POSITIVE));
    }
    match seconds {
        Some(_) if since.is_some() => {
            let detail = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            errors.push(Error::forbidden("[]", detail));
        }
        Some(seconds) if seconds < 1 => {
            errors.push(Error::invalid("sinceSeconds", seconds, POSITIVE));
        }
        _ => {}
    }
    // Behind a gate that is off.
    if ctx.query.get("stream").is_some() {
        errors.push(Error::forbidden("stream", "may not be specified"));
    }
    if errors.is_empty() {
        return Ok(());
    }
    let kind = GroupKind::new("", "PodLogOptions");
    Err(Status::invalid(&kind, &ctx.info.name, &errors))
}

/// The log of what never ran.
pub(super) fn nothing() -> Response<Body> {
    trace::event("About to write a response");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let private = HeaderValue::from_static("no-cache, private");
    response.headers_mut().insert(CACHE_CONTROL, private);
    trace::event("Writing http response done");
    response
}
