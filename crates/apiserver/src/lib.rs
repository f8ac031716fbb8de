//! The Kubernetes API over HTTP: request meaning, one pipeline, verbs, watch streams, discovery.
//!
//! **Invariants:** asks the strategy of a kind what to do, not for its name (`cargo xtask layers` lists the exceptions);
//! every write goes through [`write`]; GET, LIST and WATCH parse no JSON unless the client asks for another form.
//!
//! The modules below are rooms: one purpose each. Their first lines say what belongs there and which rooms they may use.
//! From the bottom up: `runtime`, `instruments`, `transport`, `request`, `catalog`, `flow`, `handler`, `observe`,
//! `discovery`, `access`, `state`, `read`, `write`, `subresources`, `nonresource`, `pipeline`, `server`.

mod access;
pub mod catalog;
mod discovery;
mod flow;
mod handler;
mod instruments;
pub mod nonresource;
mod observe;
pub mod pipeline;
mod read;
pub mod request;
mod runtime;
pub mod server;
mod state;
mod subresources;
mod transport;
mod write;

#[cfg(test)]
mod cost;

pub use access::{authenticate, used_tokens};
pub use catalog::{converter, custom};
pub use discovery::openapi::{Builds, builtin_document};
pub use nonresource::health;
pub use observe::{metrics, request_log};
pub use pipeline::local;
pub use read::{continue_token, metadata_stream};
pub use runtime::random;
pub use server::{receiver, scrape};
pub use state::{compact, features, gauges, informers, master_leases};
pub use transport::{body, delivery, incoming, tls, unread};
pub use write::{allocate, feature_uses, unenforced};
