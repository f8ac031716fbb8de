//! OTLP over HTTP/1.1, in protobuf.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, RETRY_AFTER};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;

use super::retry::{Again, Failure};
use super::transport::{MAX_ANSWER, shortened};
use super::{Signal, Target, gzip};

pub(super) fn request(
    target: &Target,
    signal: Signal,
    body: &Bytes,
) -> Result<Request<Full<Bytes>>, http::Error> {
    let mut request = Request::post(target.path(signal))
        .header(HOST, target.place.authority())
        .header(CONTENT_TYPE, "application/x-protobuf");
    if target.gzip {
        request = request.header(CONTENT_ENCODING, "gzip");
        return request.body(Full::new(gzip::pack(body).into()));
    }
    request.body(Full::new(body.clone()))
}

pub(super) async fn answer(response: Response<Incoming>) -> Result<Bytes, Failure> {
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    if parts.status.is_success() {
        let body = body.map_err(|error| Failure::lost(format!("reading the answer: {error}")))?;
        let kind = parts.headers.get(CONTENT_TYPE);
        let protobuf = kind.is_some_and(|it| it.as_bytes().starts_with(b"application/x-protobuf"));
        let body = body.to_bytes();
        return Ok(if protobuf { body } else { Bytes::new() });
    }
    let body = body.map(http_body_util::Collected::to_bytes);
    let text = body.unwrap_or_default();
    let text = shortened(&String::from_utf8_lossy(&text));
    let said = format!("the collector answered {}: {text}", parts.status);
    Err(Failure {
        text: said,
        again: again(parts.status.as_u16(), &parts.headers),
    })
}

fn again(code: u16, headers: &HeaderMap) -> Again {
    if !matches!(code, 429 | 502 | 503 | 504) {
        return Again::Never;
    }
    let after = headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok());
    let seconds = after.and_then(|it| it.trim().parse::<u64>().ok());
    seconds.map_or(Again::Sometime, |it| Again::After(Duration::from_secs(it)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{Place, Protocol};

    #[test]
    fn what_may_be_tried_again() {
        let mut headers = HeaderMap::new();
        assert_eq!(again(503, &headers), Again::Sometime);
        assert_eq!(again(400, &headers), Again::Never);
        headers.insert(RETRY_AFTER, "7".parse().unwrap());
        assert_eq!(again(429, &headers), Again::After(Duration::from_secs(7)));
        assert_eq!(again(500, &headers), Again::Never);
    }

    #[test]
    fn paths() {
        let place = Place::Tcp {
            host: "::1".into(),
            port: 4318,
        };
        let mut target = Target::new(place, Protocol::HttpProtobuf);
        let path = |target: &Target| {
            let request = request(target, Signal::Logs, &Bytes::new()).unwrap();
            assert_eq!(request.headers()[HOST], "[::1]:4318");
            request.uri().to_string()
        };
        assert_eq!(path(&target), "/v1/logs");
        target.base = "/otlp/".into();
        assert_eq!(path(&target), "/otlp/v1/logs");
        target.path = Some("/x".into());
        assert_eq!(path(&target), "/x");
    }
}
