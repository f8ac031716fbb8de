//! Whom to believe, whom to be, and what Go says of those it does not believe.

mod verify;

use std::io;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use verify::Verifier;

const NO_PEM: &str = "unable to load root certificates: unable to parse bytes as PEM block";

/// A certificate to show, and its key, both in PEM.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    pub certificate: &'a [u8],
    pub key: &'a [u8],
}

/// Trusts the bundle in PEM, or what the system trusts if there is none.
pub fn config(
    bundle: Option<&[u8]>,
    identity: Option<Identity<'_>>,
    protocols: &[&[u8]],
) -> Result<Arc<ClientConfig>, String> {
    let (roots, pinned) = match bundle {
        None => (system().clone(), Vec::new()),
        Some(pem) => {
            let certificates = certificates(pem).ok_or(NO_PEM)?;
            let mut roots = RootCertStore::empty();
            for certificate in &certificates {
                roots.add(certificate.clone()).map_err(|_| NO_PEM)?;
            }
            (Arc::new(roots), certificates)
        }
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier::new(roots, pinned, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(Identity { certificate, key }) => {
            let what = "tls: failed to find any PEM data in certificate input";
            let chain = certificates(certificate).ok_or(what)?;
            let what = "tls: failed to find any PEM data in key input";
            let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| what)?;
            let with = builder.with_client_auth_cert(chain, key);
            with.map_err(|error| format!("tls: {error}"))?
        }
    };
    config.alpn_protocols = protocols.iter().map(|it| it.to_vec()).collect();
    Ok(Arc::new(config))
}

/// All certificates of a text, if there are any.
fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    all.ok().filter(|it| !it.is_empty())
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
