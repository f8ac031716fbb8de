//! A certificate signing request (PKCS#10), read.

use std::net::IpAddr;

use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::FromDer as _;
use x509_parser::x509::X509Name;

use super::PkiError;
use super::issue::AlternativeNames;

/// Its subject and key are kept as they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateRequest {
    pub common_name: String,
    pub organizations: Vec<String>,
    pub(super) names: AlternativeNames,
    pub(super) subject: Vec<u8>,
    pub(super) spki: Vec<u8>,
}

impl CertificateRequest {
    /// Reads the PEM and checks that the requester holds the key.
    pub fn from_pem(text: &[u8]) -> Result<Self, PkiError> {
        let blocks = pem::parse_many(text).unwrap_or_default();
        let block = blocks.first().ok_or(PkiError::NoRequest)?;
        if block.tag() != "CERTIFICATE REQUEST" {
            return Err(PkiError::NoRequest);
        }
        let (rest, request) =
            X509CertificationRequest::from_der(block.contents()).map_err(|_| PkiError::Request)?;
        if !rest.is_empty() {
            return Err(PkiError::Request);
        }
        request
            .verify_signature()
            .map_err(|_| PkiError::RequestSignature)?;
        let info = &request.certification_request_info;
        let (common_name, organizations) = names_of(&info.subject).ok_or(PkiError::Request)?;
        let extensions = request.requested_extensions().into_iter().flatten();
        let mut names = AlternativeNames::default();
        for extension in extensions {
            if let ParsedExtension::SubjectAlternativeName(found) = extension {
                names = alternative_names(&found.general_names).ok_or(PkiError::Request)?;
            }
        }
        Ok(Self {
            common_name,
            organizations,
            names,
            subject: info.subject.as_raw().to_vec(),
            spki: info.subject_pki.raw.to_vec(),
        })
    }
}

/// The last common name and all organizations; none if one is no text.
pub(crate) fn names_of(name: &X509Name) -> Option<(String, Vec<String>)> {
    let mut common_name = String::new();
    for it in name.iter_common_name() {
        it.as_str().ok()?.clone_into(&mut common_name);
    }
    let organizations = name.iter_organization();
    let organizations = organizations.map(|it| it.as_str().ok().map(str::to_owned));
    Some((common_name, organizations.collect::<Option<_>>()?))
}

fn alternative_names(found: &[GeneralName]) -> Option<AlternativeNames> {
    let mut names = AlternativeNames::default();
    for name in found {
        match name {
            GeneralName::DNSName(it) => names.dns.push((*it).to_owned()),
            GeneralName::RFC822Name(it) => names.emails.push((*it).to_owned()),
            GeneralName::URI(it) => names.uris.push((*it).to_owned()),
            GeneralName::IPAddress(_) => names.ips.push(ip_of(name)?),
            // As Go does, others are not carried over.
            _ => {}
        }
    }
    Some(names)
}

pub(super) fn ip_of(name: &GeneralName) -> Option<IpAddr> {
    let GeneralName::IPAddress(bytes) = name else {
        return None;
    };
    let v4 = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from))
        .ok()
}
