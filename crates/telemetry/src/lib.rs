//! Traces, metrics and logs: what the server says about itself.
//!
//! **The only crate that knows OpenTelemetry**; its public API shows no type of it.

pub mod config;
pub mod context;
pub mod export;
pub mod otlp;
pub mod trace;
