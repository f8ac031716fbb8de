//! Opening a connection, with the texts that Go has for what goes wrong.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::Stream;
use crate::connect::{Proxy, ProxyError};

/// As Go's default dialer.
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum DialError {
    #[error("dial tcp: lookup {host}: no such host")]
    NoSuchHost {
        host: String,
        /// What the system's resolver said.
        source: Option<io::Error>,
    },
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
pub struct Dialer {
    pub(crate) proxy: Option<Proxy>,
    observer: Option<Observer>,
}

/// What becomes of a connection through a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialing {
    Started,
    /// The proxy itself was not reached.
    NotConnected,
    /// It was, and does not lead further.
    Refused,
    Done(Duration),
}

/// Is told of all connections through proxies, with how the proxy is reached: `tcp` or `uds`.
#[derive(Clone)]
pub struct Observer(Arc<dyn Fn(&'static str, Dialing) + Send + Sync>);

impl Observer {
    pub fn new(observe: impl Fn(&'static str, Dialing) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

impl Dialer {
    pub(crate) fn through(proxy: Proxy) -> Self {
        Self {
            proxy: Some(proxy),
            observer: None,
        }
    }

    pub(crate) fn observe(&mut self, observer: &Observer) {
        self.observer = Some(observer.clone());
    }

    pub fn is_direct(&self) -> bool {
        self.proxy.is_none()
    }

    /// How the proxy is reached, as upstream calls it, if there is one.
    pub fn transport(&self) -> Option<&'static str> {
        self.proxy.as_ref().map(Proxy::transport)
    }

    /// A name goes to the proxy as it is, if there is one: what it means is known there.
    pub async fn dial(&self, host: &str, port: u16) -> Result<Stream, DialError> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let address = if bare.contains(':') {
            format!("[{bare}]:{port}")
        } else {
            format!("{bare}:{port}")
        };
        let Some(proxy) = &self.proxy else {
            let opening = tokio::time::timeout(LIMIT, tcp(bare, port)).await;
            return match opening {
                Ok(opened) => Ok(opened?.into()),
                Err(_) => Err(DialError::Late(address)),
            };
        };
        let (started, mut connected) = (Instant::now(), false);
        self.tell(proxy, Dialing::Started);
        let opening = async {
            let stream = proxy.connect().await?;
            connected = true;
            Ok(proxy.tunnel(stream, &address).await?)
        };
        let opened = match tokio::time::timeout(LIMIT, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(DialError::Late(address)),
        };
        self.tell(
            proxy,
            match (&opened, connected) {
                (Ok(_), _) => Dialing::Done(started.elapsed()),
                (Err(_), true) => Dialing::Refused,
                (Err(_), false) => Dialing::NotConnected,
            },
        );
        opened
    }

    fn tell(&self, proxy: &Proxy, dialing: Dialing) {
        if let Some(Observer(observe)) = &self.observer {
            observe(proxy.transport(), dialing);
        }
    }
}

pub(crate) async fn tcp(host: &str, port: u16) -> Result<TcpStream, DialError> {
    let no_such_host = |source| DialError::NoSuchHost {
        host: host.to_owned(),
        source,
    };
    let found = tokio::net::lookup_host((host, port)).await;
    let found = found.map_err(|error| no_such_host(Some(error)))?;
    let mut last = no_such_host(None);
    for address in found {
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
