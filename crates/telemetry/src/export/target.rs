//! Where a collector is and how it wants to be spoken to.

use std::time::Duration;

use egress::Dialer;
pub use egress::tls::Secured as Tls;
use http::{HeaderName, HeaderValue};

use super::Signal;

/// Where the collector listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Tcp {
        host: String,
        port: u16,
    },
    /// A path, or a name behind a zero byte for an abstract socket.
    Unix(String),
    /// A Service of the cluster.
    Service {
        namespace: String,
        name: String,
        port: u16,
    },
    /// Nowhere yet: something is missing that must be known first.
    Unknown(String),
}

impl Place {
    /// What a request calls it.
    pub(super) fn authority(&self) -> String {
        match self {
            Self::Tcp { host, port } if host.contains(':') && !host.starts_with('[') => {
                format!("[{host}]:{port}")
            }
            Self::Tcp { host, port } => format!("{host}:{port}"),
            Self::Unix(_) | Self::Unknown(_) => "localhost".into(),
            Self::Service {
                namespace,
                name,
                port,
            } => format!("{name}.{namespace}.svc:{port}"),
        }
    }

    /// What its certificate should name.
    pub fn server_name(&self) -> String {
        match self {
            Self::Tcp { host, .. } => host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned(),
            Self::Unix(_) | Self::Unknown(_) => "localhost".into(),
            Self::Service {
                namespace, name, ..
            } => format!("{name}.{namespace}.svc"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    #[default]
    Grpc,
    HttpProtobuf,
}

impl Protocol {
    /// As OpenTelemetry's configuration calls them.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "grpc" => Some(Self::Grpc),
            "http/protobuf" => Some(Self::HttpProtobuf),
            _ => None,
        }
    }

    pub fn port(self) -> u16 {
        match self {
            Self::Grpc => 4317,
            Self::HttpProtobuf => 4318,
        }
    }

    /// What TLS is told that will be spoken.
    pub fn alpn(self) -> &'static [u8] {
        match self {
            Self::Grpc => b"h2",
            Self::HttpProtobuf => b"http/1.1",
        }
    }
}

/// A collector. Not there to be compared: a new one means new connections.
#[derive(Clone, Debug)]
pub struct Target {
    pub place: Place,
    pub protocol: Protocol,
    pub tls: Option<Tls>,
    /// Sent with every request. Marked as sensitive: they do not show in debug output.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub gzip: bool,
    /// For one attempt.
    pub timeout: Duration,
    /// Of HTTP: what stands before `/v1/traces`.
    pub base: String,
    /// Of HTTP: in place of base and `/v1/traces`.
    pub path: Option<String>,
    pub dialer: Dialer,
}

impl Target {
    /// Without TLS, directly, with OpenTelemetry's defaults.
    pub fn new(place: Place, protocol: Protocol) -> Self {
        Self {
            place,
            protocol,
            tls: None,
            headers: Vec::new(),
            gzip: false,
            timeout: Duration::from_secs(10),
            base: String::new(),
            path: None,
            dialer: Dialer::default(),
        }
    }

    /// Of HTTP: where a signal is sent.
    pub(super) fn path(&self, signal: Signal) -> String {
        match &self.path {
            Some(path) => path.clone(),
            None => format!("{}{}", self.base.trim_end_matches('/'), signal.path()),
        }
    }

    /// Protocol and URL, for people. Without headers, which may hold secrets.
    pub fn describe(&self, signal: Signal) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let authority = self.place.authority();
        match self.protocol {
            Protocol::Grpc => format!("grpc, {scheme}://{authority}/"),
            Protocol::HttpProtobuf => {
                format!("http/protobuf, {scheme}://{authority}{}", self.path(signal))
            }
        }
    }
}
