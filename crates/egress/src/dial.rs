//! Opening a connection, with the texts that Go has for what goes wrong.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::Stream;
use crate::connect::{Proxy, ProxyError};

/// As Go's default dialer.
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum DialError {
    #[error("dial tcp: lookup {0}: no such host")]
    NoSuchHost(String),
    #[error("dial tcp {address}: connect: {}", connecting(.source))]
    Connect {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("{0}")]
    Proxy(#[from] ProxyError),
    #[error("dial tcp {0}: i/o timeout")]
    Late(String),
}

fn connecting(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".into(),
        ErrorKind::HostUnreachable => "no route to host".into(),
        ErrorKind::NetworkUnreachable => "network is unreachable".into(),
        ErrorKind::TimedOut => "connection timed out".into(),
        _ => meta::go::system_error(error),
    }
}

/// Opens connections to one network. By default: directly.
#[derive(Clone, Debug, Default)]
pub struct Dialer(pub(crate) Option<Proxy>);

impl Dialer {
    pub fn is_direct(&self) -> bool {
        self.0.is_none()
    }

    /// How the proxy is reached, as upstream calls it, if there is one.
    pub fn transport(&self) -> Option<&'static str> {
        self.0.as_ref().map(Proxy::transport)
    }

    /// A name goes to the proxy as it is, if there is one: what it means is known there.
    pub async fn dial(&self, host: &str, port: u16) -> Result<Stream, DialError> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let address = if bare.contains(':') {
            format!("[{bare}]:{port}")
        } else {
            format!("{bare}:{port}")
        };
        let opening = async {
            match &self.0 {
                None => Ok(tcp(bare, port).await?.into()),
                Some(proxy) => proxy.open(&address).await,
            }
        };
        match tokio::time::timeout(LIMIT, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(DialError::Late(address)),
        }
    }
}

pub(crate) async fn tcp(host: &str, port: u16) -> Result<TcpStream, DialError> {
    let found = tokio::net::lookup_host((host, port)).await;
    let mut last = DialError::NoSuchHost(host.to_owned());
    for address in found.into_iter().flatten() {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // What goes over it are small writes that somebody waits for.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(source) => last = DialError::Connect { address, source },
        }
    }
    Err(last)
}
