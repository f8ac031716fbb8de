//! Whom to believe, and what Go says of those it does not believe.

use std::io;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use super::verify::Verifier;

const NO_PEM: &str = "unable to load root certificates: unable to parse bytes as PEM block";

/// Trusts the bundle, or what the system trusts if there is none.
pub(super) fn config(bundle: &str) -> Result<Arc<ClientConfig>, String> {
    let (roots, pinned) = if bundle.is_empty() {
        (system().clone(), Vec::new())
    } else {
        let pem = base64::prelude::BASE64_STANDARD.decode(bundle);
        let certificates = certificates(&pem.map_err(|_| NO_PEM)?)?;
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|_| NO_PEM)?;
        }
        (Arc::new(roots), certificates)
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier::new(roots, pinned, &provider)?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|_| NO_PEM)?;
    if all.is_empty() {
        return Err(NO_PEM.into());
    }
    Ok(all)
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
pub(super) fn said(error: &io::Error) -> String {
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
