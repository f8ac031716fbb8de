//! Who sends a request, and whether they may: the bridge to the crate `auth`.
//!
//! **Room.** Belongs here: what connections, headers and tokens say of a sender, and how refusals read. Decisions are the
//! crate's. **May use:** `observe`, `transport`, `runtime`.

pub mod authenticate;
pub(crate) mod authorize;
pub(crate) mod impersonate;
pub mod used_tokens;
