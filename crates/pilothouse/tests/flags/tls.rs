//! Certificates of others: shown to clients, and shown by them.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::sign::CertifiedKey;

use super::client::Client;
use super::program::{Program, run, until};

/// Somebody else's authority.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    /// Certificate and key.
    fn serving(&self, names: &[&str]) -> (String, String) {
        let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(&params)
    }

    pub(crate) fn client(&self, user: &str, group: &str) -> (String, String) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, user);
        params
            .distinguished_name
            .push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

pub(crate) fn write(place: &Path, name: &str, text: &str) -> String {
    let path = place.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

/// What the server shows.
fn shown(server: &Program) -> Option<CertificateDer<'static>> {
    let stream = server.admin().connect().ok()?;
    let shown = stream.conn.peer_certificates()?.first()?;
    Some(shown.clone().into_owned())
}

#[test]
fn a_given_certificate_is_shown_and_followed() {
    let files = tempfile::tempdir().unwrap();
    let authority = Authority::new("corporate");
    // It names neither 127.0.0.1 nor localhost: the admin's kubeconfig must get along with that.
    let (certificate, key) = authority.serving(&["kube.test"]);
    let chain = write(
        files.path(),
        "tls.crt",
        &format!("{certificate}{}", authority.pem),
    );
    let secret = write(files.path(), "tls.key", &key);
    let server = Program::serve(&["--tls-cert-file", &chain, "--tls-private-key-file", &secret]);
    assert_eq!(shown(&server), Some(der(&certificate)));
    let (name, groups) = server.admin().whoami().unwrap();
    assert_eq!(name, "kubernetes-admin");
    assert!(groups.contains(&"system:masters".to_owned()));
    // What pods trust the server by is the same.
    let root = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
    until("kube-root-ca.crt is there", || {
        server.admin().get(root).code == 200
    });
    let root = server.admin().get(root).json();
    let root = root.str_at(&["data", "ca.crt"]).unwrap();
    assert!(root.contains(authority.pem.trim()), "{root}");

    // Another one of another authority, in the same files.
    let other = Authority::new("other");
    let (renewed, key) = other.serving(&["kube.test", "127.0.0.1"]);
    write(files.path(), "tls.key", &key);
    write(files.path(), "tls.crt", &format!("{renewed}{}", other.pem));
    until("the new certificate is shown", || {
        shown(&server) == Some(der(&renewed))
    });
    server.admin().get("/api/v1/namespaces").expect(200);
}

#[test]
fn a_self_signed_certificate_works_for_the_admin() {
    let files = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let chain = write(files.path(), "tls.crt", &made.cert.pem());
    let key = write(files.path(), "tls.key", &made.signing_key.serialize_pem());
    let server = Program::serve(&[
        "--tls-cert-file",
        &chain,
        "--tls-private-key-file",
        &key,
        "--tls-min-version",
        "VersionTLS13",
    ]);
    server.admin().get("/api/v1/namespaces").expect(200);
    // Nothing older is spoken.
    assert!(server.admin().with_tls12().connect().is_err());
}

#[test]
fn cipher_suites_are_those_that_were_asked_for() {
    let wanted = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384";
    let server = Program::serve(&["--tls-cipher-suites", wanted]);
    let suite = |client: Client| {
        let stream = client.connect().unwrap();
        let suite = stream.conn.negotiated_cipher_suite().unwrap().suite();
        suite.as_str().unwrap().to_owned()
    };
    assert_eq!(suite(server.admin().with_tls12()), wanted);
    // The server chooses the fastest, though the client names another one first.
    assert_eq!(suite(server.admin()), "TLS13_AES_128_GCM_SHA256");
    server.admin().get("/livez").expect(200);
}

/// Shows no certificate, and keeps the names of the authorities that it was asked for.
#[derive(Debug, Default)]
struct Asked(Mutex<Vec<Vec<u8>>>);

