//! One connection to a collector.

use std::sync::Arc;

use client::interim;
use egress::{Stream, tls};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use meta::go::system_error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;

use super::message::Pieces;
use super::stream::{Batched, Exchange};
use super::transport::Resolve;
use super::{Place, Protocol, Target};

#[derive(Debug)]
pub(super) struct Connection {
    sender: Sender,
    exchange: Arc<Exchange>,
}

#[derive(Debug)]
enum Sender {
    Http1(http1::SendRequest<Pieces>),
    Http2(http2::SendRequest<Pieces>),
}

impl Connection {
    pub(super) async fn open(target: &Target, resolve: Option<&Resolve>) -> Result<Self, String> {
        let stream: Stream = match &target.place {
            Place::Tcp { host, port } => dial(target, host, *port).await?,
            Place::Unix(path) => {
                let stream = UnixStream::connect(path).await;
                let shown = path.replace('\0', "@");
                stream
                    .map_err(|error| {
                        format!("dial unix {shown}: connect: {}", system_error(&error))
                    })?
                    .into()
            }
            Place::Service {
                namespace,
                name,
                port,
            } => {
                let resolve = resolve.ok_or("Services are not known here")?;
                let (host, port) = resolve(namespace, name, *port)?;
                dial(target, &host, port).await?
            }
            Place::Unknown(why) => return Err(why.clone()),
        };
        let Some(secured) = &target.tls else {
            return handshake(target.protocol, stream).await;
        };
        let connector = TlsConnector::from(secured.config.clone());
        let stream = connector.connect(secured.name.clone(), stream).await;
        let stream = stream.map_err(|error| tls::said(&error))?;
        handshake(target.protocol, stream).await
    }

    pub(super) fn is_open(&self) -> bool {
        match &self.sender {
            Sender::Http1(it) => !it.is_closed(),
            Sender::Http2(it) => !it.is_closed(),
        }
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Pieces>,
    ) -> Result<Response<Incoming>, interim::Error> {
        self.exchange.begin(request.body());
        match &mut self.sender {
            Sender::Http1(it) => {
                it.ready().await?;
                interim::send(it, request).await
            }
            Sender::Http2(it) => {
                it.ready().await?;
                Ok(it.send_request(request).await?)
            }
        }
    }

    /// The answer was read.
    pub(super) fn end(&self) {
        self.exchange.end();
    }
}

async fn dial(target: &Target, host: &str, port: u16) -> Result<Stream, String> {
    let stream = target.dialer.dial(host, port).await;
    stream.map_err(|error| error.to_string())
}

async fn handshake<S>(protocol: Protocol, stream: S) -> Result<Connection, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let exchange = Arc::<Exchange>::default();
    let gathers = protocol == Protocol::Grpc;
    let stream = TokioIo::new(Batched::new(stream, exchange.clone(), gathers));
    // The tasks end when the sender is dropped, or the other end closes.
    let sender = match protocol {
        Protocol::Grpc => {
            let made = http2::handshake(TokioExecutor::new(), stream).await;
            let (sender, task) = made.map_err(|error| error.to_string())?;
            tokio::spawn(task);
            Sender::Http2(sender)
        }
        Protocol::HttpProtobuf => {
            let made = http1::handshake(stream).await;
            let (sender, task) = made.map_err(|error| error.to_string())?;
            tokio::spawn(task);
            Sender::Http1(sender)
        }
    };
    Ok(Connection { sender, exchange })
}
