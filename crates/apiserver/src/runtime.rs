//! What the process gives to all parts of the server: the clock, random numbers, hashes, and threads for long work.
//!
//! **Belongs here:** what knows nothing of Kubernetes or HTTP.
//! **May use:** no other room.

pub(crate) mod blocking;
pub(crate) mod clock;
pub(crate) mod cpu_slots;
pub(crate) mod digest;
pub(crate) mod join;
pub(crate) mod lifecycle;
pub mod random;
pub(crate) mod write_barrier;
