//! Certificates: a cluster's own authority, what it issues, and what it signs for others.
//!
//! Certificates are written here and not by rcgen, whose names hold one value per attribute: a client certificate has
//! one organization per group, and a signed request must keep its subject and key byte for byte.

mod authority;
mod bundle;
mod der;
mod files;
mod issue;
mod pair;
mod request;
mod signer;
mod usage;

pub use authority::{CertificateAuthority, CertifiedKey};
pub use bundle::{check_authorities, check_chain, combine, overlap};
pub use files::{Files, ServingNames, ensure};
pub use pair::{PairError, check_pair};
pub use request::CertificateRequest;
pub(crate) use request::names_of;
pub use signer::{SIGNERS, approved, kubelet_client_request, sign};

/// What went wrong with a certificate, a key or a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PkiError {
    #[error("could not read the certificate of the authority")]
    Certificate,
    #[error("could not read the key of the authority")]
    Key,
    #[error("the key does not belong to the certificate of the authority")]
    OtherKey,
    #[error("could not generate a key")]
    Generate,
    #[error("could not sign")]
    Sign,
    #[error("PEM block type must be CERTIFICATE REQUEST")]
    NoRequest,
    #[error("unable to parse certificate request")]
    Request,
    #[error("x509: signature of the certificate request is not valid")]
    RequestSignature,
    #[error("{0}")]
    Refused(String),
}
