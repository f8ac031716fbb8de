//! OTLP over HTTP/1.1, in protobuf.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use encoding::gzip;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, RETRY_AFTER};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;

use super::message::{Message, Pieces};
use super::retry::{Again, Failure};
use super::transport::{MAX_ANSWER, shortened};
use super::{Signal, Target};

pub(super) fn request(
    target: &Target,
    signal: Signal,
    message: &Message,
) -> Result<Request<Pieces>, http::Error> {
    let mut request = Request::post(target.path(signal))
        .header(HOST, target.place.authority())
        .header(CONTENT_TYPE, "application/x-protobuf");
    if target.gzip {
        request = request.header(CONTENT_ENCODING, "gzip");
        return request.body(gzip::pack(&message.concat()).into());
    }
    request.body(message.body(Vec::new()))
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
    let pause = after.and_then(|it| pause(it.trim(), SystemTime::now()));
    pause.map_or(Again::Sometime, Again::After)
}

/// Seconds, or the time of day: what is over already is no time at all.
fn pause(after: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = after.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = httpdate::parse_http_date(after).ok()?;
    Some(time.duration_since(now).unwrap_or_default())
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
    fn when_to_come_again() {
        // 06 Nov 1994 08:49:37, the example of RFC 9110, which has all three forms.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (after, seconds) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 09:49:37 GMT", Some(3600)),
            ("Sun Nov  6 08:49:38 1994", Some(1)),
            ("Sun, 06 Nov 1994 08:49:36 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
            ("1.5", None),
            ("", None),
        ] {
            assert_eq!(
                pause(after, now),
                seconds.map(Duration::from_secs),
                "{after}"
            );
        }
        let mut headers = HeaderMap::new();
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3600));
        headers.insert(RETRY_AFTER, date.parse().unwrap());
        let after = again(503, &headers);
        assert!(
            matches!(after, Again::After(it) if it > Duration::from_secs(1800)),
            "{after:?}"
        );
    }

    #[test]
    fn paths() {
        let place = Place::Tcp {
            host: "::1".into(),
            port: 4318,
        };
        let mut target = Target::new(place, Protocol::HttpProtobuf);
        let path = |target: &Target| {
            let request = request(target, Signal::Logs, &Bytes::new().into()).unwrap();
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
