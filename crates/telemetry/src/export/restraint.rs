//! How much of a busy machine an exporter may take.
//!
//! Encoding and sending traces takes time. On a machine with processors to spare that is nobody's loss. On one that is
//! busy it would be the requests': there an exporter takes a two-hundredth of what all processors have once it has used
//! up what it saved, and what waits too long for it is dropped and counted.

use std::time::{Duration, Instant};

/// Of so much time of all processors, an exporter may have one part.
const PARTS: u32 = 200;
/// The most that it saves for when there is much to do.
const SAVED: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);
/// The machine is not asked more often.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Restraint {
    /// Of so much time, it may work for one part.
    parts: u32,
    worked: Duration,
    at: Instant,
    saved: Duration,
    looked: Instant,
    before: Option<Times>,
    is_busy: bool,
}

impl Restraint {
    /// For the current thread.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let processors = u32::try_from(processors).unwrap_or(PARTS);
        Self {
            // Even where there are very many, this is one thread.
            parts: (PARTS / processors).max(4),
            worked: worked(),
            at: now,
            saved: SAVED,
            looked: now,
            before: times(),
            is_busy: false,
        }
    }

    /// How long to rest after what was done since the last time.
    pub(super) fn rest(&mut self) -> Duration {
        let (now, worked) = (Instant::now(), worked());
        let passed = now - std::mem::replace(&mut self.at, now);
        let just = worked.saturating_sub(std::mem::replace(&mut self.worked, worked));
        let overdrawn = self.spend(passed, just);
        if self.is_busy() {
            (overdrawn * self.parts).min(LONGEST)
        } else {
            Duration::ZERO
        }
    }

    /// By how much the work of some time was more than there was for it.
    fn spend(&mut self, passed: Duration, worked: Duration) -> Duration {
        let saved = (self.saved + passed / self.parts).min(SAVED);
        self.saved = saved.saturating_sub(worked);
        worked.saturating_sub(saved)
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

    /// Less than half was idle.
    fn is_busy_since(&self, before: &Self) -> bool {
        let all = self.all.saturating_sub(before.all);
        let idle = self.idle.saturating_sub(before.idle);
        all > 0 && idle * 2 < all
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
        assert!(later(100, 49).is_busy_since(&times));
        assert!(!later(100, 50).is_busy_since(&times));
        assert!(!later(0, 0).is_busy_since(&times));
    }

    #[test]
    fn what_was_saved_is_spent_first() {
        let ms = Duration::from_millis;
        let mut restraint = Restraint::new();
        restraint.parts = 25;
        assert_eq!(restraint.spend(ms(0), ms(15)), ms(0));
        assert_eq!(restraint.spend(ms(0), ms(15)), ms(10));
        assert_eq!(restraint.spend(ms(100), ms(5)), ms(1));
        // No more than so much is saved.
        assert_eq!(restraint.spend(ms(1_000_000), ms(60)), ms(40));
    }

    #[test]
    fn only_who_overdraws_on_a_busy_machine_rests() {
        let rest = |is_busy, saved| {
            let mut restraint = Restraint::new();
            // Told here, and not asked for again in the time of this test.
            restraint.is_busy = is_busy;
            restraint.looked = Instant::now() + Duration::from_secs(3600);
            (restraint.saved, restraint.worked) = (saved, Duration::ZERO);
            restraint.rest()
        };
        assert!(worked() > Duration::ZERO);
        assert!(rest(true, Duration::ZERO) > Duration::ZERO);
        assert_eq!(rest(false, Duration::ZERO), Duration::ZERO);
    }
}
