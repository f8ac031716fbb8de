//! The Kubernetes API over HTTP: request meaning, one pipeline, verbs, watch streams, discovery.
//!
//! **Invariants:** names no kind but Namespace, `CustomResourceDefinition` and the few whose subresources act; every
//! write goes through [`write`]; GET, LIST and WATCH parse no JSON unless the client asks for another form.

pub mod allocate;
pub mod authenticate;
pub mod body;
pub mod catalog;
mod clock;
mod convert;
pub mod converter;
pub mod custom;
mod decode;
mod definition;
mod delete;
mod digest;
mod discovery;
pub mod documents;
mod encoded;
pub mod everything;
mod failure;
mod faults;
mod fields;
mod filter;
pub mod follow;
mod guard;
mod gzip;
mod health;
pub mod incoming;
mod join;
mod kinds;
mod list;
pub mod local;
mod lookup;
mod managed;
mod metrics;
mod negotiate;
mod object;
mod openapi;
mod patch;
pub mod pipeline;
pub mod random;
pub mod request;
pub mod request_log;
mod respond;
pub mod server;
mod show;
mod stored;
mod strategy;
mod structural;
mod subresources;
mod table;
pub mod tls;
mod token;
mod verbs;
mod watch;
mod write;
