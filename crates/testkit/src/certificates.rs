//! Certificates for tests.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

/// Files in PEM: a CA, what it signed for servers on loopback and for a client, and a CA nobody trusts.
#[derive(Debug)]
pub struct Certificates {
    pub ca: PathBuf,
    pub server_cert: PathBuf,
    pub server_key: PathBuf,
    pub client_cert: PathBuf,
    pub client_key: PathBuf,
    pub wrong_ca: PathBuf,
}

impl Certificates {
    pub fn make(directory: &Path) -> Self {
        let write = |name: &str, pem: String| {
            let path = directory.join(name);
            fs::write(&path, pem).expect("write a certificate");
            path
        };
        let ca = authority("test CA");
        // etcd connects to itself with the server's certificate: it is a client, too.
        let (server_cert, server_key) = signed(
            &ca,
            "test server",
            vec!["127.0.0.1".into(), "localhost".into()],
        );
        let (client_cert, client_key) = signed(&ca, "test client", Vec::new());
        Self {
            ca: write("ca.pem", ca.pem()),
            server_cert: write("server.pem", server_cert),
            server_key: write("server.key", server_key),
            client_cert: write("client.pem", client_cert),
            client_key: write("client.key", client_key),
            wrong_ca: write("wrong-ca.pem", authority("another CA").pem()),
        }
    }
}

fn params(name: &str, names: Vec<String>) -> CertificateParams {
    let mut params = CertificateParams::new(names).expect("valid names");
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = params(name, Vec::new());
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().expect("make a key");
    CertifiedIssuer::self_signed(params, key).expect("sign the CA")
}

fn signed(ca: &CertifiedIssuer<'_, KeyPair>, name: &str, names: Vec<String>) -> (String, String) {
    let mut params = params(name, names);
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    let key = KeyPair::generate().expect("make a key");
    let certificate = params.signed_by(&key, ca).expect("sign a certificate");
    (certificate.pem(), key.serialize_pem())
}
