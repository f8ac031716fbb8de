//! What the collector says.

use std::convert::Infallible;
use std::io::Read as _;
use std::sync::Arc;

use bytes::Bytes;
use flate2::bufread::GzDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use prost::Message as _;

use super::listen::Stream;
use super::{Behaviour, Received, Shared, otlp};

pub(crate) type Answer = BoxBody<Bytes, Infallible>;

/// Why a request is not taken: gRPC's code, HTTP's, and a text.
type Refusal = (u32, u16, &'static str);

pub(super) async fn connection(shared: Arc<Shared>, stream: Box<dyn Stream>) {
    shared.lock().connections += 1;
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(answer(&shared, request).await) }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    // A client may leave as it likes.
    let _ = builder
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(shared: &Shared, request: Request<Incoming>) -> Response<Answer> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Response::new(Full::default().boxed());
    };
    let grpc = is_grpc(&parts.headers);
    let received = read(parts.uri.path(), &parts.headers, &body.to_bytes());
    let (verdict, behaviour) = take(shared, received);
    held(shared).await;
    match verdict {
        Ok(()) => taken(&behaviour, grpc),
        Err(refusal) => refused(refusal, &behaviour, grpc),
    }
}

/// Decides under the lock, so that counts are exact, and remembers.
fn take(shared: &Shared, received: Option<Received>) -> (Result<(), Refusal>, Behaviour) {
    let mut state = shared.lock();
    state.requests += 1;
    let behaviour = state.behaviour.clone();
    let verdict = match received {
        None => Err((3, 400, "unreadable")),
        Some(it)
            if behaviour
                .require
                .is_some_and(|(name, value)| it.headers.get(name).is_none_or(|it| it != value)) =>
        {
            Err((16, 401, "missing header"))
        }
        Some(_) if behaviour.refuse => Err((3, 400, "told to refuse")),
        Some(_) if behaviour.fail > 0 => {
            state.behaviour.fail -= 1;
            Err((14, 503, "told to fail"))
        }
        Some(it) => {
            state.received.push(it);
            Ok(())
        }
    };
    shared.changed.notify_all();
    (verdict, behaviour)
}

async fn held(shared: &Shared) {
    loop {
        let released = shared.released.notified();
        if !shared.lock().behaviour.hold {
            return;
        }
        released.await;
    }
}

pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    kind.is_some_and(|it| it == "application/grpc")
}

/// Without compression and framing, if it has what it should have of them.
pub(crate) fn message(headers: &HeaderMap, body: &Bytes) -> Option<Bytes> {
    let (packed, message) = if is_grpc(headers) {
        let length = u32::from_be_bytes(body.get(1..5)?.try_into().ok()?);
        let message = body.slice(5..);
        if message.len() != usize::try_from(length).ok()? {
            return None;
        }
        (body[0] == 1, message)
    } else {
        let packed = headers.get(CONTENT_ENCODING).is_some_and(|it| it == "gzip");
        (packed, body.clone())
    };
    if !packed {
        return Some(message);
    }
    let mut unpacked = Vec::new();
    GzDecoder::new(&message[..])
        .read_to_end(&mut unpacked)
        .ok()?;
    Some(unpacked.into())
}

fn read(path: &str, headers: &HeaderMap, body: &Bytes) -> Option<Received> {
    let message = message(headers, body)?;
    if path.contains("race") {
        otlp::TracesRequest::decode(message.clone()).ok()?;
    }
    Some(Received {
        path: path.to_owned(),
        headers: headers.clone(),
        message,
    })
}

fn taken(behaviour: &Behaviour, grpc: bool) -> Response<Answer> {
    let rejected = i64::try_from(behaviour.reject).unwrap_or(i64::MAX);
    let partial = (rejected > 0).then(|| otlp::PartialSuccess {
        rejected,
        error_message: "told to reject".into(),
    });
    let message = otlp::Response {
        partial_success: partial,
        padding: vec![0; behaviour.padding],
    };
    let message = message.encode_to_vec();
    if !grpc {
        let mut response = Response::new(Full::from(message).boxed());
        let kind = HeaderValue::from_static("application/x-protobuf");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        return response;
    }
    in_grpc(0, &message)
}

/// A message, and gRPC's code behind it.
pub(crate) fn in_grpc(code: u32, message: &[u8]) -> Response<Answer> {
    let length = u32::try_from(message.len()).expect("it is small");
    let mut frame = vec![0];
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(message);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", code.into());
    let body = Full::from(frame).with_trailers(std::future::ready(Some(Ok(trailers))));
    let mut response = Response::new(body.boxed());
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn refused(refusal: Refusal, behaviour: &Behaviour, grpc: bool) -> Response<Answer> {
    let (code, status, text) = refusal;
    if grpc {
        // Without a message the status is among the headers.
        let mut response = Response::new(Full::default().boxed());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert("grpc-status", code.into());
        headers.insert("grpc-message", HeaderValue::from_static(text));
        return response;
    }
    let mut response = Response::new(Full::from(text).boxed());
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    if let Some(seconds) = behaviour.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}
