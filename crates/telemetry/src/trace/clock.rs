//! Time as spans have it: the processor's counter where it is steady, the system's clock where not.

use std::time::Duration;

use fastant::{Anchor, Instant};

/// A moment. Cheap to take; turned into a time of day only when it is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(Instant);

pub fn now() -> Tick {
    Tick(Instant::now())
}

impl Tick {
    /// How long after another moment; zero if it was before.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }
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
