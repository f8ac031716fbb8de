//! One HTTP connection, and those that are kept for the next request.
//!
//! What holds for all who use it: a connection is opened by a [`Dialer`](crate::Dialer), over TLS by one kind of
//! configuration ([`tls`](crate::tls)); no more than 32 answers that are not final are read; a request that was not sent
//! is told apart from one that may have been; what is read of an answer is bounded. Time limits are the caller's: an
//! attempt that is dropped closes its connection.

mod client;
mod connection;
mod pool;

pub use client::{Answer, Client, Error};
pub use connection::{BodyError, Connection, SendError, Version, read};
pub use pool::Pool;
