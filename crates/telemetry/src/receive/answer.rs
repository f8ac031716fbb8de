//! Responses to senders, in the encoding of their request.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use json::{Object, Value};

use super::content_type;
use crate::protobuf::Message;
use crate::recent::Taken;

/// The body of an answer.
pub type Answer = BoxBody<Bytes, Infallible>;

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");

/// How a sender speaks, and is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Grpc,
    Protobuf,
    Json,
}

impl Form {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        match content_type(headers) {
            "application/grpc" | "application/grpc+proto" => Ok(Self::Grpc),
            "application/x-protobuf" => Ok(Self::Protobuf),
            "application/json" => Ok(Self::Json),
            _ => Err(Refusal::media()),
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Grpc => "application/grpc",
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// What is around a message.
    pub(super) fn frame(self) -> usize {
        match self {
            Self::Grpc => 5,
            Self::Protobuf | Self::Json => 0,
        }
    }
}

/// A no, with gRPC's code and HTTP's.
#[derive(Clone, Debug)]
pub struct Refusal {
    grpc: u16,
    http: StatusCode,
    message: String,
}

impl Refusal {
    fn new(grpc: u16, http: StatusCode, message: impl Into<String>) -> Self {
        Self {
            grpc,
            http,
            message: message.into(),
        }
    }

    /// 401: the sender is not authenticated.
    pub fn unauthenticated(message: String) -> Self {
        Self::new(16, StatusCode::UNAUTHORIZED, message)
    }

    /// 403: the sender is not authorized.
    pub fn denied(message: String) -> Self {
        Self::new(7, StatusCode::FORBIDDEN, message)
    }

    pub(super) fn invalid(message: String) -> Self {
        Self::new(3, StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn too_large() -> Self {
        let text = format!("a message has at most {} bytes", super::MAX_BYTES);
        Self::new(8, StatusCode::PAYLOAD_TOO_LARGE, text)
    }

    pub(super) fn late() -> Self {
        let text = "the body did not come in time";
        Self::new(4, StatusCode::REQUEST_TIMEOUT, text)
    }

    pub(super) fn internal() -> Self {
        Self::new(13, StatusCode::INTERNAL_SERVER_ERROR, "internal error")
    }

    pub(super) fn method() -> Self {
        Self::new(
            12,
            StatusCode::METHOD_NOT_ALLOWED,
            "traces are sent by POST",
        )
    }

    pub(super) fn media() -> Self {
        let text = "application/grpc, application/x-protobuf and application/json are understood";
        Self::new(3, StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
    }

    pub(super) fn encoding() -> Self {
        let text = "gzip and identity are understood";
        Self::new(12, StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
    }

    pub(super) fn nothing_here(is_other_signal: bool) -> Self {
        let text = if is_other_signal {
            "only traces are received here, neither metrics nor logs"
        } else {
            "traces are received at /v1/traces and by TraceService/Export, nothing else is here"
        };
        Self::new(12, StatusCode::NOT_FOUND, text)
    }

    pub(super) fn answer(&self, form: Form) -> Response<Answer> {
        if form == Form::Grpc {
            // Without a message the status is among the headers.
            let mut response = with(form, Full::default().boxed());
            let headers = response.headers_mut();
            headers.insert(GRPC_STATUS, self.grpc.into());
            if let Ok(message) = HeaderValue::try_from(percent(&self.message)) {
                headers.insert(GRPC_MESSAGE, message);
            }
            let known = HeaderValue::from_static("identity,gzip");
            headers.insert(ACCEPT_ENCODING, known);
            return response;
        }
        // A `google.rpc.Status`.
        let body = if form == Form::Json {
            let mut status = Object::new();
            status.push("code", i64::from(self.grpc));
            status.push("message", &*self.message);
            json::to_vec(&status.into())
        } else {
            let mut status = Message::default();
            status.number(1, self.grpc.into());
            status.text(2, &self.message);
            status.0
        };
        let mut response = with(form, Full::from(body).boxed());
        *response.status_mut() = self.http;
        response
    }
}

/// An `ExportTraceServiceResponse`.
pub(super) fn taken(form: Form, taken: &Taken) -> Response<Answer> {
    let rejected = i64::try_from(taken.rejected).unwrap_or(i64::MAX);
    if form == Form::Json {
        let mut response = Object::new();
        if rejected > 0 {
            let mut partial = Object::new();
            partial.push("rejectedSpans", rejected.to_string());
            partial.push("errorMessage", taken.said);
            response.push("partialSuccess", Value::from(partial));
        }
        let body = json::to_vec(&response.into());
        return with(form, Full::from(body).boxed());
    }
    let mut message = Message::default();
    if rejected > 0 {
        message.message(1, |partial| {
            partial.number(1, rejected.unsigned_abs());
            partial.text(2, taken.said);
        });
    }
    if form == Form::Protobuf {
        return with(form, Full::from(message.0).boxed());
    }
    let length = u32::try_from(message.0.len()).unwrap_or(u32::MAX);
    let mut frame = vec![0];
    frame.extend_from_slice(&length.to_be_bytes());
    frame.append(&mut message.0);
    let mut trailers = HeaderMap::new();
    trailers.insert(GRPC_STATUS, 0.into());
    let body = Full::from(frame).with_trailers(std::future::ready(Some(Ok(trailers))));
    with(form, body.boxed())
}

fn with(form: Form, body: Answer) -> Response<Answer> {
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static(form.content_type());
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// As gRPC has texts in headers.
fn percent(text: &str) -> String {
    let stays = |it| (b' '..=b'~').contains(&it) && it != b'%';
    encoding::percent::encode(text.as_bytes(), stays)
}
