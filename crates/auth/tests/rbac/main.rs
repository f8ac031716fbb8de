//! RBAC against upstream's tables of cases, and against a naive evaluator.
#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of cases"
)]

mod authorize;
mod covers;
mod escalation;
mod naive;
mod support;
