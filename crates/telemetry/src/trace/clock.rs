//! Time as spans have it: the processor's counter where the kernel itself goes by it, the system's clock where not.
//!
//! A counter says nothing of seconds. How long its ticks are is read off the system's clock at two moments, the first
//! use and a later one: what lies between is exact within the time it takes to read both, and nothing waits for it.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A moment. Cheap to take; turned into a time of day only when it is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(u64);

#[inline]
pub fn now() -> Tick {
    let origin = ORIGIN.get_or_init(Origin::new);
    Tick(if origin.is_counter {
        counter()
    } else {
        nanos(origin.time.elapsed())
    })
}

impl Tick {
    /// As a number that an atomic can hold.
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The time of day, of a moment just now.
    pub(crate) fn time(self) -> SystemTime {
        let nanos = Calendar::at(self).nanos(self);
        UNIX_EPOCH + Duration::from_nanos(nanos)
    }

    /// How long after another moment; zero if it was before.
    #[inline]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(scale(self.0.saturating_sub(earlier.0), length()))
    }
}

#[inline]
fn length() -> u64 {
    match LENGTH.load(Ordering::Relaxed) {
        0 => measure(),
        length => length,
    }
}

/// Turns ticks into nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    tick: u64,
    time: u64,
    /// Of a tick, in nanoseconds of 2^-32.
    length: u64,
}

thread_local! {
    static CALENDAR: Cell<Option<Calendar>> = const { Cell::new(None) };
}

/// As long goes one look at the time of day: it may be set, and runs a little faster or slower than the counter.
const FRESH: u64 = 100_000_000;

impl Calendar {
    /// For what ended at `tick`, just now.
    pub(super) fn at(tick: Tick) -> Self {
        let known = CALENDAR.get();
        if let Some(it) = known
            && scale(tick.0.abs_diff(it.tick), it.length) < FRESH
        {
            return it;
        }
        let new = Self::new();
        // What is not known well yet is looked at again.
        let is_sure = LENGTH.load(Ordering::Relaxed) != 0;
        CALENDAR.set(is_sure.then_some(new));
        new
    }

    #[cold]
    fn new() -> Self {
        let (tick, time) = at_once(|| now().0, SystemTime::now);
        let time = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            tick,
            time: nanos(time),
            length: length(),
        }
    }

    #[inline]
    pub(super) fn nanos(&self, Tick(tick): Tick) -> u64 {
        // Nearly always: the product has no more than 64 bits.
        if let Some(since) = tick.checked_sub(self.tick)
            && since < 1 << 31
            && self.length <= 1 << 32
        {
            return self.time.wrapping_add((since * self.length) >> 32);
        }
        self.distant_nanos(tick)
    }

    #[inline(never)]
    fn distant_nanos(&self, tick: u64) -> u64 {
        let apart = scale(tick.abs_diff(self.tick), self.length);
        if tick >= self.tick {
            self.time.saturating_add(apart)
        } else {
            self.time.saturating_sub(apart)
        }
    }
}

/// The first moment.
struct Origin {
    is_counter: bool,
    ticks: u64,
    time: Instant,
}

static ORIGIN: OnceLock<Origin> = OnceLock::new();
/// The nanoseconds of a tick in 2^-32, once they are known well enough for all of the time to come.
static LENGTH: AtomicU64 = AtomicU64::new(0);
/// When they are: the clock is read within 100 ns or so.
const LONG_ENOUGH: Duration = Duration::from_millis(250);

impl Origin {
    fn new() -> Self {
        let (ticks, time) = at_once(counter, Instant::now);
        Self {
            is_counter: is_steady(),
            ticks,
            time,
        }
    }
}

/// The length of a tick, as it is known so far.
#[cold]
fn measure() -> u64 {
    let origin = ORIGIN.get_or_init(Origin::new);
    if !origin.is_counter {
        LENGTH.store(1 << 32, Ordering::Relaxed);
        return 1 << 32;
    }
    let (ticks, passed) = at_once(counter, || origin.time.elapsed());
    let ticks = ticks.saturating_sub(origin.ticks).max(1);
    let length = (u128::from(nanos(passed)) << 32) / u128::from(ticks);
    let length = u64::try_from(length).unwrap_or(u64::MAX).max(1);
    if passed >= LONG_ENOUGH {
        LENGTH.store(length, Ordering::Relaxed);
    }
    length
}

/// Two clocks at one moment. Whoever is interrupted between them looks again.
fn at_once<T>(ticks: impl Fn() -> u64, other: impl Fn() -> T) -> (u64, T) {
    // Some 30 us, and some thousand times what it takes.
    const NEAR: u64 = 100_000;
    let mut tries = 0;
    loop {
        let (before, other, after) = (ticks(), other(), ticks());
        let between = after.saturating_sub(before);
        tries += 1;
        if between < NEAR || tries == 16 {
            return (before + between / 2, other);
        }
    }
}

#[inline]
fn scale(ticks: u64, length: u64) -> u64 {
    let scaled = (u128::from(ticks) * u128::from(length)) >> 32;
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether the counters of all processors go alike and never rest: the kernel found out when it started.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn is_steady() -> bool {
    const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read(CLOCK).is_ok_and(|it| it.trim_ascii() == b"tsc")
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use tick_counter::x86_64_tick_counter as counter;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn is_steady() -> bool {
    false
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn counter() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_as_long_as_the_system_says() {
        let (before, first, after) = (Instant::now(), now(), Instant::now());
        std::thread::sleep(Duration::from_millis(20));
        let (inner, last, outer) = (Instant::now(), now(), Instant::now());
        // Ours lies between two of the system's, but for what reading both at once leaves open.
        let told = last.since(first);
        let slack = Duration::from_micros(200);
        assert!(
            told + slack >= inner - after,
            "{told:?} {:?}",
            inner - after
        );
        assert!(
            told <= outer - before + slack,
            "{told:?} {:?}",
            outer - before
        );
        assert_eq!(first.since(last), Duration::ZERO);
    }

    #[test]
    fn a_calendar_goes_by_the_time_of_day() {
        let of_day = || nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap());
        let (before, tick, after) = (of_day(), now(), of_day());
        // The one that is made, and the one that is kept of it.
        for _ in 0..2 {
            let calendar = Calendar::at(now());
            let told = calendar.nanos(tick);
            let slack = 1_000_000;
            assert!(
                told + slack >= before && told <= after + slack,
                "{before} {told} {after}"
            );
            assert!(calendar.nanos(now()) >= told);
        }
    }

    #[test]
    fn near_and_distant_moments_are_on_one_scale() {
        for length in [1, (1 << 32) / 3, 1 << 32, (1 << 32) + 1, 1 << 40] {
            let calendar = Calendar {
                tick: 1 << 40,
                time: 1 << 60,
                length,
            };
            for apart in [0, 1, 3, 1000, (1 << 31) - 1, 1 << 31, 1 << 33] {
                let tick = calendar.tick + apart;
                let near = calendar.nanos(Tick(tick));
                assert_eq!(near, calendar.distant_nanos(tick), "{length} {apart}");
                assert_eq!(near - calendar.time, scale(apart, length));
            }
        }
    }

    #[test]
    fn scaling_does_not_overflow() {
        assert_eq!(scale(3, 1 << 31), 1);
        assert_eq!(scale(u64::MAX, 1 << 32), u64::MAX);
        assert_eq!(scale(u64::MAX, u64::MAX), u64::MAX);
    }
}
