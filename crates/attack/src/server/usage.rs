//! What a process takes of the machine, as the kernel tells it.

use std::fs;
use std::time::Duration;

/// Linux counts a hundredth of a second at a time for programs, whatever its own clock does.
const TICK: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub resident_kib: u64,
    pub peak_kib: u64,
    pub cpu: Duration,
    pub descriptors: usize,
}

impl Usage {
    /// Zeroes for what has ended.
    pub(super) fn of(process: u32) -> Self {
        let read =
            |file: &str| fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
        let status = read("status");
        let kib = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let number = line.and_then(|it| it.split_whitespace().next());
            number.and_then(|it| it.parse().ok()).unwrap_or(0)
        };
        // The name of the program, in brackets, may have spaces in it.
        let stat = read("stat");
        let fields = stat.rsplit(") ").next().unwrap_or_default();
        let ticks = fields.split(' ').skip(11).take(2);
        let ticks: u32 = ticks.filter_map(|it| it.parse::<u32>().ok()).sum();
        let descriptors = fs::read_dir(format!("/proc/{process}/fd"));
        Self {
            resident_kib: kib("VmRSS:"),
            peak_kib: kib("VmHWM:"),
            cpu: TICK * ticks,
            descriptors: descriptors.map_or(0, Iterator::count),
        }
    }
}
