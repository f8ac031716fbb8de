//! From what is recorded to a collector, by OTLP.
//!
//! What is recorded waits in a [`Queue`] that never blocks and never grows beyond its bound. An [`Exporter`] takes it from
//! there on a thread of its own, and a [`Transport`] sends it. Whatever becomes of an item is in the [`Numbers`]:
//! **created = exported + dropped + failed + waiting, at any time and to the last span.**

mod connection;
mod exporter;
mod grpc;
pub(crate) mod gzip;
mod http;
mod queue;
mod resource;
mod restraint;
mod retry;
mod signal;
mod target;
mod transport;
mod troubles;

pub(crate) use exporter::yield_to_requests;
pub use exporter::{Exporter, Report, Settings};
pub use queue::{Numbers, Queue};
pub use resource::Resource;
pub(crate) use resource::pairs;
pub use signal::Signal;
pub use target::{Place, Protocol, Target, Tls};
pub use transport::{End, Outcome, Resolve, Transport, send_once};

/// A finished piece of a trace, as it waits to be sent. Other signals wait in the same way: a log record counts as a span.
pub trait Item: Send + 'static {
    /// How many spans it holds: what the books of the exporter count.
    fn spans(&self) -> u64;

    /// Appends the fields of an OTLP `ResourceSpans` that are its own: one or more `scope_spans` (field 2), each with its
    /// tag and length. The exporter writes the resource (field 1) before the first and may put many items in one message.
    fn encode(&self, out: &mut Vec<u8>);
}
