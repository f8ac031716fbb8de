//! HTTP/1 requests that Go's server refuses before any handler runs: with its codes and its texts.

use std::borrow::Cow;

use encoding::percent;
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT, HOST, TRANSFER_ENCODING};
use http::{HeaderValue, Method, Request, Response, StatusCode, Version};
use hyper::ext::ReasonPhrase;

use crate::transport::body::Body;

/// The answer to a request that goes no further. RFC 9112, 3.2 on hosts: those before us may have understood another
/// one.
pub(crate) fn refuse<B>(request: &Request<B>) -> Option<Response<Body>> {
    let version = request.version();
    if version >= Version::HTTP_2 {
        return None;
    }
    let headers = request.headers();
    let hosts = headers.get_all(HOST).iter().count();
    if hosts > 1 || !is_escaped(request.uri().path()) {
        return Some(bad(""));
    }
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(first) = encodings.next()
        && !(encodings.next().is_none() && first.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        let code = StatusCode::NOT_IMPLEMENTED;
        return Some(plain(code, "Unsupported transfer encoding"));
    }
    if hosts == 0 && version == Version::HTTP_11 && *request.method() != Method::CONNECT {
        return Some(bad(": missing required Host header"));
    }
    if !headers.get(HOST).is_none_or(is_host) {
        return Some(bad(": malformed Host header"));
    }
    let expected = headers.get(EXPECT).map_or(&b""[..], HeaderValue::as_bytes);
    if !expected.is_empty() && !expected.eq_ignore_ascii_case(b"100-continue") {
        let mut response = plain(StatusCode::EXPECTATION_FAILED, "");
        response.headers_mut().remove(CONTENT_TYPE);
        return Some(response);
    }
    None
}

/// Any letter that may stand in a host, with a port or without; where it stands is not looked at.
fn is_host(host: &HeaderValue) -> bool {
    let is_fit = |it: &u8| it.is_ascii_alphanumeric() || b"!$%&()*+,-.:;=['_]~".contains(it);
    host.as_bytes().iter().all(is_fit)
}

/// Go says why in the status line, too.
fn bad(why: &'static str) -> Response<Body> {
    let code = StatusCode::BAD_REQUEST;
    let mut response = plain(code, format!("{code}{why}"));
    if !why.is_empty()
        && let Ok(reason) = ReasonPhrase::try_from(format!("Bad Request{why}").into_bytes())
    {
        response.extensions_mut().insert(reason);
    }
    response
}

fn plain(code: StatusCode, text: impl Into<String>) -> Response<Body> {
    let mut response = Response::new(text.into().into());
    *response.status_mut() = code;
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Whether all percent signs of a path are right.
fn is_escaped(path: &str) -> bool {
    percent_decode(path).is_some()
}

/// `None` if the percent signs are not right. What is no UTF-8 is nobody's name, and becomes U+FFFD.
pub(crate) fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    Some(match percent::decode(text.as_bytes()).ok()? {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(
            String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        ),
    })
}
