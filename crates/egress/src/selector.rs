//! `EgressSelectorConfiguration`: which way leads to which network, read and checked as upstream does.

mod validate;

use std::path::Path;

use config::{Document, Fields};

use crate::connect::Proxy;
use crate::tls::{self, Identity, Secured};
use crate::{Dialer, Observer};

const VERSIONS: &[&str] = &["apiserver.k8s.io/v1alpha1", "apiserver.k8s.io/v1beta1"];

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    ControlPlane,
    Cluster,
    Etcd,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("failed to read egress selector config: {0}")]
    Read(String),
    #[error("failed to validate egress selector configuration: {0}")]
    Invalid(String),
    #[error(
        "failed to setup egress selector: failed to create dialer for egressSelection {}: {why}",
        meta::go::quote(name)
    )]
    Setup { name: String, why: String },
}

/// The way to each network; what the file does not name is reached directly.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    control_plane: Dialer,
    cluster: Dialer,
    etcd: Dialer,
}

impl Selector {
    pub fn dialer(&self, network: Network) -> &Dialer {
        match network {
            Network::ControlPlane => &self.control_plane,
            Network::Cluster => &self.cluster,
            Network::Etcd => &self.etcd,
        }
    }

    /// Tells of connections through proxies, to whichever network.
    #[must_use]
    pub fn observed(mut self, observer: &Observer) -> Self {
        for dialer in [&mut self.control_plane, &mut self.cluster, &mut self.etcd] {
            dialer.observe(observer);
        }
        self
    }

    pub fn read(path: &Path) -> Result<Self, Error> {
        let quoted = meta::go::quote(&path.display().to_string());
        let text = config::read(path).map_err(|error| {
            let what = "unable to read egress selector configuration from";
            Error::Read(format!("{what} {quoted} [{error}]"))
        })?;
        Self::parse(&text)
    }

    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let selections = decode(text).map_err(|error| Error::Read(error.to_string()))?;
        let errors = validate::all(&selections);
        if !errors.is_empty() {
            return Err(Error::Invalid(meta::field::aggregate(&errors)));
        }
        let mut selector = Self::default();
        for selection in selections {
            let name = selection.name.to_lowercase();
            let dialer = selection.connection.dialer();
            let dialer = dialer.map_err(|why| Error::Setup {
                name: name.clone(),
                why,
            })?;
            match &*name {
                "cluster" => selector.cluster = dialer,
                "etcd" => selector.etcd = dialer,
                _ => selector.control_plane = dialer,
            }
        }
        Ok(selector)
    }
}

#[derive(Debug, Default)]
struct Selection {
    name: String,
    connection: Connection,
}

#[derive(Debug, Default)]
struct Connection {
    protocol: String,
    transport: Option<Transport>,
}

#[derive(Debug, Default)]
struct Transport {
    tcp: Option<Tcp>,
    uds: Option<String>,
}

#[derive(Debug, Default)]
struct Tcp {
    url: String,
    tls: Option<Files>,
}

#[derive(Debug, Default)]
struct Files {
    ca_bundle: String,
    client_key: String,
    client_cert: String,
    server_name: String,
}

fn decode(text: &[u8]) -> Result<Vec<Selection>, config::Error> {
    let mut document = Document::parse(text)?;
    document.expect(VERSIONS, &["EgressSelectorConfiguration"])?;
    let root = document.fields(&["egressSelections"]);
    let items = root.objects(
        "egressSelections",
        "EgressSelection",
        &["name", "connection"],
    )?;
    let selections: Result<Vec<_>, _> = items.iter().map(selection).collect();
    let selections = selections?;
    document.finish()?;
    Ok(selections)
}

fn owned(fields: &Fields<'_>, name: &str) -> Result<String, config::Error> {
    Ok(fields.text(name)?.unwrap_or_default().to_owned())
}

fn selection(fields: &Fields<'_>) -> Result<Selection, config::Error> {
    let mut name = owned(fields, "name")?;
    if name == "master" {
        // As it was called before; upstream converts it in both versions, in lower case only.
        "controlplane".clone_into(&mut name);
    }
    let known = &["proxyProtocol", "transport"];
    let mut connection = Connection::default();
    if let Some(fields) = fields.object("connection", "Connection", known)? {
        connection.protocol = owned(&fields, "proxyProtocol")?;
        let transport = fields.object("transport", "Transport", &["tcp", "uds"])?;
        connection.transport = transport.as_ref().map(self::transport).transpose()?;
    }
    Ok(Selection { name, connection })
}

