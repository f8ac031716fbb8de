//! Connections: accept, TLS, HTTP, and an end that loses nothing.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::pipeline::Api;
use crate::random;

/// How long a client may take for a TLS handshake, and for the head of an HTTP/1 request.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who is at the other end.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    /// What the client showed, its own certificate first. Nobody has looked at it yet.
    pub certificates: Vec<CertificateDer<'static>>,
}

/// Serves until `stop` turns true, then lets requests finish for at most `grace`.
pub async fn serve(
    api: Arc<Api>,
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    mut stop: watch::Receiver<bool>,
    grace: Duration,
) {
    let acceptor = TlsAcceptor::from(tls);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut stop) => break,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, address)) => {
                let (api, acceptor, stop) = (api.clone(), acceptor.clone(), stop.clone());
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

/// Comes back when it is time, or when nobody is left to say so.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn connection(
    api: Arc<Api>,
    stream: TcpStream,
    address: SocketAddr,
    acceptor: TlsAcceptor,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let handshake = tokio::time::timeout(PATIENCE, acceptor.accept(stream));
    let stream = tokio::select! {
        done = handshake => done??,
        // Nothing was asked yet.
        () = stopped(&mut stop) => return Ok(()),
    };
    let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
    let peer = Peer {
        address,
        certificates: certificates
            .iter()
            .map(|it| it.clone().into_owned())
            .collect(),
    };
    let caller = Arc::new(api.caller(peer));
    let (streams, chance) = (api.settings.max_streams, api.settings.goaway_chance);
    let away = Arc::new(Notify::new());
    let leave = away.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (api, caller) = (api.clone(), caller.clone());
        // HTTP/1 clients hold on to no connection.
        if chance > 0.0 && request.version() == Version::HTTP_2 && random::fraction() < chance {
            leave.notify_one();
        }
        async move { Ok::<_, std::convert::Infallible>(api.answer(&caller, request).await) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(streams)
        .max_header_list_size(1 << 20)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stopped(&mut stop) => None,
        () = away.notified() => None,
    };
    let ended = if let Some(ended) = ended {
        ended
    } else {
        connection.as_mut().graceful_shutdown();
        connection.await
    };
    ended.map_err(io::Error::other)
}
