//! What the process gives to all parts of the server: the clock, random numbers, hashes, and threads for long work.
//!
//! **Belongs here:** small functions without Kubernetes in them. **May use:** no other room.

pub(crate) mod blocking;
pub(crate) mod clock;
pub(crate) mod cpu_slots;
pub(crate) mod digest;
pub(crate) mod join;
pub mod random;
