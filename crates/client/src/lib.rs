//! A small HTTP client: one request, one answer that is bounded in size and time.
//!
//! **Invariant:** knows URLs, TLS and bytes; nothing of Kubernetes, nothing of telemetry.

mod tls;

use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, Request, StatusCode, Uri, Version};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;

pub use tls::{Roots, Trust};

/// The most that is read of an answer.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// What went wrong on the way; an answer that says no is none of these.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0} is no http or https URL")]
    Url(String),
    #[error("{0}")]
    Trust(String),
    #[error("connect to {0}: {1}")]
    Connect(String, std::io::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("read the answer: {0}")]
    Answer(String),
    #[error("no answer within {0:?}")]
    Timeout(Duration),
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trailers: HeaderMap,
}

/// One server, and the connection to it as long as it lasts.
#[derive(Debug)]
pub struct Client {
    host: String,
    port: u16,
    tls: Option<tls::Connector>,
    version: Version,
    timeout: Duration,
    connection: Mutex<Option<Connection>>,
}

#[derive(Debug)]
enum Connection {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Client {
    /// For the server of a URL. `version` is 1.1, or 2 without asking first; `timeout` holds for each request.
    pub fn new(
        url: &Uri,
        trust: &Trust,
        version: Version,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let wrong = || Error::Url(url.to_string());
        let host = url.host().ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let (tls, port) = match url.scheme_str() {
            Some("http") => (None, 80),
            Some("https") => (Some(tls::Connector::new(host, trust, version)?), 443),
            _ => return Err(wrong()),
        };
        Ok(Self {
            host: host.to_owned(),
            port: url.port_u16().unwrap_or(port),
            tls,
            version,
            timeout,
            connection: Mutex::default(),
        })
    }

    /// Sends a request whose URL is whole. A connection that was kept and has gone is replaced by a new one.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Answer, Error> {
        let work = async {
            let mut kept = self.connection.lock().await;
            if let Some(connection) = kept.take()
                && let Ok(ready) = connection.ready().await
            {
                let (answer, connection) = ready.send(request).await?;
                *kept = Some(connection);
                return Ok(answer);
            }
            let connection = self.connect().await?;
            let (answer, connection) = connection.send(request).await?;
            *kept = Some(connection);
            Ok(answer)
        };
        match tokio::time::timeout(self.timeout, work).await {
            Ok(done) => done,
            Err(_) => Err(Error::Timeout(self.timeout)),
        }
    }

    async fn connect(&self) -> Result<Connection, Error> {
        let Self { host, port, .. } = self;
        let failed = |error| Error::Connect(format!("{host}:{port}"), error);
        let stream = TcpStream::connect((&**host, *port)).await.map_err(failed)?;
        // A request is one small write; waiting to fill a packet would only delay it.
        _ = stream.set_nodelay(true);
        match &self.tls {
            None => self.handshake(stream).await,
            Some(tls) => {
                let connector = TlsConnector::from(tls.config.clone());
                let stream = connector.connect(tls.name.clone(), stream).await;
                self.handshake(stream.map_err(failed)?).await
            }
        }
    }

    async fn handshake<S>(&self, stream: S) -> Result<Connection, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let stream = TokioIo::new(stream);
        // Either ends when its sender is dropped, or the other end closes.
        if self.version == Version::HTTP_2 {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
            tokio::spawn(connection);
            Ok(Connection::Two(sender))
        } else {
            let (sender, connection) = http1::handshake(stream).await?;
            tokio::spawn(connection);
            Ok(Connection::One(sender))
        }
    }
}

impl Connection {
    async fn ready(mut self) -> Result<Self, Error> {
        match &mut self {
            Self::One(sender) => sender.ready().await?,
            Self::Two(sender) => sender.ready().await?,
        }
        Ok(self)
    }

    async fn send(mut self, request: Request<Bytes>) -> Result<(Answer, Self), Error> {
        let mut request = request.map(Full::new);
        let response = match &mut self {
            Self::Two(sender) => sender.send_request(request).await?,
            Self::One(sender) => {
                // HTTP/1 names the host in a header and only the path in its first line.
                let url = std::mem::take(request.uri_mut());
                let host = url.authority().map_or("", |it| it.as_str());
                let host = http::HeaderValue::try_from(host);
                let host = host.map_err(|_| Error::Url(url.to_string()))?;
                request.headers_mut().insert(HOST, host);
                let path = url.path_and_query().cloned();
                *request.uri_mut() = path.map_or_else(|| Uri::from_static("/"), Uri::from);
                sender.send_request(request).await?
            }
        };
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| Error::Answer(error.to_string()))?;
        let trailers = body.trailers().cloned().unwrap_or_default();
        let answer = Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.to_bytes(),
            trailers,
        };
        Ok((answer, self))
    }
}
