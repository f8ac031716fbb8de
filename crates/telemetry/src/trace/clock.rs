//! Time as spans have it: the processor's counter where it is steady, the system's clock where not.

use fastant::{Anchor, Instant};

/// A moment. Cheap to take; turned into a time of day only when it is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(Instant);

pub fn now() -> Tick {
    Tick(Instant::now())
}

/// Turns ticks into nanoseconds since 1970.
pub(super) struct Calendar(Anchor);

impl Calendar {
    pub(super) fn new() -> Self {
        Self(Anchor::new())
    }

    pub(super) fn nanos(&self, tick: Tick) -> u64 {
        tick.0.as_unix_nanos(&self.0)
    }
}
