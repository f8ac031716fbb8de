//! One connection to a collector.

use bytes::Bytes;
use client::interim;
use egress::{Stream, tls};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use meta::go::system_error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;

use super::transport::Resolve;
use super::{Place, Protocol, Target};

#[derive(Debug)]
pub(super) enum Connection {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
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
        match self {
            Self::Http1(it) => !it.is_closed(),
            Self::Http2(it) => !it.is_closed(),
        }
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, interim::Error> {
        match self {
            Self::Http1(it) => {
                it.ready().await?;
                interim::send(it, request).await
            }
            Self::Http2(it) => {
                it.ready().await?;
                Ok(it.send_request(request).await?)
            }
        }
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
    let stream = TokioIo::new(stream);
    // The tasks end when the sender is dropped, or the other end closes.
    match protocol {
        Protocol::Grpc => {
            let made = http2::handshake(TokioExecutor::new(), stream).await;
            let (sender, task) = made.map_err(|error| error.to_string())?;
            tokio::spawn(task);
            Ok(Connection::Http2(sender))
        }
        Protocol::HttpProtobuf => {
            let made = http1::handshake(stream).await;
            let (sender, task) = made.map_err(|error| error.to_string())?;
            tokio::spawn(task);
            Ok(Connection::Http1(sender))
        }
    }
}
