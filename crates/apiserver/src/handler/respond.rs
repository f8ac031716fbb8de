//! Responses, and the texts of errors.

use std::collections::HashSet;

use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Response, StatusCode};
use meta::Status;
use telemetry::trace::Role;

use crate::catalog::Resource;
use crate::handler::context::RequestContext;
use crate::handler::{render, serialize};
use crate::request::Query;
use crate::request::negotiate::{self, Accepted, FORMATS, Format, Offer, View};
use crate::transport::body::Body;

/// These two, Audit-Id, two of priority and fairness, and Date and Content-Length, which hyper adds. A map that has to grow
/// for the last of them costs more than all of them.
const USUAL_HEADERS: usize = 7;

pub(crate) fn ok(content_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    with_code(StatusCode::OK, content_type, body)
}

pub(crate) fn with_code(
    code: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    let headers = response.headers_mut();
    *headers = HeaderMap::with_capacity(USUAL_HEADERS);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    let private = HeaderValue::from_static("no-cache, private");
    headers.insert(CACHE_CONTROL, private);
    response
}

/// An error, as far as the client understands it.
pub(crate) fn failed(status: &Status, headers: &HeaderMap, query: &Query) -> Response<Body> {
    error(status, headers, query, Role::Answer)
}

/// The same where no API answers: it has no version.
pub(crate) fn refused(status: &Status, headers: &HeaderMap, query: &Query) -> Response<Body> {
    error(status, headers, query, Role::Document)
}

fn error(status: &Status, headers: &HeaderMap, query: &Query, role: Role) -> Response<Body> {
    let header = text(headers, &ACCEPT);
    let accepted = header.and_then(|it| negotiate::accept(Some(it), Offer::PLAIN));
    let accepted = Accepted {
        view: View::Whole,
        pretty: negotiate::wants_pretty(query.get("pretty"), text(headers, &USER_AGENT)),
        format: accepted.map_or(Format::Json, |it| it.format),
    };
    let value = status.to_value();
    let made = serialize::written(role, || render::encode(&value, accepted));
    let (format, body) = match made {
        Ok(body) => (accepted.format, body),
        Err(_) => (Format::Json, Bytes::from(json::to_vec(&value)).into()),
    };
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = with_code(code, format.content_type(), body);
    if let Some(seconds) = status.retry_after_seconds() {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// What the client takes of objects, or the refusal that lists what there is.
pub(crate) fn accept(ctx: &RequestContext<'_>, views: bool) -> Result<Accepted, Status> {
    let offer = Offer {
        views,
        protobuf: ctx.resource.custom.is_none(),
    };
    of_headers(ctx.headers, ctx.query, offer)
}

/// Metadata is asked for by another name of a list than of an object.
pub(crate) fn fits(ctx: &RequestContext<'_>, accepted: Accepted, list: bool) -> Result<(), Status> {
    let text = match accepted.view {
        View::Metadata(_) if list => "PartialObjectMetadata, but the requested object is a list",
        View::MetadataList(_) if !list => {
            "PartialObjectMetadataList, but the requested object is not a list"
        }
        _ => return Ok(()),
    };
    let kind = go_type(&ctx.resource, list);
    let text = format!("you requested {text} ({kind})");
    Err(Status::failure(
        406,
        meta::status::Reason::NotAcceptable,
        text,
    ))
}

/// As upstream's code names it.
pub(crate) fn go_type(resource: &Resource, list: bool) -> String {
    let list = if list { "List" } else { "" };
    if resource.custom.is_some() {
        return format!("*unstructured.Unstructured{list}");
    }
    let package = match &*resource.group {
        "" | "events.k8s.io" => "core",
        "internal.apiserver.k8s.io" => "apiserverinternal",
        other => other.split('.').next().unwrap_or_default(),
    };
    format!("*{package}.{}{list}", resource.kind)
}

pub(crate) fn of_headers(
    headers: &HeaderMap,
    query: &Query,
    offer: Offer,
) -> Result<Accepted, Status> {
    let header = text(headers, &ACCEPT);
    let mut accepted = negotiate::accept(header, offer).ok_or_else(|| match header {
        Some(header) if !negotiate::names_format(header) => unrepresentable(FORMATS),
        _ => Status::not_acceptable(FORMATS),
    })?;
    let agent = text(headers, &USER_AGENT);
    if accepted.format == Format::Json {
        accepted.pretty |= negotiate::wants_pretty(query.get("pretty"), agent);
    }
    Ok(accepted)
}

/// None of the media types that the client names is one of ours.
pub(crate) fn unrepresentable(formats: &[&str]) -> Status {
    let text = format!(
        "406: Not Acceptable\n\nAvailable representations: {}",
        formats.join(", ")
    );
    let mut status = Status::failure(406, meta::status::Reason::NotAcceptable, text);
    status.details = Some(Box::default());
    status
}

/// As Go's mux answers.
pub(crate) fn page_not_found() -> Response<Body> {
    let mut response = with_code(
        StatusCode::NOT_FOUND,
        "text/plain; charset=utf-8",
        "404 page not found\n",
    );
    let headers = response.headers_mut();
    headers.insert(
        "x-content-type-options",
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// A resource that is not there, in a version that is.
pub(crate) fn no_resource() -> Status {
    let mut status = Status::failure(
        404,
        meta::status::Reason::NotFound,
        "the server could not find the requested resource",
    );
    status.details = Some(Box::default());
    status
}

pub(crate) fn not_allowed() -> Status {
    let mut status = Status::failure(
        405,
        meta::status::Reason::MethodNotAllowed,
        "the server does not allow this method on the requested resource",
    );
    status.details = Some(Box::default());
    status
}

/// Watches come as JSON lines or as protobuf frames.
pub(crate) fn accept_stream(ctx: &RequestContext<'_>) -> Result<Accepted, Status> {
    let mut accepted = accept(ctx, true)?;
    accepted.pretty = false;
    if accepted.format == Format::Yaml {
        return Err(Status::not_acceptable(&[
            "application/json;stream=watch",
            "application/vnd.kubernetes.protobuf;stream=watch",
        ]));
    }
    Ok(accepted)
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Warnings may have so many characters in all; if they have more, each is cut, and those that exceed it are left out.
const MAX_WARNINGS: usize = 4 * 1024;
const MAX_WARNING: usize = 256;

/// Warnings go in headers, quoted as RFC 7234 has it, each once.
pub(crate) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    let mut seen = HashSet::new();
    let once = (warnings.iter()).filter(|it| !it.is_empty() && seen.insert(it.as_str()));
    let once: Vec<&String> = once.collect();
    let length = |it: &str| it.chars().count();
    let cut = once.iter().map(|it| length(it)).sum::<usize>() > MAX_WARNINGS;
    let mut written = 0;
    for warning in once {
        if cut && written >= MAX_WARNINGS {
            return;
        }
        let most = if cut { MAX_WARNING } else { usize::MAX };
        let text: String = warning.chars().take(most).collect();
        written += length(&text);
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        let text: String = text.chars().filter(|it| !it.is_control()).collect();
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{text}\"").as_bytes()) {
            response.headers_mut().append("warning", value);
        }
    }
}
