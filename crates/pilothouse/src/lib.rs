//! The whole server as a library: what `pilothouse serve` runs, and what tests start in one line.

pub mod dialing;
pub mod kubeconfig;
pub mod kyverno;
pub mod otlp_push;
pub mod pki;
pub mod server;
pub mod tracing;
