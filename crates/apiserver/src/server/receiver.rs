//! A port that takes other programs' spans, by OTLP. With TLS it is known who sends, as everywhere: whoever may POST to
//! `/v1/traces` may send, by gRPC too.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use auth::Attributes;
use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use telemetry::receive::{self, Answer, Refusal};
use telemetry::recent::Recent;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::observe::metrics::RequestStats;
use crate::pipeline::gate;
use crate::server::{Peer, stopped};
use crate::state::Api;
use crate::transport::caller::Caller;
use crate::transport::strict_heads::StrictHeads;
use crate::transport::tls::Accepting;

/// Senders at a time. Each may take some megabytes while its message is read.
const CONNECTIONS: usize = 256;
const AT_ONCE: usize = 8;
const STREAMS: u32 = 16;
/// How long a sender may take until its first request, and an HTTP/1 connection may wait for the next.
const IDLE: Duration = Duration::from_secs(90);
/// Of a request's head.
const HEAD: u32 = 64 << 10;

/// What all connections share.
struct Receiver {
    api: Arc<Api>,
    recent: Arc<Recent>,
    /// None: without TLS, from this machine only.
    tls: Option<Arc<Accepting>>,
    at_once: Semaphore,
}

/// Receives until `stop` turns true.
pub async fn serve(
    api: Arc<Api>,
    recent: Arc<Recent>,
    listener: TcpListener,
    tls: Option<Arc<Accepting>>,
    mut stop: watch::Receiver<bool>,
) {
    let receiver = Arc::new(Receiver {
        api,
        recent,
        tls,
        at_once: Semaphore::new(AT_ONCE),
    });
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stopped(&mut stop) => return,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                Ok((stream, address)) => {
                    let receiver = receiver.clone();
                    // A sender that goes away is its own business.
                    connections.spawn(async move { receiver.connection(stream, address).await });
                }
                // Out of file descriptors, most likely: those that end make room.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
        }
    }
}

impl Receiver {
    async fn connection(self: Arc<Self>, stream: TcpStream, address: SocketAddr) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let Some(tls) = &self.tls else {
            return self.speak(stream, None).await;
        };
        let acceptor = TlsAcceptor::from(tls.config());
        let accepted = tokio::time::timeout(IDLE, acceptor.accept(stream)).await;
        let stream = accepted.map_err(io::Error::other)??;
        let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let certificates = certificates.iter().map(|it| it.clone().into_owned());
        let caller = self.api.caller(Peer {
            address,
            certificates: certificates.collect(),
        });
        self.speak(stream, Some(Arc::new(caller))).await
    }

    async fn speak<S>(self: &Arc<Self>, stream: S, caller: Option<Arc<Caller>>) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let asked = Arc::new(AtomicBool::new(false));
        let begun = asked.clone();
        let service = service_fn(|request: Request<Incoming>| {
            begun.store(true, Ordering::Relaxed);
            let (receiver, caller) = (self.clone(), caller.clone());
            async move { Ok::<_, Infallible>(receiver.answer(caller.as_deref(), request).await) }
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .max_buf_size(HEAD as usize)
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEAD)
            .keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(20));
        let stream = StrictHeads::new(stream, false);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            ended = connection.as_mut() => return ended.map_err(io::Error::other),
            // A connection that sends nothing is closed.
            () = tokio::time::sleep(IDLE) => if !asked.load(Ordering::Relaxed) {
                return Ok(());
            },
        }
        connection.await.map_err(io::Error::other)
    }

    async fn answer(
        &self,
        caller: Option<&Caller>,
        request: Request<Incoming>,
    ) -> Response<Answer> {
        if let Some(caller) = caller
            && let Err(refusal) = self.allow(caller, request.headers()).await
        {
            return receive::refuse(request.headers(), &refusal);
        }
        // It is never closed.
        let _place = self.at_once.acquire().await;
        receive::answer(&self.recent, request).await
    }

    async fn allow(&self, caller: &Caller, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut stats = RequestStats::start();
        let user = gate::authenticate(&self.api, caller, headers, &mut stats).await;
        let user = user.map_err(|status| Refusal::unauthenticated(status.message))?;
        let attributes = Attributes::path(&user, "post", "/v1/traces");
        let allowed = gate::authorize(&self.api, &attributes, &mut stats).await;
        allowed.map_err(|status| Refusal::denied(status.message))
    }
}
