//! OTLP over gRPC: one unary call, written over HTTP/2 by hand. It takes less than a generated client would.

use std::time::Duration;

use base64::Engine as _;
use bytes::Bytes;
use encoding::gzip;
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;

use super::message::{Message, Pieces};
use super::resource::decode;
use super::retry::{Again, Failure};
use super::transport::{MAX_ANSWER, shortened};
use super::{Signal, Target};
use crate::protobuf::{self, Field};

pub(super) fn request(
    target: &Target,
    signal: Signal,
    message: &Message,
) -> Result<Request<Pieces>, http::Error> {
    let scheme = if target.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let authority = target.place.authority();
    let mut request = Request::post(format!("{scheme}://{authority}{}", signal.method()))
        .header(CONTENT_TYPE, "application/grpc")
        .header(TE, "trailers")
        .header(
            "grpc-timeout",
            format!("{}m", target.timeout.as_millis().min(99_999_999)),
        );
    if target.gzip {
        request = request.header("grpc-encoding", "gzip");
    }
    request.body(framed(message, target.gzip))
}

/// A flag for compression, the length, the message.
fn framed(message: &Message, packed: bool) -> Pieces {
    let compressed = packed.then(|| gzip::pack(&message.concat()));
    let length = compressed.as_ref().map_or(message.len(), Vec::len);
    let mut frame = vec![u8::from(packed)];
    // A batch is far smaller; what is not cannot be sent, and the collector says so.
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    frame.extend_from_slice(&length.to_be_bytes());
    match compressed {
        Some(compressed) => [frame, compressed].concat().into(),
        None => message.body(frame),
    }
}

/// The message of the answer.
pub(super) async fn answer(response: Response<Incoming>) -> Result<Bytes, Failure> {
    let (parts, body) = response.into_parts();
    if parts.status != StatusCode::OK {
        return Err(no_grpc(parts.status));
    }
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    let body = body.map_err(|error| Failure::lost(format!("reading the answer: {error}")))?;
    let trailers = body.trailers().cloned().unwrap_or_default();
    // An answer without a message has its status among the headers.
    let ends = if trailers.contains_key("grpc-status") {
        &trailers
    } else {
        &parts.headers
    };
    status(ends)?;
    let body = body.to_bytes();
    match body.first() {
        None => Ok(body),
        Some(0) if body.len() >= 5 => Ok(body.slice(5..)),
        // Compressed, though nobody asked: what was accepted is not known, the rest of the answer says OK.
        Some(_) => Ok(Bytes::new()),
    }
}

/// What a proxy in between says, as gRPC reads it.
fn no_grpc(status: StatusCode) -> Failure {
    let text = format!("unexpected HTTP status code received from server: {status}");
    match status.as_u16() {
        429 | 502 | 503 | 504 => Failure::lost(text),
        _ => Failure::refused(text),
    }
}

fn status(ends: &HeaderMap) -> Result<(), Failure> {
    let text = |name: &str| ends.get(name).and_then(|it| it.to_str().ok());
    let Some(code) = text("grpc-status") else {
        return Err(Failure::lost("the answer ended without a status"));
    };
    let code: u32 = code.parse().unwrap_or(2);
    if code == 0 {
        return Ok(());
    }
    let message = decode(text("grpc-message").unwrap_or_default());
    let said = format!(
        "rpc error: code = {} desc = {}",
        name(code),
        shortened(&message)
    );
    let wait = text("grpc-status-details-bin").and_then(retry_info);
    let again = match (code, wait) {
        // What OTLP calls retryable; the collector's own limits only with a time.
        (1 | 4 | 8 | 10 | 11 | 14 | 15, Some(wait)) => Again::After(wait),
        (1 | 4 | 10 | 11 | 14 | 15, None) => Again::Sometime,
        _ => Again::Never,
    };
    Err(Failure { text: said, again })
}

/// As gRPC for Go calls them.
fn name(code: u32) -> &'static str {
    const NAMES: [&str; 17] = [
        "OK",
        "Canceled",
        "Unknown",
        "InvalidArgument",
        "DeadlineExceeded",
        "NotFound",
        "AlreadyExists",
        "PermissionDenied",
        "ResourceExhausted",
        "FailedPrecondition",
        "Aborted",
        "OutOfRange",
        "Unimplemented",
        "Internal",
        "Unavailable",
        "DataLoss",
        "Unauthenticated",
    ];
    let index = usize::try_from(code).unwrap_or(usize::MAX);
    NAMES.get(index).copied().unwrap_or("Unknown")
}

