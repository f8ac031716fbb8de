//! The whole server as a library: what `pilothouse serve` runs, and what tests start in one line.

pub mod dialing;
pub mod kubeconfig;
pub mod kyverno;
pub mod pki;
pub mod push;
pub mod server;
pub mod tracing;
