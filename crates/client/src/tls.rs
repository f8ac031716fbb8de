//! Whom to believe, and who we are.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{
    DangerousClientConfigBuilder, HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::Error;

/// All of it is PEM.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    pub roots: Roots,
    /// Our certificate, with what stands between it and a root, and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// What the server's certificate must be for, if not the URL's host.
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

#[derive(Debug)]
pub(crate) struct Connector {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
}

impl Connector {
    pub(crate) fn new(host: &str, trust: &Trust) -> Result<Self, Error> {
        let host = trust.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Error::Trust(format!("{host:?} is no name of a host")))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match &trust.roots {
            Roots::Anyone => Arc::new(Anyone(provider.clone())),
            Roots::System => verifier(system(), &provider)?,
            Roots::Pem(pem) => verifier(roots(pem)?, &provider)?,
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Trust(error.to_string()))?;
        let builder = DangerousClientConfigBuilder { cfg: builder }
            .with_custom_certificate_verifier(verifier);
        let mut config = match &trust.identity {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let wrong = |why: String| Error::Trust(format!("client certificate: {why}"));
                let key = PrivateKeyDer::from_pem_slice(key);
                let key = key.map_err(|error| wrong(error.to_string()))?;
                let config = builder.with_client_auth_cert(certificates(chain)?, key);
                config.map_err(|error| wrong(error.to_string()))?
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
            name,
        })
    }
}

fn verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| Error::Trust(format!("whom to trust: {error}")))
}

fn system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn roots(pem: &[u8]) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        let added = roots.add(certificate);
        added.map_err(|error| Error::Trust(format!("certificate authority: {error}")))?;
    }
    Ok(roots)
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(Error::Trust("there is no certificate in the PEM".into())),
        Err(error) => Err(Error::Trust(format!("certificates: {error}"))),
    }
}

/// Takes every certificate; the signatures of the handshake are still checked.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
