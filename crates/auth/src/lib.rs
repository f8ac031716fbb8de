//! Authentication and authorization: users from certificates and tokens, impersonation, RBAC and the Node authorizer.
//!
//! **Invariant:** decides, never acts. Nothing here opens a connection or reads a clock: objects, time and randomness
//! come in through parameters, and what must still be looked up is asked of a [`serviceaccount::Lookup`].

pub mod attributes;
pub mod authenticate;
pub mod authorizer;
pub mod bearer;
pub mod bootstrap;
pub mod bootstrap_token;
pub mod forbidden;
pub mod impersonation;
mod keypair;
pub mod pki;
mod quote;
pub mod rbac;
mod request_header;
pub mod review;
pub mod serviceaccount;
mod time;
pub mod token_cache;
pub mod token_file;
pub mod user;
pub mod x509;

pub use attributes::Attributes;
pub use authenticate::{Authenticator, Credentials};
pub use authorizer::{Answer, Authorizer, Decision, Mode, Union, Verdict};
pub use rbac::Rbac;
pub use request_header::RequestHeader;
pub use user::User;
