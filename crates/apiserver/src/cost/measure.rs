//! What something costs, and whether that grows as its input does.

use std::fmt::Write as _;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How much larger the large input is.
pub(super) const TIMES: u32 = 8;
/// For each doubling: more than `n log n` takes, less than a square.
const GROWTH: f64 = 2.6;
/// What takes less time for the large input is not looked at: a square of a thousand takes more in a debug build.
const SHORT: Duration = Duration::from_millis(2);
/// Allocations that do not depend on the input: error lists have room for a quarter of a megabyte of text, whose values
/// take more than that, and a status says it several times.
const FREE: u64 = 6 << 20;
/// How often the size of the input may be held at once.
const MEMORY: u64 = 20;
/// Time is noisy: what seems to take too long is measured again so often, and the best of all counts.
const TRIES: usize = 6;

#[derive(Clone, Copy, Debug)]
struct Cost {
    cpu: Duration,
    /// The most that was held at once, and all that was ever asked for.
    peak: u64,
    total: u64,
}

fn cost<T>(run: impl FnOnce() -> T) -> Cost {
    let mut cpu = Duration::ZERO;
    let info = allocation_counter::measure(|| {
        let before = now();
        drop(run());
        cpu = now().saturating_sub(before);
    });
    Cost {
        cpu,
        peak: info.bytes_max,
        total: info.bytes_total,
    }
}

fn now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// What was found to grow too much, and how much was looked at.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// How often the size of the input may be allocated in all.
    allocated: Option<u64>,
    wrong: Vec<String>,
    steps: usize,
}

impl Report {
    /// Looks at what grows as its input does, but is very much of it, as well: for steps that take many small things, none of
    /// which may be made into something large.
    pub(super) fn allocating(times: u64) -> Self {
        Self {
            allocated: Some(times),
            ..Self::default()
        }
    }

    /// One step over a small and a large input. `size` is what a client would send of the large one.
    pub(super) fn step<I, T>(
        &mut self,
        name: &str,
        (small, large): (&I, &I),
        size: usize,
        run: impl Fn(&I) -> T,
    ) {
        self.steps += 1;
        // The first call may set something up for all others.
        let mut first = cost(|| run(small));
        let allocated = self.allocated.map(|it| FREE + it * size as u64);
        if allocated.is_some_and(|it| first.total > it) {
            // Nobody waits for the large one.
            let total = first.total;
            let why = format!("{name}: allocations {total}, of {size} bytes only a part was read");
            return self.wrong.push(why);
        }
        let mut second = cost(|| run(large));
        let most = GROWTH.powi(TIMES.ilog2().try_into().unwrap_or(i32::MAX));
        let grows = |first: Duration, second: Duration| {
            second > SHORT && second.as_secs_f64() > first.as_secs_f64() * most
        };
        for _ in 0..TRIES {
            if !grows(first.cpu, second.cpu) {
                break;
            }
            first.cpu = first.cpu.min(cost(|| run(small)).cpu);
            second.cpu = second.cpu.min(cost(|| run(large)).cpu);
        }
        let mut why = String::new();
        if grows(first.cpu, second.cpu) {
            let _ = write!(why, " time {:?} -> {:?}", first.cpu, second.cpu);
        }
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let times = second.total as f64 / first.total.max(1) as f64;
        if second.total > FREE && times > most {
            let _ = write!(why, " allocations {} -> {}", first.total, second.total);
        }
        if second.peak > FREE + MEMORY * size as u64 {
            let _ = write!(why, " memory {} for {size} bytes", second.peak);
        }
        if allocated.is_some_and(|it| second.total > it) {
            let _ = write!(why, " allocations {} for {size} bytes", second.total);
        }
        if !why.is_empty() {
            self.wrong.push(format!("{name}:{why}"));
        }
    }

    /// Fails if anything was found.
    pub(super) fn judge(self, at_least: usize) {
        let (wrong, steps) = (self.wrong.len(), self.steps);
        assert!(steps >= at_least, "only {steps} steps were measured");
        assert!(
            self.wrong.is_empty(),
            "{wrong} of {steps} steps grow more than their input:\n{}",
            self.wrong.join("\n")
        );
    }
}
