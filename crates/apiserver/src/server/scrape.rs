//! Metrics on a port of their own, with or without TLS and without authentication, as Kyverno serves them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use telemetry::metrics::{self, Format, Registry};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

use crate::transport::body::Body;
use crate::transport::strict_heads::StrictHeads;

/// Readers at a time: each has all numbers written out.
const READERS: usize = 16;
/// For a request's head, and between requests.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves `/metrics` until it is dropped.
pub async fn serve(registry: Registry, listener: TcpListener, tls: Option<Arc<ServerConfig>>) {
    let tls = tls.map(|it| {
        let mut config = (*it).clone();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    });
    let places = Arc::new(Semaphore::new(READERS));
    loop {
        // Connections beyond the limit wait.
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (registry, tls) = (registry.clone(), tls.clone());
                tokio::spawn(async move {
                    let Some(tls) = tls else {
                        return connection(registry, stream, place).await;
                    };
                    // A client that goes away, or wants no such certificate, is its own business.
                    let agreed = tokio::time::timeout(PATIENCE, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = agreed {
                        connection(registry, stream, place).await;
                    }
                });
            }
            // Out of file descriptors, most likely: those that end make room.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn connection<S>(registry: Registry, stream: S, _place: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let service = service_fn(|request: Request<Incoming>| {
        let response = answer(&registry, &request);
        async move { Ok::<_, Infallible>(response) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE);
    // A client that goes away is its own business.
    let _ = builder
        .serve_connection(TokioIo::new(StrictHeads::new(stream, false)), service)
        .await;
}

fn answer<B>(registry: &Registry, request: &Request<B>) -> Response<Body> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if request.uri().path() != "/metrics" || !is_read {
        let mut response = Response::new("404 page not found\n".into());
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    let accept = request.headers().get(ACCEPT);
    let accept = accept.and_then(|it| it.to_str().ok());
    let format = Format::accepted(accept.unwrap_or_default());
    let mut response = Response::new(metrics::encode(registry, format).into());
    let kind = HeaderValue::from_static(format.content_type());
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
