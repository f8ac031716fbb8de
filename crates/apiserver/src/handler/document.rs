//! Responses that are documents of the server, and no objects of a resource.

use http::header::{ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::{Response, StatusCode};
use json::Value;
use meta::Status;
use telemetry::trace::Role;

use crate::handler::{render, respond, serialize};
use crate::request::NonResourceRequest;
use crate::request::negotiate::{Accepted, Format, Offer};
use crate::transport::body::Body;

/// A document that is shown in any format that objects are shown in.
pub(crate) fn objects(
    request: &NonResourceRequest<'_>,
    value: &Value,
) -> Result<Response<Body>, Status> {
    let accepted = respond::of_headers(request.headers, request.query, Offer::PLAIN)?;
    // Discovery is not served as protobuf; clients that prefer protobuf accept JSON too.
    let accepted = match accepted.format {
        Format::Protobuf => Accepted {
            format: Format::Json,
            ..accepted
        },
        _ => accepted,
    };
    let body = serialize::written(Role::Document, || render::encode(value, accepted))?;
    Ok(respond::ok(accepted.format.content_type(), body))
}

/// Bytes that change seldom: 304 if the client has them already.
pub(crate) fn tagged(
    request: &NonResourceRequest<'_>,
    content_type: &'static str,
    etag: &str,
    body: bytes::Bytes,
) -> Response<Body> {
    let known = request
        .headers
        .get(IF_NONE_MATCH)
        .and_then(|it| it.to_str().ok());
    let mut response = if known == Some(etag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        respond::ok(content_type, body)
    };
    let headers = response.headers_mut();
    headers.insert("cache-control", HeaderValue::from_static("public"));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(ETAG, etag);
    }
    response
}
