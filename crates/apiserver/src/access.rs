//! Authentication, impersonation and refusals: the bridge to the crate `auth`.
//!
//! **Belongs here:** what connections, headers and tokens say of a sender, and how refusals read. The crate `auth`
//! decides.
//! **May use:** `observe`, `runtime`, `transport`.

pub mod authenticate;
pub(crate) mod authorize;
pub(crate) mod impersonate;
pub mod used_tokens;
