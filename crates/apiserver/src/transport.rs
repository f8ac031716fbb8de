//! Bytes between the server and its clients: TLS, HTTP heads, bodies, compression, and delivery at the pace of the client.
//!
//! **Belongs here:** what holds for any HTTP server.
//! **May use:** `instruments`, `runtime`.

pub mod body;
pub(crate) mod caller;
pub(crate) mod connection_task;
pub mod delivery;
pub(crate) mod gzip;
pub(crate) mod http1;
pub mod incoming;
pub(crate) mod record_writer;
pub(crate) mod strict_heads;
pub mod tls;
pub mod unread;
