//! Hot path. How long something took.

use super::handle::nanoseconds;
use crate::trace::{Tick, now};

/// Runs from its start.
#[derive(Clone, Copy, Debug)]
pub struct Timer(Tick);

impl Timer {
    pub fn start() -> Self {
        Self(now())
    }

    /// When it was started.
    pub fn tick(self) -> Tick {
        self.0
    }

    /// Nanoseconds since the start.
    pub fn nanos(self) -> u64 {
        nanoseconds(now().since(self.0))
    }
}
