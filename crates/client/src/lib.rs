//! A small HTTP client: one request, one answer that is bounded in size and time.
//!
//! **Invariant:** knows URLs, TLS and bytes; nothing of Kubernetes, nothing of telemetry.

pub mod interim;
mod tls;

use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
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
}

/// One server, and the connection to it as long as it lasts.
#[derive(Debug)]
pub struct Client {
    host: String,
    port: u16,
    tls: Option<tls::Connector>,
    timeout: Duration,
    connection: Mutex<Option<Connection>>,
}

type Connection = http1::SendRequest<Full<Bytes>>;

impl Client {
    /// For the server of a URL. `timeout` holds for each request.
    pub fn new(url: &Uri, trust: &Trust, timeout: Duration) -> Result<Self, Error> {
        let wrong = || Error::Url(url.to_string());
        let host = url.host().ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let (tls, port) = match url.scheme_str() {
            Some("http") => (None, 80),
            Some("https") => (Some(tls::Connector::new(host, trust)?), 443),
            _ => return Err(wrong()),
        };
        Ok(Self {
            host: host.to_owned(),
            port: url.port_u16().unwrap_or(port),
            tls,
            timeout,
            connection: Mutex::default(),
        })
    }

    /// Sends a request whose URL is whole. A connection that was kept and has gone is replaced by a new one.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Answer, Error> {
        let work = async {
            let mut kept = self.connection.lock().await;
            let mut ready = kept.take();
            if let Some(connection) = &mut ready
                && connection.ready().await.is_err()
            {
                ready = None;
            }
            let mut connection = match ready {
                Some(connection) => connection,
                None => self.connect().await?,
            };
            let answer = send(&mut connection, request).await?;
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
            None => handshake(stream).await,
            Some(tls) => {
                let connector = TlsConnector::from(tls.config.clone());
                let stream = connector.connect(tls.name.clone(), stream).await;
                handshake(stream.map_err(failed)?).await
            }
        }
    }
}

async fn handshake<S>(stream: S) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends when its sender is dropped, or the other end closes.
    tokio::spawn(connection);
    Ok(sender)
}

async fn send(connection: &mut Connection, request: Request<Bytes>) -> Result<Answer, Error> {
    let mut request = request.map(Full::new);
    // HTTP/1 names the host in a header and only the path in its first line.
    let url = std::mem::take(request.uri_mut());
    let host = url.authority().map_or("", |it| it.as_str());
    let host = http::HeaderValue::try_from(host);
    let host = host.map_err(|_| Error::Url(url.to_string()))?;
    request.headers_mut().insert(HOST, host);
    let path = url.path_and_query().cloned();
    *request.uri_mut() = path.map_or_else(|| Uri::from_static("/"), Uri::from);
    let answer = interim::send(connection, request).await;
    let answer = answer.map_err(|error| match error {
        interim::Error::Http(error) => Error::Http(error),
        error @ interim::Error::TooMany => Error::Answer(error.to_string()),
    });
    let (parts, body) = answer?.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
    let body = body.map_err(|error| Error::Answer(error.to_string()))?;
    Ok(Answer {
        status: parts.status,
        headers: parts.headers,
        body: body.to_bytes(),
    })
}