impl ResolvesClientCert for Asked {
    fn resolve(&self, names: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        *self.0.lock().unwrap() = names.iter().map(|it| it.to_vec()).collect();
        None
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Whether clients are told that certificates of an authority of this name count.
fn is_told(server: &Program, name: &str) -> bool {
    let asked = Arc::new(Asked::default());
    let mut tls = server.admin().tls();
    tls.client_auth_cert_resolver = asked.clone();
    server.admin().connect_by(tls).unwrap();
    let names = asked.0.lock().unwrap();
    let name = name.as_bytes();
    names
        .iter()
        .any(|it| it.windows(name.len()).any(|part| part == name))
}

#[test]
fn clients_are_told_which_authorities_count() {
    let files = tempfile::tempdir().unwrap();
    let bundle = write(files.path(), "ca.crt", &Authority::new("first").pem);
    let server = Program::serve(&["--client-ca-file", &bundle]);
    assert!(is_told(&server, "first"));
    assert!(!is_told(&server, "second"));
    fs::write(&bundle, Authority::new("second").pem).unwrap();
    until("the new name is told", || is_told(&server, "second"));
    assert!(!is_told(&server, "first"));
}

#[test]
fn clients_of_another_authority_count_too() {
    let files = tempfile::tempdir().unwrap();
    let (first, second) = (Authority::new("first"), Authority::new("second"));
    let bundle = write(files.path(), "ca.crt", &first.pem);
    let server = Program::serve(&["--client-ca-file", &bundle]);
    let (jane, jane_key) = first.client("jane", "developers");
    let (joe, joe_key) = second.client("joe", "developers");
    let jane = server.admin().with_certificate(&jane, &jane_key);
    let joe = server.admin().with_certificate(&joe, &joe_key);
    let (name, groups) = jane.whoami().unwrap();
    assert_eq!(name, "jane");
    assert_eq!(groups, ["developers", "system:authenticated"]);
    assert_eq!(joe.whoami(), Err(401));
    assert!(server.admin().whoami().is_ok());
    let published = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    until("the authorities are published", || {
        server.admin().get(published).code == 200
    });
    let published = server.admin().get(published).json();
    let published = published.str_at(&["data", "client-ca-file"]).unwrap();
    assert!(published.contains(first.pem.trim()), "{published}");

    // The bundle changes while the server runs.
    fs::write(&bundle, &second.pem).unwrap();
    until("the new bundle counts", || joe.whoami().is_ok());
    assert_eq!(jane.whoami(), Err(401));
    assert!(server.admin().whoami().is_ok());
}

#[test]
fn files_that_do_not_fit_are_named() {
    let files = tempfile::tempdir().unwrap();
    let authority = Authority::new("corporate");
    let (certificate, _) = authority.serving(&["a"]);
    let (_, other_key) = authority.serving(&["a"]);
    let chain = write(files.path(), "tls.crt", &certificate);
    let key = write(files.path(), "tls.key", &other_key);
    let text = write(files.path(), "text", "hello\n");
    let missing = files.path().join("missing").to_str().unwrap().to_owned();
    let cases: [(&[&str], &[&str]); 7] = [
        (
            &["--tls-cert-file", &chain, "--tls-private-key-file", &key],
            &["--tls-cert-file", "tls.crt", "tls.key"],
        ),
        (
            &["--tls-cert-file", &text, "--tls-private-key-file", &key],
            &["--tls-cert-file", "no certificate in the file"],
        ),
        (
            &["--tls-cert-file", &missing, "--tls-private-key-file", &key],
            &["--tls-cert-file", "missing", "No such file"],
        ),
        (
            &["--tls-cert-file", &chain],
            &["--tls-private-key-file <FILE>"],
        ),
        (
            &["--client-ca-file", &text],
            &["--client-ca-file", "no certificate in the file"],
        ),
        (
            &["--client-ca-file", &missing],
            &["--client-ca-file", "No such file"],
        ),
        (
            &["--tls-cipher-suites", "TLS_RSA_WITH_RC4_128_SHA"],
            &["--tls-cipher-suites", "RC4", "TLS_ECDHE_"],
        ),
    ];
    for (flags, expected) in cases {
        let arguments = [&["serve", "--ephemeral"], flags].concat();
        let (ok, said) = run(&arguments);
        assert!(!ok, "{flags:?} is taken");
        for part in expected {
            assert!(said.contains(part), "{flags:?}: {said}");
        }
    }
}
