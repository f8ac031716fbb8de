//! The user of a client certificate.

use aws_lc_rs::digest;
use encoding::hex;
use x509_parser::parse_x509_certificate;

use crate::User;
use crate::pki::names_of;

/// `1.3.6.1.4.1.57683.2`, the attribute for a user's UID (on by default since 1.33).
const UID: &str = "1.3.6.1.4.1.57683.2";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    #[error("x509: malformed certificate")]
    Malformed,
    #[error("x509: certificate has expired or is not yet valid")]
    NotNow,
    #[error("x509: certificate specifies an incompatible key usage")]
    Usage,
    #[error("unable to parse UID into a string")]
    UidText,
    #[error("expected 1 UID, but found multiple: [{}]", .0.join(" "))]
    ManyUids(Vec<String>),
    #[error("UID cannot be an empty string")]
    EmptyUid,
}

/// From when to when a certificate counts, in seconds since 1970.
pub fn validity(certificate: &[u8]) -> Option<(i64, i64)> {
    let (_, found) = parse_x509_certificate(certificate).ok()?;
    let validity = found.validity();
    Some((
        validity.not_before.timestamp(),
        validity.not_after.timestamp(),
    ))
}

/// The common name of a certificate.
pub fn common_name(certificate: &[u8]) -> Option<String> {
    let (_, found) = parse_x509_certificate(certificate).ok()?;
    names_of(found.subject()).map(|(name, _)| name)
}

/// Who the certificate names; none if it has no common name. That it is signed by an authority for clients, TLS has
/// checked; that it is for clients and still counts, is checked here again, for connections live long.
pub fn user(certificate: &[u8], now: i64) -> Result<Option<User>, CertificateError> {
    let (rest, found) =
        parse_x509_certificate(certificate).map_err(|_| CertificateError::Malformed)?;
    if !rest.is_empty() {
        return Err(CertificateError::Malformed);
    }
    let validity = found.validity();
    if now < validity.not_before.timestamp() || now > validity.not_after.timestamp() {
        return Err(CertificateError::NotNow);
    }
    let usage = found
        .extended_key_usage()
        .map_err(|_| CertificateError::Malformed)?;
    if usage.is_some_and(|it| !it.value.client_auth && !it.value.any) {
        return Err(CertificateError::Usage);
    }
    let (name, groups) = names_of(found.subject()).ok_or(CertificateError::Malformed)?;
    if name.is_empty() {
        return Ok(None);
    }
    let mut uids = Vec::new();
    for attribute in found.subject().iter_attributes() {
        if attribute.attr_type().to_id_string() == UID {
            let uid = attribute.as_str().map_err(|_| CertificateError::UidText)?;
            uids.push(uid.to_owned());
        }
    }
    if uids.len() > 1 {
        return Err(CertificateError::ManyUids(uids));
    }
    if uids.first().is_some_and(String::is_empty) {
        return Err(CertificateError::EmptyUid);
    }
    let hash = digest::digest(&digest::SHA256, certificate);
    let hash = hex::encode(hash.as_ref());
    let mut user = User {
        name,
        uid: uids.pop().unwrap_or_default(),
        groups,
        ..User::default()
    };
    user.extra.insert(
        "authentication.kubernetes.io/credential-id".to_owned(),
        vec![format!("X509SHA256={hash}")],
    );
    Ok(Some(user))
}
