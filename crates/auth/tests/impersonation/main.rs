//! Upstream's filter tests: the old verb, and constrained impersonation.
#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of cases"
)]

mod constrained;
mod legacy;
mod support;
