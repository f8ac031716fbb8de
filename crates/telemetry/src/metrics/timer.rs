//! Hot path. How long something took.

use std::time::Instant;

use super::handle::nanoseconds;

/// Runs from its start.
#[derive(Clone, Copy, Debug)]
pub struct Timer(Instant);

impl Timer {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Nanoseconds since the start.
    pub fn nanos(self) -> u64 {
        nanoseconds(self.0.elapsed())
    }

    /// The same, and starts anew at this moment: the time is looked at once.
    pub fn lap(&mut self) -> u64 {
        let now = Instant::now();
        let since = now.duration_since(std::mem::replace(&mut self.0, now));
        nanoseconds(since)
    }
}