/// `google.rpc.RetryInfo` among the details of a `google.rpc.Status`.
fn retry_info(header: &str) -> Option<Duration> {
    let engine = base64::prelude::BASE64_STANDARD_NO_PAD;
    let status = engine.decode(header.trim_end_matches('=')).ok()?;
    protobuf::fields(&status).find_map(|(number, field)| {
        let Field::Bytes(any) = field else {
            return None;
        };
        let url = protobuf::bytes_at(any, 1)?;
        if number != 3 || !url.ends_with(b"/google.rpc.RetryInfo") {
            return None;
        }
        let delay = protobuf::bytes_at(protobuf::bytes_at(any, 2)?, 1)?;
        // Negative numbers are large ones here; who waits for as long gives up.
        let nanos = protobuf::number_at(delay, 2).min(999_999_999);
        let nanos = u32::try_from(nanos).ok()?;
        Some(Duration::new(protobuf::number_at(delay, 1), nanos))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{Place, Protocol};

    fn ends(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| {
                let name = http::HeaderName::from_static(name);
                (name, value.parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn what_may_be_tried_again() {
        let said = |code: &str| status(&ends(&[("grpc-status", code)])).map_err(|it| it.again);
        assert_eq!(said("0"), Ok(()));
        for code in ["1", "4", "10", "11", "14", "15"] {
            assert_eq!(said(code), Err(Again::Sometime), "{code}");
        }
        for code in ["2", "3", "5", "7", "8", "12", "13", "16", "99", "x"] {
            assert_eq!(said(code), Err(Again::Never), "{code}");
        }
        assert_eq!(status(&ends(&[])).unwrap_err().again, Again::Sometime);
    }

    #[test]
    fn the_collector_says_when() {
        let mut details = protobuf::Message::default();
        details.number(1, 8);
        details.message(3, |any| {
            any.text(1, "type.googleapis.com/google.rpc.RetryInfo");
            any.message(2, |info| {
                info.message(1, |delay| {
                    delay.number(1, 3);
                    delay.number(2, 500_000_000);
                });
            });
        });
        let details = base64::prelude::BASE64_STANDARD_NO_PAD.encode(details.0);
        let failure = status(&ends(&[
            ("grpc-status", "8"),
            ("grpc-message", "too%20much"),
            ("grpc-status-details-bin", &details),
        ]));
        let failure = failure.unwrap_err();
        assert_eq!(failure.again, Again::After(Duration::from_millis(3500)));
        assert_eq!(
            failure.text,
            "rpc error: code = ResourceExhausted desc = too much"
        );
    }

    #[test]
    fn requests() {
        let place = Place::Tcp {
            host: "collector".into(),
            port: 4317,
        };
        let mut target = Target::new(place, Protocol::Grpc);
        target.timeout = Duration::from_millis(2500);
        target.gzip = true;
        let request = request(&target, Signal::Traces, &Bytes::new().into()).unwrap();
        let url =
            "http://collector:4317/opentelemetry.proto.collector.trace.v1.TraceService/Export";
        assert_eq!(request.uri(), url);
        let text = |name: &str| request.headers()[name].to_str().unwrap();
        assert_eq!(text("grpc-timeout"), "2500m");
        assert_eq!(text("te"), "trailers");
        assert_eq!(text("content-type"), "application/grpc");
        assert_eq!(text("grpc-encoding"), "gzip");
    }

    #[test]
    fn frames() {
        let message = Message::new(b"a".to_vec(), vec!["b".into(), "".into(), "c".into()]);
        let all = |packed| framed(&message, packed).iter().cloned().collect::<Vec<_>>();
        assert_eq!(all(false).concat(), [0, 0, 0, 0, 3, b'a', b'b', b'c']);
        let packed = all(true).concat();
        assert_eq!(
            packed[..5],
            [1, 0, 0, 0, u8::try_from(packed.len() - 5).unwrap()]
        );
        assert_eq!(gzip::unpack(&packed[5..], 100).unwrap(), b"abc");
    }
}
