//! How much of a busy machine an exporter may take.
//!
//! Encoding and sending a trace costs about as much as serving a read. On a machine with processors to spare that is
//! nobody's loss. On one that is busy it would be the requests': then an exporter that cannot keep up anyway takes a
//! fiftieth of a processor, and the rest is dropped and counted.

use std::time::{Duration, Instant};

/// Of the time that an exporter worked, so many times as long it rests.
const REST: u32 = 49;
const LONGEST: Duration = Duration::from_millis(500);
/// The machine is not asked more often.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Restraint {
    worked: Duration,
    looked: Instant,
    before: Option<Times>,
    is_busy: bool,
}

impl Restraint {
    /// For the current thread.
    pub(super) fn new() -> Self {
        Self {
            worked: worked(),
            looked: Instant::now(),
            before: times(),
            is_busy: false,
        }
    }

    /// How long to rest after what was done since the last time.
    pub(super) fn rest(&mut self, is_crowded: bool) -> Duration {
        let worked = worked();
        let just = worked.saturating_sub(std::mem::replace(&mut self.worked, worked));
        if is_crowded && self.is_busy() {
            (just * REST).min(LONGEST)
        } else {
            Duration::ZERO
        }
    }

    fn is_busy(&mut self) -> bool {
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            let now = times();
            self.is_busy = match (&self.before, &now) {
                (Some(before), Some(now)) => now.is_busy_since(before),
                _ => false,
            };
            self.before = now;
        }
        self.is_busy
    }
}

/// What all processors did since the machine started, in the kernel's ticks.
#[derive(Debug)]
struct Times {
    all: u64,
    idle: u64,
}

impl Times {
    /// The first line of `/proc/stat`: user, nice, system, idle, iowait, ...
    fn parse(text: &str) -> Option<Self> {
        let numbers = text.lines().next()?.strip_prefix("cpu ")?;
        let numbers: Option<Vec<u64>> = numbers
            .split_whitespace()
            .map(|it| it.parse().ok())
            .collect();
        let numbers = numbers?;
        let idle = numbers.get(3)?.saturating_add(*numbers.get(4)?);
        Some(Self {
            // Guests are in user time already.
            all: numbers.iter().take(8).sum(),
            idle,
        })
    }

    /// Less than a fifth was idle.
    fn is_busy_since(&self, before: &Self) -> bool {
        let all = self.all.saturating_sub(before.all);
        let idle = self.idle.saturating_sub(before.idle);
        all > 0 && idle * 5 < all
    }
}

#[cfg(target_os = "linux")]
fn times() -> Option<Times> {
    Times::parse(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// Of the current thread.
#[cfg(target_os = "linux")]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn times() -> Option<Times> {
    None
}

#[cfg(not(target_os = "linux"))]
fn worked() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_tells() {
        let text = "cpu  100 10 50 800 40 0 5 2 7 7\ncpu0 1 2 3\nintr 1\n";
        let times = Times::parse(text).unwrap();
        assert_eq!((times.all, times.idle), (1007, 840));
        for wrong in ["", "cpu", "cpu  1 2 3 4\n", "cpu  1 2 3 4 x\n", "intr 1\n"] {
            assert!(Times::parse(wrong).is_none(), "{wrong:?}");
        }
        let later = |all, idle| Times {
            all: times.all + all,
            idle: times.idle + idle,
        };
        assert!(later(100, 19).is_busy_since(&times));
        assert!(!later(100, 20).is_busy_since(&times));
        assert!(!later(0, 0).is_busy_since(&times));
    }

    #[test]
    fn only_who_is_crowded_on_a_busy_machine_rests() {
        let mut restraint = Restraint::new();
        let busy = |restraint: &mut Restraint, is_busy| {
            // Told here, and not asked for again in the time of this test.
            restraint.is_busy = is_busy;
            restraint.looked = Instant::now() + Duration::from_secs(3600);
            restraint.worked = Duration::ZERO;
        };
        busy(&mut restraint, true);
        assert!(worked() > Duration::ZERO);
        assert!(restraint.rest(true) > Duration::ZERO);
        busy(&mut restraint, true);
        assert_eq!(restraint.rest(false), Duration::ZERO);
        busy(&mut restraint, false);
        assert_eq!(restraint.rest(true), Duration::ZERO);
    }
}
