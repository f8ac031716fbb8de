//! OTLP as others send it: traces, by gRPC and by HTTP, in protobuf or JSON, packed with gzip or not.
//!
//! The server that uses this authorizes senders before. Bodies are bounded before and after they are unpacked.

mod answer;
mod body;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use hyper::body::Incoming;

pub use self::answer::{Answer, Refusal};

use self::answer::Form;
use crate::export::Signal;
use crate::otlp;
use crate::recent::{Recent, Taken};

/// Of a message, packed or not: what collectors take by default.
pub const MAX_BYTES: usize = 4 << 20;
/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Takes in what a request brings.
pub async fn answer(recent: &Arc<Recent>, request: Request<Incoming>) -> Response<Answer> {
    let (parts, body) = request.into_parts();
    let form = match Form::of(&parts.headers) {
        Ok(form) => form,
        Err(refusal) => return refusal.answer(Form::Protobuf),
    };
    if parts.method != Method::POST {
        let mut response = Refusal::method().answer(form);
        let post = HeaderValue::from_static("POST");
        response.headers_mut().insert(ALLOW, post);
        return response;
    }
    take(recent, &parts, form, body)
        .await
        .unwrap_or_else(|refusal| refusal.answer(form))
}

/// Takes in a whole body, in the encoding that the headers name.
pub fn take_in(recent: &Recent, headers: &HeaderMap, body: &Bytes) -> Response<Answer> {
    let form = match Form::of(headers) {
        Ok(form) => form,
        Err(refusal) => return refusal.answer(Form::Protobuf),
    };
    match keep(recent, headers, form, body) {
        Ok(taken) => answer::taken(form, &taken),
        Err(refusal) => refusal.answer(form),
    }
}

/// Says no to a request that has not been looked at.
pub fn refuse(headers: &HeaderMap, refusal: &Refusal) -> Response<Answer> {
    refusal.answer(Form::of(headers).unwrap_or(Form::Protobuf))
}

async fn take(
    recent: &Arc<Recent>,
    parts: &Parts,
    form: Form,
    body: Incoming,
) -> Result<Response<Answer>, Refusal> {
    is_here(parts.uri.path(), form)?;
    let read = tokio::time::timeout(PATIENCE, body::read(body, form.frame()));
    let body = read.await.map_err(|_| Refusal::late())??;
    let (recent, headers) = (recent.clone(), parts.headers.clone());
    // It may be a lot to do for a thread that serves others.
    let work = tokio::task::spawn_blocking(move || take_in(&recent, &headers, &body));
    work.await.map_err(|_| Refusal::internal())
}

fn keep(recent: &Recent, headers: &HeaderMap, form: Form, body: &Bytes) -> Result<Taken, Refusal> {
    let message = body::unpack(headers, form, body)?;
    let taken = if form == Form::Json {
        let wrong = |error: json::ParseError| otlp::Error::Json(error.to_string());
        let value = json::parse(&message).map_err(wrong);
        let request = value.and_then(|it| otlp::from_json(&it));
        request.and_then(|it| recent.receive(&it))
    } else {
        recent.receive(&message)
    };
    taken.map_err(|error| Refusal::invalid(error.to_string()))
}

/// Traces are taken, and nothing else.
fn is_here(path: &str, form: Form) -> Result<(), Refusal> {
    let found = match form {
        Form::Grpc => path == Signal::Traces.method(),
        Form::Protobuf | Form::Json => path == Signal::Traces.path(),
    };
    if found {
        return Ok(());
    }
    let other = [Signal::Metrics, Signal::Logs];
    let is_other = |it: &Signal| path == it.method() || path == it.path();
    Err(Refusal::nothing_here(other.iter().any(is_other)))
}

fn content_type(headers: &HeaderMap) -> &str {
    let found = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let found = found.unwrap_or_default().split(';').next();
    found.unwrap_or_default().trim()
}

#[cfg(test)]
mod tests;
