//! Service account tokens: signed here, verified here, published for others to verify.

mod claims;
mod discovery;
mod issuer;
mod jwt;
mod key;
mod legacy;
mod lookup;
mod request;
mod verify;

pub use claims::{Reference, TokenClaims};
pub use discovery::{CONFIGURATION_PATH, JWKS_PATH, configuration, jwks};
pub use issuer::{Issuer, TokenSpec};
pub use key::{Algorithm, KeyError, PublicKey, SigningKey};
pub use legacy::{LAST_USED, LEGACY_ISSUER, LegacyClaims, legacy_token};
pub use lookup::Lookup;
pub use request::{
    Expiration, MIN_EXPIRATION, WARN_ONLY_EXPIRATION, expiration, validate_token_request,
};
pub use verify::{Authenticated, TokenError, Verified, Verifier};
