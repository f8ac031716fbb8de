//! A certificate authority.

use std::fmt;
use std::net::IpAddr;

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::ParsedExtension;
use x509_parser::parse_x509_certificate;

use super::PkiError;
use super::issue::{AlternativeNames, Signer, Template, issue, key_id, name};
use crate::keypair::{Form, KeyPair, encode_pem};

pub(super) const DAY: i64 = 24 * 60 * 60;
pub(super) const YEAR: i64 = 365 * DAY;
/// Clocks differ: certificates begin a little before they are made.
pub(super) const BACKDATE: i64 = 5 * 60;

/// A certificate with its private key, both as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct CertifiedKey {
    pub certificate: String,
    pub key: String,
}

/// Never shows the key.
impl fmt::Debug for CertifiedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertifiedKey").finish_non_exhaustive()
    }
}

/// Signs certificates.
pub struct CertificateAuthority {
    key: KeyPair,
    /// The certificate, as DER.
    certificate: Vec<u8>,
    subject: Vec<u8>,
    key_id: Option<Vec<u8>>,
    /// Nothing it signs outlives it.
    pub not_after: i64,
}

impl CertificateAuthority {
    /// A new authority for ten years.
    pub fn generate(common_name: &str, now: i64) -> Result<CertifiedKey, PkiError> {
        let pem = KeyPair::generate_pem().ok_or(PkiError::Generate)?;
        let key = KeyPair::from_pem(pem.as_bytes(), Form::Asn1).ok_or(PkiError::Generate)?;
        let subject = name(common_name, &[]);
        let template = Template {
            subject: &subject,
            spki: &key.spki,
            not_before: now - BACKDATE,
            not_after: now + 10 * YEAR,
            is_ca: true,
            usages: &["digital signature", "key encipherment", "cert sign"].map(str::to_owned),
            names: &AlternativeNames {
                dns: vec![common_name.to_owned()],
                ..AlternativeNames::default()
            },
        };
        let signer = Signer {
            subject: &subject,
            key_id: None,
            key: &key,
        };
        Ok(CertifiedKey {
            certificate: certificate_pem(&issue(&template, &signer)?),
            key: pem,
        })
    }

    pub fn from_pem(authority: &CertifiedKey) -> Result<Self, PkiError> {
        let der = certificate_der(&authority.certificate).ok_or(PkiError::Certificate)?;
        let key = KeyPair::from_pem(authority.key.as_bytes(), Form::Asn1).ok_or(PkiError::Key)?;
        let (_, found) = parse_x509_certificate(&der).map_err(|_| PkiError::Certificate)?;
        if found.public_key().raw != key.spki {
            return Err(PkiError::OtherKey);
        }
        let id = found
            .extensions()
            .iter()
            .find_map(|it| match it.parsed_extension() {
                ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
                _ => None,
            });
        Ok(Self {
            subject: found.subject().as_raw().to_vec(),
            key_id: id,
            not_after: found.validity().not_after.timestamp(),
            key,
            certificate: der,
        })
    }

    /// A certificate for a server, for a year.
    pub fn serving(
        &self,
        common_name: &str,
        names: &[String],
        ips: &[IpAddr],
        now: i64,
    ) -> Result<CertifiedKey, PkiError> {
        let names = AlternativeNames {
            dns: names.to_vec(),
            ips: ips.to_vec(),
            ..AlternativeNames::default()
        };
        let end = now + YEAR;
        self.certify(&name(common_name, &[]), "server auth", &names, now, end)
    }

    /// A certificate for a user and its groups, for a year.
    pub fn client(&self, user: &str, groups: &[&str], now: i64) -> Result<CertifiedKey, PkiError> {
        self.client_until(user, groups, now, now + YEAR)
    }

    /// A certificate for a user and its groups, until `end` or as long as the authority lives.
    pub fn client_until(
        &self,
        user: &str,
        groups: &[&str],
        now: i64,
        end: i64,
    ) -> Result<CertifiedKey, PkiError> {
        let names = AlternativeNames::default();
        self.certify(&name(user, groups), "client auth", &names, now, end)
    }

    fn certify(
        &self,
        subject: &[u8],
        purpose: &str,
        names: &AlternativeNames,
        now: i64,
        end: i64,
    ) -> Result<CertifiedKey, PkiError> {
        let pem = KeyPair::generate_pem().ok_or(PkiError::Generate)?;
        let key = KeyPair::from_pem(pem.as_bytes(), Form::Asn1).ok_or(PkiError::Generate)?;
        let certificate = self.issue(&Template {
            subject,
            spki: &key.spki,
            not_before: now - BACKDATE,
            not_after: self.not_after.min(end),
            is_ca: false,
            usages: &["digital signature", "key encipherment", purpose].map(str::to_owned),
            names,
        })?;
        Ok(CertifiedKey {
            certificate,
            key: pem,
        })
    }

    /// The certificate as PEM.
    pub(super) fn issue(&self, template: &Template) -> Result<String, PkiError> {
        let signer = Signer {
            subject: &self.subject,
            key_id: self.key_id.as_deref(),
            key: &self.key,
        };
        Ok(certificate_pem(&issue(template, &signer)?))
    }

    /// Whether it signed the certificate.
    pub(super) fn signed(&self, certificate: &X509Certificate) -> bool {
        let Ok((_, own)) = parse_x509_certificate(&self.certificate) else {
            return false;
        };
        certificate.issuer().as_raw() == self.subject
            && certificate.verify_signature(Some(own.public_key())).is_ok()
    }
}

impl fmt::Debug for CertificateAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = key_id(&self.key.spki);
        f.debug_tuple("CertificateAuthority").field(&id).finish()
    }
}

pub(super) fn certificate_pem(der: &[u8]) -> String {
    encode_pem("CERTIFICATE", der)
}

/// The first certificate of the PEM.
pub(super) fn certificate_der(text: &str) -> Option<Vec<u8>> {
    let blocks = pem::parse_many(text).ok()?;
    let found = blocks.into_iter().find(|it| it.tag() == "CERTIFICATE")?;
    Some(found.into_contents())
}
