//! One connection to a webhook: HTTP/1.1 over TLS, as upstream asks of all but local ones.

use std::sync::Arc;

use bytes::Bytes;
use client::interim;
use egress::{Dialer, tls};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, Request};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use telemetry::trace;
use tokio_rustls::TlsConnector;

use super::{Answer, MAX_ANSWER_BYTES};

#[derive(Debug)]
pub(super) struct Connection(SendRequest<Full<Bytes>>);

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// Nobody at the other end has begun to work on it.
    #[error("EOF")]
    Closed,
    #[error("{0}")]
    Http(interim::Error),
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

impl Connection {
    pub(super) async fn open(
        dialer: &Dialer,
        (host, port): (&str, u16),
        name: ServerName<'static>,
        config: &Arc<ClientConfig>,
    ) -> Result<Self, String> {
        let stream = dial(dialer, host, port).await?;
        let connector = TlsConnector::from(config.clone());
        let stream = connector.connect(name, stream).await;
        let stream = stream.map_err(|error| tls::said(&error))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        // Ends when the sender is dropped, or the other end closes.
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    pub(super) fn is_open(&self) -> bool {
        !self.0.is_closed()
    }

    /// The answer, with the connection if it can be used again.
    pub(super) async fn send(
        mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<(Answer, Option<Self>), Error> {
        if self.0.ready().await.is_err() {
            return Err(Error::Closed);
        }
        let response = match interim::send(&mut self.0, request).await {
            Ok(response) => response,
            Err(interim::Error::Http(error))
                if error.is_canceled() || error.is_incomplete_message() =>
            {
                return Err(Error::Closed);
            }
            Err(error) => return Err(Error::Http(error)),
        };
        let (parts, body) = response.into_parts();
        let body = match Limited::new(body, MAX_ANSWER_BYTES).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Err(Error::TooLarge),
            Err(error) => return Err(Error::Body(error.to_string())),
        };
        let text = |name: &HeaderName| text(&parts.headers, name);
        let answer = Answer {
            code: parts.status.as_u16(),
            content_type: text(&CONTENT_TYPE).to_owned(),
            retry_after: text(&RETRY_AFTER).parse().unwrap_or(0),
            body,
        };
        let open = self.is_open();
        Ok((answer, open.then_some(self)))
    }
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
