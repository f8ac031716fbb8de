//! Service account tokens: made, verified, refused.
#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of cases"
)]

mod claims;
mod documents;
mod hostile;
mod keys;
mod legacy;
mod support;
