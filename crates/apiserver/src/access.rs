//! Who sends a request, and whether they may: the bridge to the crate `auth`.
//!
//! **Belongs here:** authentication, authorization and the inflight limit of a request, before its verb runs.

pub mod authenticate;
pub(crate) mod gate;
pub mod used_tokens;
