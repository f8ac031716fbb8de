//! Traces, metrics and logs: what the server says about itself.
//!
//! **The only crate that knows OpenTelemetry**; its public API shows no type of it.

pub mod config;
pub mod context;
pub mod export;
mod ids;
pub mod logs;
pub mod metrics;
pub mod otlp;
pub mod protobuf;
pub mod receive;
pub mod recent;
mod text;
pub mod trace;

pub use ids::Ids;
