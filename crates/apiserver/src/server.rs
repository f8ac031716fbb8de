//! Connections: accept, TLS, HTTP, and an end that loses nothing.
//!
//! **Belongs here:** listeners: the API, metrics on a port of their own, and the port for spans.
//! **May use:** `observe`, `pipeline`, `runtime`, `state`, `transport`.

pub mod receiver;
pub mod scrape;

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::request::Parts;
use http::{Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::pipeline;
use crate::runtime::random;
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::caller::Caller;
pub use crate::transport::caller::Peer;
use crate::transport::connection_task::{ConnectionTask, Ended, Requests};
use crate::transport::delivery::{Answer, ConnectionState, Delivery};
use crate::transport::http1;
use crate::transport::incoming::RequestBody;
use crate::transport::record_writer::RecordWriter;
use crate::transport::strict_heads::StrictHeads;
use crate::transport::tls::Accepting;

/// How long an HTTP/1 connection may wait for its next request, as upstream.
const IDLE: Duration = Duration::from_secs(90);
/// After this much silence a client is asked whether it is there, as upstream.
const KEEP_ALIVE: Duration = Duration::from_secs(180);
/// Of a request's head, as Go's server takes.
const HEAD: u32 = 1 << 20;
/// Go counts bytes only; a reader needs a number.
const HEADERS: usize = 1000;

/// Serves until `stop` turns true, then lets requests finish for at most `grace`.
pub async fn serve(
    api: Arc<Api>,
    listener: TcpListener,
    tls: Arc<Accepting>,
    mut stop: watch::Receiver<bool>,
    grace: Duration,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut stop) => break,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, address)) => {
                let acceptor = TlsAcceptor::from(tls.config());
                let (api, stop) = (api.clone(), stop.clone());
                connections.spawn(async move {
                    // A client that goes away or speaks no TLS is its own business.
                    let _ = connection(api, stream, address, acceptor, stop).await;
                });
            }
            // Out of file descriptors, most likely: those that end make room.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    drop(listener);
    let finish = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(grace, finish).await;
}

/// Returns when the server is to stop, or when the sender of that signal is gone.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn connection(
    api: Arc<Api>,
    stream: TcpStream,
    address: SocketAddr,
    acceptor: TlsAcceptor,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    prepare(&stream, api.settings().request_timeout)?;
    let patience = tokio::time::sleep(api.settings().header_timeout);
    let mut patience = std::pin::pin!(patience);
    let stream = tokio::select! {
        stream = acceptor.accept(stream) => {
            stream.inspect_err(|_| api.metrics().handshake_errors.inc())?
        }
        () = patience.as_mut() => return Ok(()),
        () = stopped(&mut stop) => return Ok(()),
    };
    let speaks_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
    let peer = Peer {
        address,
        certificates: certificates
            .iter()
            .map(|it| it.clone().into_owned())
            .collect(),
    };
    let caller = Arc::new(api.caller(peer));
    let state = ConnectionState::new(caller.memory(), api.settings().request_timeout);
    let state = Arc::new(state);
    let requests = Requests::new(state.clone());
    let asked = Arc::new(AtomicBool::new(false));
    let begun = asked.clone();
    let (streams, chance) = (api.settings().max_streams, api.settings().goaway_chance);
    let away = Arc::new(Notify::new());
    let leave = away.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        begun.store(true, Ordering::Relaxed);
        let (api, caller) = (api.clone(), caller.clone());
        // HTTP/1 clients hold on to no connection.
        if chance > 0.0 && request.version() == Version::HTTP_2 && random::fraction() < chance {
            leave.notify_one();
        }
        let state = state.clone();
        let answer = answer(api, caller, request);
        async move { Ok::<_, std::convert::Infallible>(Delivery::of(answer.await, &state)) }
    });
    let mut builder = auto::Builder::new(requests.clone());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_headers(HEADERS)
        .max_buf_size(HEAD as usize + 4096)
        // Frames stay what they are until they are sent: so it is known when that is.
        .writev(true)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(streams)
        .max_header_list_size(HEAD)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    // TLS has settled it: to look at the first bytes instead would wait for them for ever.
    let builder = if speaks_http2 {
        builder.http2_only()
    } else {
        builder.http1_only()
    };
    let stream = RecordWriter::new(stream);
    let checked = StrictHeads::new(stream.clone(), speaks_http2);
    let connection = builder.serve_connection(TokioIo::new(checked), service);
    let connection = std::pin::pin!(connection);
    let mut task = ConnectionTask::new(connection, requests, stream);
    let mut is_new = true;
    let ended = loop {
        tokio::select! {
            ended = &mut task => break Some(ended),
            () = stopped(&mut stop) => break None,
            () = away.notified() => break None,
            () = patience.as_mut(), if is_new => {
                is_new = false;
                if !asked.load(Ordering::Relaxed) {
                    // A connection without a request is closed.
                    return Ok(());
                }
            }
        }
    };
    let ended = if let Some(ended) = ended {
        ended
    } else {
        task.connection().graceful_shutdown();
        task.await
    };
    match ended {
        Ended::ByItself(ended) => ended.map_err(io::Error::other),
        // What the client is still to get goes with the connection.
        Ended::CutOff => Ok(()),
    }
}

/// Who went away without a word is noticed, and who takes nothing of what was asked for loses the connection after the
/// time that a request may take. Upstream's server gives up on a request then.
fn prepare(stream: &TcpStream, patience: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEP_ALIVE))?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(patience))?;
    #[cfg(not(target_os = "linux"))]
    let _ = patience;
    Ok(())
}

/// Reads are answered where they arrive. A write is worth another thread, and goes on if its client goes away.
///
/// Boxed where it is made: hyper moves the future of a request several times.
fn answer(api: Arc<Api>, caller: Arc<Caller>, request: Request<Incoming>) -> Answering {
    if let Some(refusal) = http1::refuse(&request) {
        return Box::pin(std::future::ready(refusal.into()));
    }
    let (parts, body) = request.into_parts();
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    let work = work(api, caller, parts, RequestBody::Incoming(body));
    if is_read {
        return Box::pin(work);
    }
    let write = tokio::spawn(work);
    Box::pin(async {
        write.await.unwrap_or_else(|_| {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response.into()
        })
    })
}

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

#[expect(
    clippy::manual_async_fn,
    reason = "an async fn would hold its parameters twice"
)]
fn work(
    api: Arc<Api>,
    caller: Arc<Caller>,
    parts: Parts,
    body: RequestBody,
) -> impl Future<Output = Answer> + Send {
    async move { pipeline::respond_to(&api, &caller, &parts, body).await }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn who_takes_nothing_loses_the_connection() {
        use tokio::io::AsyncWriteExt as _;

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let far = TcpStream::connect(listener.local_addr().unwrap()).await;
        let (mut near, _) = listener.accept().await.unwrap();
        prepare(&near, Duration::from_secs(1)).unwrap();
        let write = async {
            loop {
                if let Err(error) = near.write_all(&[0; 1 << 12]).await {
                    return error.kind();
                }
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(90), write).await;
        assert_eq!(ended, Ok(io::ErrorKind::TimedOut));
        drop(far);
    }

    /// Each request's future is allocated and moved: what a read does not need must not be in it.
    #[test]
    fn the_future_of_a_request_is_small() {
        fn size<A, B, C, D, F: Future>(_: impl Fn(A, B, C, D) -> F) -> usize {
            size_of::<F>()
        }
        let bytes = size(work);
        assert!(bytes <= 3072, "{bytes} bytes");
    }
}
