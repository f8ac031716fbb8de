//! Whom to believe, whom to be, and what Go says of those it does not believe.

mod verify;

use std::io;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::Stream;
use verify::{Anyone, Verifier};

/// Whom to believe, and who we are. All of it is PEM.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    pub roots: Roots,
    /// Our certificate, with what stands between it and a root, and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// What the server's certificate must be for, if not the host that is called.
    pub server_name: Option<String>,
}

/// Whose signature makes a server's certificate good.
#[derive(Clone, Debug, Default)]
pub enum Roots {
    /// Those that the system trusts.
    #[default]
    System,
    Pem(Vec<u8>),
    /// Whoever answers is believed.
    Anyone,
}

/// A certificate to show, and its key, both in PEM.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    pub certificate: &'a [u8],
    pub key: &'a [u8],
}

/// How the other end of a connection is verified, and by which name.
#[derive(Clone, Debug)]
pub struct Secured {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

impl Secured {
    /// For a host, unless `trust` has another name.
    pub fn new(trust: &Trust, host: &str, protocols: &[&[u8]]) -> Result<Self, TlsError> {
        let identity = trust.identity.as_ref();
        let identity = identity.map(|(certificate, key)| Identity { certificate, key });
        let host = trust.server_name.as_deref().unwrap_or(host);
        Ok(Self {
            name: server_name(host)?,
            config: build(&trust.roots, identity, protocols)?,
        })
    }
}

/// The name that a server's certificate must have.
pub fn server_name(host: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(host.to_owned()).map_err(|_| TlsError::ServerName(host.to_owned()))
}

/// Why there is no configuration, in the words of Go's clients.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    #[error("{} is no name of a host", meta::go::quote(.0))]
    ServerName(String),
    #[error("unable to load root certificates: unable to parse bytes as PEM block")]
    Roots(PemError),
    #[error("tls: failed to find any PEM data in certificate input")]
    Certificate(PemError),
    #[error("tls: failed to find any PEM data in key input")]
    Key(String),
    #[error("tls: {0}")]
    Identity(String),
    #[error("{0}")]
    Setup(String),
}

/// What is wrong with certificates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PemError {
    #[error("there is no certificate in the PEM")]
    Empty,
    #[error("certificates: {0}")]
    Malformed(String),
    #[error("certificate authority: {0}")]
    Rejected(String),
}

/// Trusts the bundle in PEM, or what the system trusts if there is none.
pub fn config(
    bundle: Option<&[u8]>,
    identity: Option<Identity<'_>>,
    protocols: &[&[u8]],
) -> Result<Arc<ClientConfig>, TlsError> {
    let roots = bundle.map_or(Roots::System, |it| Roots::Pem(it.to_vec()));
    build(&roots, identity, protocols)
}

/// The one place where a configuration for connections that leave is made.
fn build(
    roots: &Roots,
    identity: Option<Identity<'_>>,
    protocols: &[&[u8]],
) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match roots {
        Roots::System => Arc::new(Verifier::new(system().clone(), Vec::new(), &provider)?),
        Roots::Pem(pem) => {
            let certificates = certificates(pem).map_err(TlsError::Roots)?;
            let mut roots = RootCertStore::empty();
            for certificate in &certificates {
                let added = roots.add(certificate.clone());
                let rejected = |error: Error| PemError::Rejected(error.to_string());
                added.map_err(|error| TlsError::Roots(rejected(error)))?;
            }
            Arc::new(Verifier::new(Arc::new(roots), certificates, &provider)?)
        }
        Roots::Anyone => Arc::new(Anyone(provider.clone())),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Setup(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(Identity { certificate, key }) => {
            let chain = certificates(certificate).map_err(TlsError::Certificate)?;
            let key = PrivateKeyDer::from_pem_slice(key);
            let key = key.map_err(|error| TlsError::Key(error.to_string()))?;
            let with = builder.with_client_auth_cert(chain, key);
            with.map_err(|error| TlsError::Identity(error.to_string()))?
        }
    };
    config.alpn_protocols = protocols.iter().map(|it| it.to_vec()).collect();
    Ok(Arc::new(config))
}

/// TLS over a stream that is there. What goes wrong is told by [`said`] in Go's words.
pub async fn connect(secured: &Secured, stream: Stream) -> io::Result<Stream> {
    let connector = TlsConnector::from(secured.config.clone());
    let stream = connector.connect(secured.name.clone(), stream).await?;
    Ok(stream.into())
}

/// All certificates of a text, of which there must be some.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(PemError::Empty),
        Err(error) => Err(PemError::Malformed(error.to_string())),
    }
}

fn system() -> &'static Arc<RootCertStore> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    })
}

/// As Go's client says it.
pub fn said(error: &io::Error) -> String {
    let found = error.get_ref().and_then(|it| it.downcast_ref::<Error>());
    match found {
        Some(Error::InvalidCertificate(why)) => {
            format!(
                "tls: failed to verify certificate: x509: {}",
                certificate(why)
            )
        }
        Some(Error::InvalidMessage(_)) => "http: server gave HTTP response to HTTPS client".into(),
        Some(Error::AlertReceived(alert)) => format!("remote error: tls: {alert:?}"),
        Some(other) => format!("tls: {other}"),
        None if error.kind() == io::ErrorKind::UnexpectedEof => "EOF".into(),
        None => error.to_string(),
    }
}

fn certificate(why: &CertificateError) -> String {
    match why {
        // Also the second: to Go it is no matter that it could sign others, but who signed it.
        CertificateError::UnknownIssuer
        | CertificateError::BadSignature
        | CertificateError::Other(_) => "certificate signed by unknown authority".into(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate has expired or is not yet valid: current time is after its end".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "certificate has expired or is not yet valid: current time is before its start".into()
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => name(
            &expected.to_str(),
            matches!(expected, ServerName::IpAddress(_)),
            presented,
        ),
        CertificateError::NotValidForName => "certificate is not valid for this name".into(),
        other => other.to_string(),
    }
}

fn name(wanted: &str, is_address: bool, presented: &[String]) -> String {
    let kind = if is_address { "IpAddress" } else { "DnsName" };
    let names = presented.iter().filter(|it| it.starts_with(kind));
    let names: Vec<&str> = names.map(|it| plain(it)).collect();
    if !names.is_empty() {
        return format!(
            "certificate is valid for {}, not {wanted}",
            names.join(", ")
        );
    }
    if is_address {
        return format!(
            "cannot validate certificate for {wanted} because it doesn't contain any IP SANs"
        );
    }
    format!("certificate is not valid for any names, but wanted to match {wanted}")
}

/// `DnsName("a.b")` without what is around it.
fn plain(presented: &str) -> &str {
    let inner = presented.split_once('(').map_or(presented, |(_, it)| it);
    inner.trim_end_matches(')').trim_matches('"')
}
