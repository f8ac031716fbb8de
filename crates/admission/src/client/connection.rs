//! A call to a webhook over one connection: HTTP/1.1 over TLS, as upstream asks of all but local ones.

use bytes::Bytes;
use egress::Dialer;
use egress::http::{BodyError, Connection, SendError, Version, read};
use egress::tls::{self, Secured};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, Request};
use http_body_util::Full;
use telemetry::trace;

use super::{Answer, MAX_ANSWER_BYTES};

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// Nobody at the other end has begun to work on it.
    #[error("EOF")]
    Closed,
    #[error("{0}")]
    Http(SendError),
    #[error("the answer has more than {MAX_ANSWER_BYTES} bytes")]
    TooLarge,
    #[error("unexpected error when reading response body. Please retry. Original error: {0}")]
    Body(String),
}

impl Error {
    pub(super) fn is_stale(&self) -> bool {
        matches!(self, Self::Closed)
    }
}

pub(super) async fn open(
    dialer: &Dialer,
    (host, port): (&str, u16),
    secured: &Secured,
) -> Result<Connection<Full<Bytes>>, String> {
    let stream = dial(dialer, host, port).await?;
    let stream = tls::connect(secured, stream).await;
    let stream = stream.map_err(|error| tls::said(&error))?;
    let made = Connection::over(Version::Http1, stream).await;
    made.map_err(|error| error.to_string())
}

/// The whole answer; the connection can then be used again.
pub(super) async fn send(
    connection: &mut Connection<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Answer, Error> {
    let response = connection.send(request).await.map_err(|error| {
        if error.was_not_sent() || error.was_hung_up() {
            Error::Closed
        } else {
            Error::Http(error)
        }
    })?;
    let (parts, body) = response.into_parts();
    let body = read(body, MAX_ANSWER_BYTES).await;
    let body = body.map_err(|error| match error {
        BodyError::TooLarge => Error::TooLarge,
        BodyError::Http(why) => Error::Body(why),
    })?;
    let text = |name: &HeaderName| text(&parts.headers, name);
    Ok(Answer {
        code: parts.status.as_u16(),
        content_type: text(&CONTENT_TYPE).to_owned(),
        retry_after: text(&RETRY_AFTER).parse().unwrap_or(0),
        body,
    })
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    let value = headers.get(name).and_then(|it| it.to_str().ok());
    value.unwrap_or_default()
}

/// With a span where a proxy is in between, named as upstream's.
async fn dial(dialer: &Dialer, host: &str, port: u16) -> Result<egress::Stream, String> {
    let span = dialer.transport().map(|it| {
        trace::span(match it {
            "uds" => "Proxy via http_connect protocol over uds",
            _ => "Proxy via http_connect protocol over tcp",
        })
    });
    let dialed = dialer.dial(host, port).await;
    if let Some(span) = &span {
        span.set("address", || format!("{host}:{port}"));
        if dialed.is_err() {
            span.fail();
        }
    }
    dialed.map_err(|error| error.to_string())
}
