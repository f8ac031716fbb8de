//! A small client: one request, one answer that is bounded in size and time.

use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use http_body_util::Full;

use super::{Connection, Pool, SendError, Version, read};
use crate::tls::{Secured, TlsError, Trust};
use crate::{DialError, Dialer, tls};

/// The most that is read of an answer.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// A connection that nobody has used for longer is not used again.
const AGE: Duration = Duration::from_secs(90);

/// What went wrong on the way; an answer that says no is none of these.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0} is no http or https URL")]
    Url(String),
    #[error("{}", trusting(.0))]
    Trust(TlsError),
    #[error("connect to {address}: {}", connecting(.source))]
    Dial { address: String, source: DialError },
    #[error("connect to {0}: {1}")]
    Tls(String, std::io::Error),
    #[error("{0}")]
    Http(hyper::Error),
    #[error("read the answer: {0}")]
    Answer(String),
    #[error("no answer within {0:?}")]
    Timeout(Duration),
}

/// For people, not in Go's words.
fn trusting(error: &TlsError) -> String {
    match error {
        TlsError::ServerName(_) => error.to_string(),
        TlsError::Roots(why) | TlsError::Certificate(why) => why.to_string(),
        TlsError::Key(why) | TlsError::Identity(why) => format!("client certificate: {why}"),
        TlsError::Setup(why) => format!("whom to trust: {why}"),
    }
}

fn connecting(error: &DialError) -> String {
    match error {
        DialError::NoSuchHost {
            source: Some(error),
            ..
        }
        | DialError::Connect { source: error, .. } => error.to_string(),
        other => other.to_string(),
    }
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
    tls: Option<Secured>,
    timeout: Duration,
    pool: Pool<Full<Bytes>>,
}

impl Client {
    /// For the server of a URL, which is reached directly. `timeout` holds for each request.
    pub fn new(url: &Uri, trust: &Trust, timeout: Duration) -> Result<Self, Error> {
        let wrong = || Error::Url(url.to_string());
        let host = url.host().ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let (tls, port) = match url.scheme_str() {
            Some("http") => (None, 80),
            Some("https") => {
                let tls = Secured::new(trust, host, &[b"http/1.1"]).map_err(Error::Trust)?;
                (Some(tls), 443)
            }
            _ => return Err(wrong()),
        };
        Ok(Self {
            host: host.to_owned(),
            port: url.port_u16().unwrap_or(port),
            tls,
            timeout,
            pool: Pool::new(1, AGE),
        })
    }

    /// Sends a request whose URL is whole. A connection that was kept and has gone is replaced by a new one.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Answer, Error> {
        let work = async {
            let request = for_http1(request)?;
            if let Some(mut connection) = self.pool.take() {
                match connection.send(request.clone()).await {
                    Err(error) if error.was_not_sent() => {}
                    sent => return self.answer(connection, sent).await,
                }
            }
            let mut connection = self.connect().await?;
            let sent = connection.send(request).await;
            self.answer(connection, sent).await
        };
        match tokio::time::timeout(self.timeout, work).await {
            Ok(done) => done,
            Err(_) => Err(Error::Timeout(self.timeout)),
        }
    }

    async fn connect(&self) -> Result<Connection<Full<Bytes>>, Error> {
        let Self { host, port, .. } = self;
        let address = || format!("{host}:{port}");
        let dialed = Dialer::default().dial(host, *port).await;
        let mut stream = dialed.map_err(|source| Error::Dial {
            address: address(),
            source,
        })?;
        if let Some(secured) = &self.tls {
            let over = tls::connect(secured, stream).await;
            stream = over.map_err(|error| Error::Tls(address(), error))?;
        }
        let made = Connection::over(Version::Http1, stream).await;
        made.map_err(Error::Http)
    }

    async fn answer(
        &self,
        connection: Connection<Full<Bytes>>,
        sent: Result<http::Response<hyper::body::Incoming>, SendError>,
    ) -> Result<Answer, Error> {
        let sent = sent.map_err(|error| match error {
            SendError::Http(error) => Error::Http(error),
            error @ SendError::TooManyInterim => Error::Answer(error.to_string()),
        });
        let (parts, body) = sent?.into_parts();
        let body = read(body, MAX_ANSWER_BYTES).await;
        let body = body.map_err(|error| Error::Answer(error.to_string()))?;
        self.pool.keep(connection);
        Ok(Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        })
    }
}

/// HTTP/1 names the host in a header and only the path in its first line.
fn for_http1(request: Request<Bytes>) -> Result<Request<Full<Bytes>>, Error> {
    let mut request = request.map(Full::new);
    let url = std::mem::take(request.uri_mut());
    let host = url.authority().map_or("", |it| it.as_str());
    let host = HeaderValue::try_from(host).map_err(|_| Error::Url(url.to_string()))?;
    request.headers_mut().insert(HOST, host);
    let path = url.path_and_query().cloned();
    *request.uri_mut() = path.map_or_else(|| Uri::from_static("/"), Uri::from);
    Ok(request)
}
