//! An HTTP server that keeps what it is sent: a collector, a bucket, whatever a test says. On a free port, HTTP/1 and
//! HTTP/2, with TLS if asked for, gone when the value is dropped.

pub mod otlp;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

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

    fn is_grpc(&self) -> bool {
        self.header("content-type") == "application/grpc"
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
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
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
        Self::run(Arc::new(answer), Some(acceptor(certificates)))
    }

    fn run(answer: Arc<Answer>, tls: Option<TlsAcceptor>) -> Self {
        let kept = Arc::<Kept>::default();
        let (stop, stopped) = oneshot::channel();
        let (started, ready) = std::sync::mpsc::channel();
        let keep = kept.clone();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("make a runtime");
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await;
                let listener = listener.expect("a free port");
                let address = listener.local_addr().expect("an address");
                started.send(address).expect("somebody waits for it");
                tokio::select! {
                    () = accept(listener, keep, answer, tls) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address: ready.recv().expect("the receiver starts"),
            kept,
            stop: Some(stop),
            thread: Some(thread),
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

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn acceptor(certificates: &Certificates) -> TlsAcceptor {
    let chain = |path: &Path| -> Vec<_> {
        let all = CertificateDer::pem_file_iter(path).expect("a file");
        all.map(|it| it.expect("a certificate")).collect()
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(chain(&certificates.ca));
    let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
    let key = PrivateKeyDer::from_pem_file(&certificates.server_key).expect("a key");
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions that go together")
        .with_client_cert_verifier(clients.build().expect("a verifier"))
        .with_single_cert(chain(&certificates.server_cert), key)
        .expect("a certificate and its key");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

async fn accept(
    listener: TcpListener,
    kept: Arc<Kept>,
    answer: Arc<Answer>,
    tls: Option<TlsAcceptor>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (kept, answer, tls) = (kept.clone(), answer.clone(), tls.clone());
        tokio::spawn(async move {
            match tls {
                None => serve(stream, kept, answer).await,
                Some(tls) => {
                    // Whoever has no certificate is sent away here.
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(stream, kept, answer).await;
                    }
                }
            }
        });
    }
}

async fn serve<S>(stream: S, kept: Arc<Kept>, answer: Arc<Answer>)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
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
            let grpc = received.is_grpc();
            let mut all = kept.all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(received);
            kept.more.notify_all();
            drop(all);
            Ok::<_, Infallible>(if grpc {
                in_grpc(status, &body)
            } else {
                let mut response = Response::new(Full::new(body).boxed());
                *response.status_mut() = status;
                response
            })
        }
    });
    let connection = auto::Builder::new(TokioExecutor::new());
    _ = connection
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

fn in_grpc(status: StatusCode, body: &[u8]) -> Response<Body> {
    let code = match status {
        StatusCode::OK => "0",
        StatusCode::SERVICE_UNAVAILABLE => "14",
        _ => "3",
    };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static(code));
    let length = u32::try_from(body.len()).expect("a small answer");
    let mut framed = vec![0];
    framed.extend(length.to_be_bytes());
    framed.extend(body);
    let body = Full::new(Bytes::from(framed));
    let body = body.with_trailers(async { Some(Ok(trailers)) }).boxed();
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    response
}
