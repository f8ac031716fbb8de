//! HTTP/2 over TLS with a client certificate. The generator shares the cores with what it measures, so it does as little
//! as it can: answers are counted, not kept.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::client::WantsClientCert;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Connections that clients are spread over, and watchers of one connection.
const CONNECTIONS: usize = 4;
const WATCHERS_EACH: usize = 10;

/// Where a server is and how to be trusted by it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    tls: TlsConnector,
}

impl Endpoint {
    /// With `ca.crt`, `admin.crt` and `admin.key` of a directory.
    pub(crate) fn new(address: SocketAddr, pki: &Path) -> Result<Self> {
        let certificate = CertificateDer::from_pem_file(pki.join("admin.crt"))?;
        let key = PrivateKeyDer::from_pem_file(pki.join("admin.key"))?;
        let config = trusting(&pki.join("ca.crt"))?.with_client_auth_cert(vec![certificate], key);
        Ok(Self::with(address, config?))
    }

    /// For clients that show a token.
    pub(crate) fn without_certificate(address: SocketAddr, authority: &Path) -> Result<Self> {
        let config = trusting(authority)?.with_no_client_auth();
        Ok(Self::with(address, config))
    }

    fn with(address: SocketAddr, mut config: ClientConfig) -> Self {
        config.alpn_protocols = vec![b"h2".to_vec()];
        let tls = TlsConnector::from(Arc::new(config));
        Self { address, tls }
    }

    pub(crate) fn uri(&self, path: &str) -> Result<Uri> {
        let uri = format!("https://{}{path}", self.address);
        uri.parse().with_context(|| uri)
    }

    pub(crate) async fn connect(&self) -> Result<Client> {
        Ok(Client(self.open().await?))
    }

    /// A connection for requests with bodies of some type.
    pub(crate) async fn open<B>(&self) -> Result<SendRequest<B>>
    where
        B: Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static,
    {
        let tcp = TcpStream::connect(self.address).await?;
        tcp.set_nodelay(true)?;
        let name = ServerName::IpAddress(self.address.ip().into());
        let stream = self.tls.connect(name, tcp).await?;
        let (send, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(4 << 20)
            .initial_connection_window_size(16 << 20)
            .handshake(TokioIo::new(stream))
            .await?;
        // Its error is also that of the requests on it.
        tokio::spawn(connection);
        Ok(send)
    }

    /// So many clients, on a few connections that they share.
    pub(crate) async fn clients(&self, count: usize) -> Result<Vec<Client>> {
        self.spread(count, CONNECTIONS.min(count)).await
    }

    pub(crate) async fn watchers(&self, count: usize) -> Result<Vec<Client>> {
        self.spread(count, count.div_ceil(WATCHERS_EACH)).await
    }

    async fn spread(&self, count: usize, connections: usize) -> Result<Vec<Client>> {
        let mut open = Vec::new();
        for _ in 0..connections {
            open.push(self.connect().await?);
        }
        Ok(open.iter().cycle().take(count).cloned().collect())
    }
}

/// A client of the server that this authority vouches for.
fn trusting(authority: &Path) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority)?)?;
    let mut provider = aws_lc_rs::default_provider();
    // One cipher for both sides, the first choice of Go's clients.
    provider.cipher_suites = vec![aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256];
    Ok(ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots))
}

#[derive(Clone)]
pub(crate) struct Client(SendRequest<Full<Bytes>>);

impl Client {
    /// Sends a request and counts the bytes of its answer; any other status than the expected one is an error.
    pub(crate) async fn call(
        &mut self,
        request: Request<Full<Bytes>>,
        expected: StatusCode,
    ) -> Result<usize> {
        let mut body = self.open(request, expected).await?;
        let mut bytes = 0;
        while let Some(frame) = body.frame().await {
            bytes += frame?.data_ref().map_or(0, Bytes::len);
        }
        Ok(bytes)
    }

    /// The same, and the whole answer.
    pub(crate) async fn read(
        &mut self,
        request: Request<Full<Bytes>>,
        expected: StatusCode,
    ) -> Result<Bytes> {
        let body = self.open(request, expected).await?;
        Ok(body.collect().await?.to_bytes())
    }

    /// The answer's body, which has not arrived yet.
    pub(crate) async fn open(
        &mut self,
        request: Request<Full<Bytes>>,
        expected: StatusCode,
    ) -> Result<Incoming> {
        self.0.ready().await?;
        let answer = self.0.send_request(request).await?;
        let status = answer.status();
        if status == expected {
            return Ok(answer.into_body());
        }
        let said = answer.into_body().collect().await?.to_bytes();
        let said = String::from_utf8_lossy(&said);
        let said: String = said.chars().take(500).collect();
        bail!("{status} where {expected} was expected: {said}")
    }

    /// The status alone, whatever it is.
    pub(crate) async fn status(&mut self, request: Request<Full<Bytes>>) -> Result<StatusCode> {
        self.0.ready().await?;
        let answer = self.0.send_request(request).await?;
        let status = answer.status();
        answer.into_body().collect().await?;
        Ok(status)
    }
}
