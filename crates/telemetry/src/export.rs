//! From what is recorded to a collector, by OTLP.
//!
//! What is recorded is encoded into chunks of a [`Queue`] that never blocks and never grows beyond its bounds. An [`Exporter`]
//! takes them from there on a thread of its own, and a [`Transport`] sends them as they are. Whatever becomes of an item is in
//! the [`Numbers`]:
//! **created = exported + dropped + failed + waiting, at any time and to the last span.**

mod chunk;
mod connection;
mod exporter;
mod grpc;
mod http;
mod message;
mod queue;
mod resource;
mod retry;
mod signal;
mod stream;
mod target;
mod transport;
mod troubles;

pub use chunk::Chunk;
pub use exporter::{Exporter, Report, Settings};
pub use queue::{Numbers, Queue};
pub use resource::Resource;
pub(crate) use resource::pairs;
pub use signal::Signal;
pub use target::{Place, Protocol, Target, Tls};
pub use transport::{End, Outcome, Resolve, Transport, send_once};

/// Something to be sent that is encoded when it is put into a [`Queue`]: a log record counts as a span.
pub trait Item {
    /// How many spans it holds: what the books of the exporter count.
    fn spans(&self) -> u64;

    /// Appends the fields of an OTLP `ResourceSpans` that are its own: one or more `scope_spans` (field 2), each with its
    /// tag and length. The exporter writes the resource (field 1) before the first and may put many items in one message.
    fn encode(&self, out: &mut Vec<u8>);
}
