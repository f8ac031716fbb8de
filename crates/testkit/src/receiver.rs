//! An HTTP server that keeps what it is sent: a collector, a bucket, whatever a test says. On a free port, HTTP/1 and
//! HTTP/2, with TLS if asked for, gone when the value is dropped.

pub mod otlp;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;

use crate::collector::{self, Listen, Secured, Served, Stream};
pub use crate::etcd::Certificates;

/// Far longer than anything takes that works.
const DEADLINE: Duration = Duration::from_secs(120);

#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    /// With the query.
    pub path: String,
    pub host: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).and_then(|it| it.to_str().ok());
        value.unwrap_or_default()
    }

    /// Everything of it as text, for those who look for something in it.
    pub fn text(&self) -> String {
        let body = String::from_utf8_lossy(&self.body);
        format!("{} {} {:?}\n{body}", self.method, self.path, self.headers)
    }
}

/// What to answer.
type Answer = dyn Fn(&Received) -> (StatusCode, Bytes) + Send + Sync;

#[derive(Debug, Default)]
struct Kept {
    all: Mutex<Vec<Received>>,
    more: Condvar,
}

#[derive(Debug)]
pub struct Receiver {
    pub address: SocketAddr,
    kept: Arc<Kept>,
    /// Ends with this.
    _served: Served,
}

impl Receiver {
    /// Says yes to everything.
    pub fn start() -> Self {
        Self::answering(|_| (StatusCode::OK, Bytes::new()))
    }

    pub fn answering(
        answer: impl Fn(&Received) -> (StatusCode, Bytes) + Send + Sync + 'static,
    ) -> Self {
        Self::run(Arc::new(answer), None)
    }

    /// Says yes to those who show a certificate that it knows.
    pub fn with_tls(certificates: &Certificates) -> Self {
        let answer = |_: &Received| (StatusCode::OK, Bytes::new());
        let secured = Secured {
            certificates,
            clients: true,
        };
        Self::run(Arc::new(answer), Some(&secured))
    }

    fn run(answer: Arc<Answer>, secured: Option<&Secured<'_>>) -> Self {
        let kept = Arc::<Kept>::default();
        let served = collector::serve(&Listen::Port, secured, {
            let kept = kept.clone();
            move |stream| serve(stream, kept.clone(), answer.clone())
        });
        Self {
            address: served.address.expect("it listens on a port"),
            kept,
            _served: served,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What has come so far.
    pub fn received(&self) -> Vec<Received> {
        let all = self.kept.all.lock();
        all.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until so many have come.
    pub fn wait(&self, count: usize) -> Vec<Received> {
        let all = self.kept.all.lock();
        let all = all.unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .kept
            .more
            .wait_timeout_while(all, DEADLINE, |all| all.len() < count);
        let (all, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(
            !timeout.timed_out(),
            "{} of {count} requests have come",
            all.len()
        );
        all.clone()
    }
}

async fn serve(stream: Box<dyn Stream>, kept: Arc<Kept>, answer: Arc<Answer>) {
    let service = service_fn(|request: http::Request<Incoming>| {
        let (kept, answer) = (kept.clone(), answer.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = body
                .collect()
                .await
                .map(http_body_util::Collected::to_bytes);
            let path = parts.uri.path_and_query();
            let of_url = parts.uri.authority().map(ToString::to_string);
            let mut received = Received {
                method: parts.method.to_string(),
                path: path.map_or_else(String::new, ToString::to_string),
                host: String::new(),
                headers: parts.headers,
                body: body.unwrap_or_default(),
            };
            received.host = of_url.unwrap_or_else(|| received.header("host").to_owned());
            let (status, body) = answer(&received);
            let grpc = collector::is_grpc(&received.headers);
            let kind = received.headers.get(CONTENT_TYPE).cloned();
            let mut all = kept.all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(received);
            kept.more.notify_all();
            drop(all);
            if grpc {
                return Ok::<_, Infallible>(collector::in_grpc(code(status), &body));
            }
            let mut response = Response::new(Full::new(body).boxed());
            *response.status_mut() = status;
            // It speaks as it is spoken to.
            response
                .headers_mut()
                .extend(kind.map(|it| (CONTENT_TYPE, it)));
            Ok(response)
        }
    });
    let connection = auto::Builder::new(TokioExecutor::new());
    _ = connection
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Of gRPC.
fn code(status: StatusCode) -> u32 {
    match status {
        StatusCode::OK => 0,
        StatusCode::SERVICE_UNAVAILABLE => 14,
        _ => 3,
    }
}
