//! A blocking client over TLS that sends the bytes it is given, right or wrong.

mod answer;
mod connection;

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use json::Value;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

pub use answer::Answer;
pub use connection::Connection;

pub type Stream = StreamOwned<ClientConnection, TcpStream>;

/// How long any read or write of a client may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// Somebody who asks a server: an address, an authority to believe, and a token.
#[derive(Clone, Debug)]
pub struct Client {
    pub address: SocketAddr,
    roots: RootCertStore,
    http1: Arc<ClientConfig>,
    http2: Arc<ClientConfig>,
    token: Option<String>,
    patience: Duration,
}

impl Client {
    /// Without credentials. `authority` is the file with the server's CA.
    pub fn new(address: SocketAddr, authority: &Path) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        let pem = std::fs::read(authority)?;
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(io::Error::other)?;
            roots.add(certificate).map_err(io::Error::other)?;
        }
        Ok(Self {
            address,
            http1: config(&roots, None, &[])?,
            http2: config(&roots, None, &[b"h2"])?,
            roots,
            token: None,
            patience: PATIENCE,
        })
    }

    /// The user `name` of the token file.
    #[must_use]
    pub fn with_user(&self, name: &str) -> Self {
        Self {
            token: Some(format!("{name}-token")),
            ..self.clone()
        }
    }

    /// The same at another address.
    #[must_use]
    pub fn at(&self, address: SocketAddr) -> Self {
        Self {
            address,
            ..self.clone()
        }
    }

    #[must_use]
    pub fn patient(&self, patience: Duration) -> Self {
        Self {
            patience,
            ..self.clone()
        }
    }

    /// Shows a client certificate as well.
    pub fn with_certificate(
        &self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> io::Result<Self> {
        Ok(Self {
            http1: config(&self.roots, Some((chain, key)), &[])?,
            ..self.clone()
        })
    }

    /// `Authorization: Bearer ...`, as a line of a head.
    pub fn authorization(&self) -> String {
        let token = self.token.as_ref();
        token.map_or_else(String::new, |token| {
            format!("Authorization: Bearer {token}\r\n")
        })
    }

    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    pub fn tcp(&self) -> io::Result<TcpStream> {
        let socket = TcpStream::connect_timeout(&self.address, self.patience)?;
        socket.set_read_timeout(Some(self.patience))?;
        socket.set_write_timeout(Some(self.patience))?;
        socket.set_nodelay(true)?;
        Ok(socket)
    }

    /// A connection over TLS; the handshake is done with the first bytes.
    pub fn connect(&self) -> io::Result<Stream> {
        self.secure(&self.http1)
    }

    /// One that speaks HTTP/2.
    pub fn connect_http2(&self) -> io::Result<Stream> {
        self.secure(&self.http2)
    }

    fn secure(&self, tls: &Arc<ClientConfig>) -> io::Result<Stream> {
        let name = ServerName::from(self.address.ip());
        let session = ClientConnection::new(tls.clone(), name).map_err(io::Error::other)?;
        Ok(StreamOwned::new(session, self.tcp()?))
    }

    /// Sends bytes as they are, and reads until the server ends the connection or says no more.
    pub fn raw(&self, request: &[u8]) -> io::Result<Vec<u8>> {
        let mut stream = self.connect()?;
        // The server may answer and hang up before it has read everything.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Ok(answer)
    }

    /// One request on a connection of its own.
    pub fn send(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> io::Result<Answer> {
        Connection::new(self.clone()).send(method, path, kind, body)
    }

    pub fn get(&self, path: &str) -> io::Result<Answer> {
        self.send("GET", path, "application/json", b"")
    }

    pub fn post(&self, path: &str, object: &Value) -> io::Result<Answer> {
        self.send("POST", path, "application/json", &json::to_vec(object))
    }

    /// That must work: what an attack needs before it begins.
    pub fn make(&self, path: &str, object: &Value) -> io::Result<Value> {
        let answer = self.post(path, object)?;
        if answer.code != 201 {
            let text = format!("POST {path}: {} {}", answer.code, answer.text());
            return Err(io::Error::other(text));
        }
        Ok(answer.json())
    }
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn config(
    roots: &RootCertStore,
    identity: Option<Identity>,
    protocols: &[&[u8]],
) -> io::Result<Arc<ClientConfig>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots.clone());
    let mut tls = match identity {
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(io::Error::other)?,
        None => builder.with_no_client_auth(),
    };
    tls.alpn_protocols = protocols.iter().map(|it| it.to_vec()).collect();
    Ok(Arc::new(tls))
}
