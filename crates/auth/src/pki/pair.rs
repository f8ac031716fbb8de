//! Whether a certificate and a private key belong together, in the words of Go's `tls.X509KeyPair`.

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use pem::Pem;
use x509_parser::parse_x509_certificate;
use x509_parser::prelude::FromDer as _;
use x509_parser::x509::SubjectPublicKeyInfo;

use crate::keypair::{Form, KeyPair};

const KEY: &str = "PRIVATE KEY";

/// Why they do not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairError {
    #[error("tls: failed to find any PEM data in {0} input")]
    NoPem(&'static str),
    #[error(
        "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched"
    )]
    Switched,
    #[error(
        "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following types: [{0}]"
    )]
    NoCertificate(String),
    #[error("tls: found a certificate rather than a key in the PEM for the private key")]
    CertificateForKey,
    #[error(
        "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the following types: [{0}]"
    )]
    NoKey(String),
    #[error("x509: malformed certificate")]
    Malformed,
    #[error("tls: failed to parse private key")]
    UnreadableKey,
    #[error("tls: private key type does not match public key type")]
    OtherType,
    #[error("tls: private key does not match public key")]
    OtherKey,
}

/// The first certificate of one PEM text and the first key of another.
pub fn check_pair(certificate: &[u8], key: &[u8]) -> Result<(), PairError> {
    let certificates = pem::parse_many(certificate).unwrap_or_default();
    let keys = pem::parse_many(key).unwrap_or_default();
    let Some(certificate) = certificates.iter().find(|it| it.tag() == "CERTIFICATE") else {
        return Err(match &*certificates {
            [] => PairError::NoPem("certificate"),
            [only] if only.tag().ends_with(KEY) => PairError::Switched,
            _ => PairError::NoCertificate(tags(&certificates)),
        });
    };
    let Some(key) = keys.iter().find(|it| it.tag().ends_with(KEY)) else {
        return Err(match &*keys {
            [] => PairError::NoPem("key"),
            [only] if only.tag() == "CERTIFICATE" => PairError::CertificateForKey,
            _ => PairError::NoKey(tags(&keys)),
        });
    };
    let parsed = parse_x509_certificate(certificate.contents());
    let (_, certificate) = parsed.map_err(|_| PairError::Malformed)?;
    let Some(spki) = public_half(key) else {
        // A key of a kind that we do not use ourselves is none of our business.
        return if key.tag() != "ENCRYPTED PRIVATE KEY" && is_sequence(key.contents()) {
            Ok(())
        } else {
            Err(PairError::UnreadableKey)
        };
    };
    let spki = SubjectPublicKeyInfo::from_der(&spki);
    let (_, own) = spki.map_err(|_| PairError::UnreadableKey)?;
    let theirs = certificate.public_key();
    if own.algorithm.algorithm != theirs.algorithm.algorithm {
        return Err(PairError::OtherType);
    }
    if own.subject_public_key.data != theirs.subject_public_key.data {
        return Err(PairError::OtherKey);
    }
    Ok(())
}

fn tags(blocks: &[Pem]) -> String {
    let tags: Vec<_> = blocks.iter().map(Pem::tag).collect();
    tags.join(" ")
}

/// As a DER `SubjectPublicKeyInfo`.
fn public_half(key: &Pem) -> Option<Vec<u8>> {
    if let Some(pair) = KeyPair::from_pem(pem::encode(key).as_bytes(), Form::Asn1) {
        return Some(pair.spki);
    }
    let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key.contents()).ok()?;
    Some(pair.public_key().as_der().ok()?.as_ref().to_vec())
}

/// Whether DER is one sequence, and nothing behind it.
fn is_sequence(der: &[u8]) -> bool {
    x509_parser::der_parser::parse_der(der)
        .is_ok_and(|(rest, found)| rest.is_empty() && found.as_sequence().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pki::CertificateAuthority;

    #[test]
    fn pairs() {
        let one = CertificateAuthority::generate("one", 0).unwrap();
        let other = CertificateAuthority::generate("other", 0).unwrap();
        let check = |certificate: &str, key: &str| {
            let found = check_pair(certificate.as_bytes(), key.as_bytes());
            found.err().map(|it| it.to_string()).unwrap_or_default()
        };
        let (certificate, key) = (&*one.certificate, &*one.key);
        let block = |tag: &str, text: &str| pem::encode(&Pem::new(tag, text.as_bytes()));
        let cases = [
            (certificate.to_owned(), key.to_owned(), ""),
            // What stands around them is skipped, what follows is a chain.
            (
                format!("x\n{certificate}{}", other.certificate),
                format!("{certificate}{key}"),
                "",
            ),
            (
                certificate.into(),
                other.key.clone(),
                "tls: private key does not match public key",
            ),
            (
                String::new(),
                String::new(),
                "tls: failed to find any PEM data in certificate input",
            ),
            (
                certificate.into(),
                "x".into(),
                "tls: failed to find any PEM data in key input",
            ),
            (
                key.into(),
                certificate.into(),
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched",
            ),
            (
                certificate.into(),
                certificate.into(),
                "tls: found a certificate rather than a key in the PEM for the private key",
            ),
            (
                block("FOO", "x"),
                key.into(),
                "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following types: [FOO]",
            ),
            (
                certificate.into(),
                block("FOO", "x") + &block("BAR", "x"),
                "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the following types: [FOO BAR]",
            ),
            (
                block("CERTIFICATE", "x"),
                key.into(),
                "x509: malformed certificate",
            ),
            (
                certificate.into(),
                block("PRIVATE KEY", "x"),
                "tls: failed to parse private key",
            ),
            (
                certificate.into(),
                block("ENCRYPTED PRIVATE KEY", "0\0"),
                "tls: failed to parse private key",
            ),
            // A sequence of nothing: readable, and no key that we know.
            (certificate.into(), block("PRIVATE KEY", "0\0"), ""),
        ];
        for (certificate, key, want) in cases {
            assert_eq!(check(&certificate, &key), want);
        }
        let ed = Ed25519KeyPair::generate().unwrap();
        let ed = pem::encode(&Pem::new("PRIVATE KEY", ed.to_pkcs8v1().unwrap().as_ref()));
        let want = "tls: private key type does not match public key type";
        assert_eq!(check(certificate, &ed), want);
    }
}
