//! TLS as kube-apiserver has it: a client may show a certificate. One that we do not trust is no reason to hang up:
//! authentication looks at it, and the client gets an answer it can read.

use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{
    DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme, SupportedCipherSuite,
    SupportedProtocolVersion,
};

/// What of TLS is spoken.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// TLS 1.3 and nothing older; else 1.2 too.
    pub only_tls13: bool,
    /// Those of TLS 1.2, by their names; all that are known if none is given. TLS 1.3 always has all of its own.
    pub cipher_suites: Vec<String>,
}

/// What connections are accepted with. Clients are told by which authorities we know them, as by kube-apiserver: some
/// choose their certificate by it.
#[derive(Debug)]
pub struct Accepting {
    serving: Arc<Serving>,
    policy: Policy,
    authorities: Vec<ClientAuthority>,
    config: ArcSwap<ServerConfig>,
}

impl Accepting {
    pub fn new(
        serving: Arc<Serving>,
        policy: Policy,
        authorities: Vec<ClientAuthority>,
    ) -> Result<Self, rustls::Error> {
        let config = ArcSwap::new(server_config(serving.clone(), &policy, &authorities)?);
        Ok(Self {
            serving,
            policy,
            authorities,
            config,
        })
    }

    /// For connections from now on.
    pub fn config(&self) -> Arc<ServerConfig> {
        self.config.load_full()
    }

    /// The authorities have changed.
    pub fn renew(&self) -> Result<(), rustls::Error> {
        let config = server_config(self.serving.clone(), &self.policy, &self.authorities)?;
        self.config.store(config);
        Ok(())
    }
}

/// The server's side of TLS, with HTTP/2 and HTTP/1.1 on offer.
pub fn server_config(
    serving: Arc<Serving>,
    policy: &Policy,
    authorities: &[ClientAuthority],
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    // As Go's servers choose, whatever the client names first: long answers take a sixth less than with 256 bits.
    let suites = &mut provider.cipher_suites;
    suites.sort_by_key(|it| !suite_name(it).contains("AES_128"));
    if !policy.cipher_suites.is_empty() {
        provider
            .cipher_suites
            .retain(|it| it.version() == &TLS13 || policy.cipher_suites.contains(&suite_name(it)));
    }
    let provider = Arc::new(provider);
    let versions: &[&SupportedProtocolVersion] = if policy.only_tls13 {
        &[&TLS13]
    } else {
        &[&TLS13, &TLS12]
    };
    let verifier = Arc::new(AnyClientCertificate {
        names: names(authorities),
        algorithms: provider.signature_verification_algorithms,
    });
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(serving);
    config.ignore_client_order = true;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn names(authorities: &[ClientAuthority]) -> Vec<DistinguishedName> {
    let mut names = Vec::new();
    for authority in authorities {
        for name in authority.0.load().root_hint_subjects() {
            if !names
                .iter()
                .any(|it: &DistinguishedName| it.as_ref() == name.as_ref())
            {
                names.push(name.clone());
            }
        }
    }
    names
}

/// The cipher suites that there are, by the names that the registry of TLS has for them.
pub fn cipher_suites() -> Vec<String> {
    let all = rustls::crypto::aws_lc_rs::ALL_CIPHER_SUITES;
    all.iter().map(suite_name).collect()
}

fn suite_name(suite: &SupportedCipherSuite) -> String {
    let name = suite.suite().as_str().unwrap_or_default();
    name.replace("TLS13_", "TLS_")
}

/// The certificate that the server shows; it may be replaced while the server runs. Without one no connection is accepted.
#[derive(Debug, Default)]
pub struct Serving(ArcSwapOption<CertifiedKey>);

impl Serving {
    /// Errs if the key is not the first certificate's.
    pub fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, rustls::Error> {
        certified(chain, key).map(|it| Self(Some(it).into()))
    }

    /// For connections from now on.
    pub fn replace(
        &self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<(), rustls::Error> {
        certified(chain, key).map(|it| self.0.store(Some(it)))
    }
}

fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<CertifiedKey>, rustls::Error> {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    CertifiedKey::from_der(chain, key, &provider).map(Arc::new)
}

impl ResolvesServerCert for Serving {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.load_full()
    }
}

/// Proves that the client holds the key of the certificate it shows, and nothing else.
#[derive(Debug)]
struct AnyClientCertificate {
    names: Vec<DistinguishedName>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for AnyClientCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.names
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Whether a chain shown by a client leads to one of our client authorities, now.
#[derive(Clone, Debug)]
pub struct ClientAuthority(Arc<ArcSwap<Arc<dyn ClientCertVerifier>>>);

impl ClientAuthority {
    pub fn new(authorities: Vec<CertificateDer<'static>>) -> Result<Self, rustls::Error> {
        let verifier = Self::verifier(authorities)?;
        Ok(Self(Arc::new(ArcSwap::from_pointee(verifier))))
    }

    /// For connections from now on.
    pub fn replace(&self, authorities: Vec<CertificateDer<'static>>) -> Result<(), rustls::Error> {
        self.0.store(Arc::new(Self::verifier(authorities)?));
        Ok(())
    }

    fn verifier(
        authorities: Vec<CertificateDer<'static>>,
    ) -> Result<Arc<dyn ClientCertVerifier>, rustls::Error> {
        let mut roots = rustls::RootCertStore::empty();
        for authority in authorities {
            roots.add(authority)?;
        }
        let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let built =
            rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        built
            .build()
            .map_err(|error| rustls::Error::General(error.to_string()))
    }

    pub fn trusts(&self, chain: &[CertificateDer<'_>]) -> bool {
        let Some((end, rest)) = chain.split_first() else {
            return false;
        };
        let now = UnixTime::now();
        let verifier = self.0.load();
        verifier.verify_client_cert(end, rest, now).is_ok()
    }
}
