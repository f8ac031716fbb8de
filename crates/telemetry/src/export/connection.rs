//! One connection to a collector.

use std::sync::Arc;

use ::http::{Request, Response};
use egress::http::{self, SendError, Version};
use egress::{Stream, tls};
use hyper::body::Incoming;
use meta::go::system_error;
use tokio::net::UnixStream;

use super::message::Pieces;
use super::stream::{Batched, Exchange};
use super::transport::Resolve;
use super::{Place, Protocol, Target};

#[derive(Debug)]
pub(super) struct Connection {
    http: http::Connection<Pieces>,
    exchange: Arc<Exchange>,
}

impl Connection {
    pub(super) async fn open(target: &Target, resolve: Option<&Resolve>) -> Result<Self, String> {
        let mut stream: Stream = match &target.place {
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
        if let Some(secured) = &target.tls {
            let over = tls::connect(secured, stream).await;
            stream = over.map_err(|error| tls::said(&error))?;
        }
        handshake(target.protocol, stream).await
    }

    pub(super) fn is_open(&self) -> bool {
        self.http.is_open()
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Pieces>,
    ) -> Result<Response<Incoming>, SendError> {
        self.exchange.begin(request.body());
        self.http.send(request).await
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

async fn handshake(protocol: Protocol, stream: Stream) -> Result<Connection, String> {
    let exchange = Arc::<Exchange>::default();
    let version = match protocol {
        Protocol::Grpc => Version::Http2,
        Protocol::HttpProtobuf => Version::Http1,
    };
    let gathers = version == Version::Http2;
    let stream = Batched::new(stream, exchange.clone(), gathers);
    let made = http::Connection::over(version, stream).await;
    Ok(Connection {
        http: made.map_err(|error| error.to_string())?,
        exchange,
    })
}
