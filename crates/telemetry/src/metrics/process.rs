//! What the system knows of this process, by the names that Prometheus' own clients have.

use std::fs;
use std::time::SystemTime;

use super::family::seconds;
use super::registry::{Collected, Desc, Registry, Stability};

/// Linux counts time in these for everybody, whatever the kernel does inside.
const TICKS: f64 = 100.0;

/// Registers the metrics of the process: on other systems than Linux only its start time.
pub fn register(registry: &Registry) {
    let started = start_time().unwrap_or_else(|| now_seconds(SystemTime::now()));
    registry.observe_gauge(
        Desc::new(
            "process_start_time_seconds",
            Stability::Alpha,
            "When the process began, in seconds since 1970.",
        ),
        &[],
        move || one(Some(started)),
    );
    registry.observe_counter(
        own(
            "process_cpu_seconds_total",
            "User and system time spent, in seconds.",
        ),
        &[],
        || one(cpu()),
    );
    registry.observe_gauge(
        own(
            "process_resident_memory_bytes",
            "Memory that is in use, in bytes.",
        ),
        &[],
        || one(status("VmRSS:")),
    );
    registry.observe_gauge(
        own(
            "process_virtual_memory_bytes",
            "Memory that is mapped, in bytes.",
        ),
        &[],
        || one(status("VmSize:")),
    );
    registry.observe_gauge(
        own("process_open_fds", "File descriptors that are open."),
        &[],
        || one(open_files()),
    );
    registry.observe_gauge(
        own("process_max_fds", "File descriptors that may be open."),
        &[],
        || one(most_files()),
    );
}

fn own(name: &'static str, help: &'static str) -> Desc {
    Desc::new(name, Stability::Unmarked, help)
}

fn one(value: Option<f64>) -> Collected {
    value.map(|it| (Vec::new(), it)).into_iter().collect()
}

/// Fields of `/proc/self/stat` by their number in proc(5). The second is a name in brackets, which may hold anything.
fn stat(fields: &[usize]) -> Option<Vec<f64>> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let rest: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let values = fields.iter().map(|it| rest.get(it - 3)?.parse().ok());
    values.collect()
}

fn cpu() -> Option<f64> {
    let spent = stat(&[14, 15])?;
    Some(spent.iter().sum::<f64>() / TICKS)
}

fn start_time() -> Option<f64> {
    let since_boot = *stat(&[22])?.first()?;
    let text = fs::read_to_string("/proc/stat").ok()?;
    let boot = text.lines().find_map(|it| it.strip_prefix("btime "))?;
    Some(boot.trim().parse::<f64>().ok()? + since_boot / TICKS)
}

fn now_seconds(now: SystemTime) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact for millions of years")]
    let seconds = seconds(now) as f64;
    seconds
}

/// A line of `/proc/self/status`, which has kibibytes.
fn status(name: &str) -> Option<f64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|it| it.strip_prefix(name))?;
    let value: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(value * 1024.0)
}

fn open_files() -> Option<f64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    // The directory itself was open, too.
    u32::try_from(count.saturating_sub(1)).ok().map(f64::from)
}

fn most_files() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text
        .lines()
        .find_map(|it| it.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