fn transport(fields: &Fields<'_>) -> Result<Transport, config::Error> {
    let tcp = fields.object("tcp", "TCPTransport", &["url", "tlsConfig"])?;
    let uds = fields.object("uds", "UDSTransport", &["udsName"])?;
    Ok(Transport {
        tcp: tcp.as_ref().map(self::tcp).transpose()?,
        uds: uds.map(|it| owned(&it, "udsName")).transpose()?,
    })
}

fn tcp(fields: &Fields<'_>) -> Result<Tcp, config::Error> {
    let known = &["caBundle", "clientKey", "clientCert", "tlsServerName"];
    let mut tcp = Tcp {
        url: owned(fields, "url")?,
        tls: None,
    };
    if let Some(fields) = fields.object("tlsConfig", "TLSConfig", known)? {
        tcp.tls = Some(Files {
            ca_bundle: owned(&fields, "caBundle")?,
            client_key: owned(&fields, "clientKey")?,
            client_cert: owned(&fields, "clientCert")?,
            server_name: owned(&fields, "tlsServerName")?,
        });
    }
    Ok(tcp)
}

impl Connection {
    /// Of a connection that was found valid.
    fn dialer(self) -> Result<Dialer, String> {
        match &*self.protocol {
            "Direct" => return Ok(Dialer::default()),
            "GRPC" => {
                return Err(
                    "proxyProtocol GRPC, konnectivity's tunnel, is not supported: use HTTPConnect"
                        .into(),
                );
            }
            _ => {}
        }
        let transport = self.transport.unwrap_or_default();
        if let Some(name) = transport.uds {
            return Ok(Dialer::through(Proxy::Unix(name.into())));
        }
        let tcp = transport.tcp.unwrap_or_default();
        let (scheme, rest) = tcp.url.split_once("://").unwrap_or(("", &tcp.url));
        let default = if scheme == "https" { 443 } else { 80 };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (host, port) = split(authority, default)
            .ok_or_else(|| format!("invalid proxy server url {}", meta::go::quote(&tcp.url)))?;
        Ok(Dialer::through(match tcp.tls {
            None => Proxy::Tcp { host, port },
            Some(files) => {
                let tls = files.load(&host)?;
                Proxy::Tls { host, port, tls }
            }
        }))
    }
}

/// `host:port`, `[::1]:port` or a host alone.
fn split(authority: &str, default: u16) -> Option<(String, u16)> {
    let port = authority
        .rfind(':')
        .filter(|it| authority[*it..].find(']').is_none());
    let (host, port) = match port {
        Some(at) => (&authority[..at], authority[at + 1..].parse().ok()?),
        None => (authority, default),
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

impl Files {
    fn load(&self, host: &str) -> Result<Secured, String> {
        let Self {
            client_cert,
            client_key,
            ca_bundle,
            ..
        } = self;
        let read = |path: &str| config::read(Path::new(path));
        let pair = |error: &dyn ToString| {
            let why = error.to_string();
            format!("failed to read key pair {client_cert} & {client_key}, got {why}")
        };
        let certificate = read(client_cert).map_err(|error| pair(&error))?;
        let key = read(client_key).map_err(|error| pair(&error))?;
        let bundle = if ca_bundle.is_empty() {
            None
        } else {
            let failed = |error| format!("failed to read cert file {ca_bundle}, got {error}");
            Some(read(ca_bundle).map_err(failed)?)
        };
        let identity = Identity {
            certificate: &certificate,
            key: &key,
        };
        let config = tls::config(bundle.as_deref(), Some(identity), &[]);
        let name = if self.server_name.is_empty() {
            host.trim_start_matches('[').trim_end_matches(']')
        } else {
            &self.server_name
        };
        Ok(Secured {
            config: config.map_err(|error| pair(&error))?,
            name: tls::server_name(name).map_err(|error| error.to_string())?,
        })
    }
}

#[cfg(test)]
mod tests;
