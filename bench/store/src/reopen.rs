//! Row `reopen`: how long a full store takes to open, and how much memory it has then. Measured in a process of its own:
//! this one's memory has seen other work.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::{Advice, fadvise};
use store::{Options, embedded};

use crate::load::{fill, median};
use crate::report::{Bar, Line, Report};
use crate::{Plan, REOPEN, say};

/// Shared with the row `growth`.
pub(crate) const PREFIX: &str = "/bench/many/";
pub(crate) const VALUE: usize = 1024;

/// Writes the keys, unless they are there already.
pub(crate) async fn prepare(plan: &Plan, dir: &Path) -> Result<()> {
    let store = embedded::open(dir, &Options::default())?;
    if store.latest().count(PREFIX.as_bytes()) as u64 != plan.keys {
        say(&format!("writing {} keys", plan.keys));
        fill(&store, PREFIX, plan.keys, VALUE).await?;
    }
    store.close().await?;
    Ok(())
}

pub(crate) fn measure(plan: &Plan, dir: &Path, report: &mut Report) -> Result<()> {
    let on_disk = size(dir)?;
    let (mut cold, mut warm, mut raw) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        forget_pages(dir)?;
        raw.push(read_all(dir)?);
        warm.push(reopen(plan, dir)?);
        forget_pages(dir)?;
        let opened = reopen(plan, dir)?;
        say(&format!(
            "reopen, round {}: {:.2} s",
            round + 1,
            opened.seconds
        ));
        cold.push(opened);
    }
    let middle =
        |all: &[Opened], figure: &dyn Fn(&Opened) -> f64| median(all.iter().map(figure).collect());
    let what = format!("open with {} x 1 KiB", plan.keys);
    let (seconds, data) = (
        middle(&cold, &|it| it.seconds),
        middle(&cold, &|it| it.data),
    );
    report.add(Line::new("reopen", &*what, seconds, "s").bar(Bar::AtMost(5.0)));
    let seconds = middle(&warm, &|it| it.seconds);
    report.add(Line::new(
        "reopen",
        format!("{what}, files in memory"),
        seconds,
        "s",
    ));
    report.add(Line::new(
        "reopen",
        "only read the same files",
        median(raw),
        "s",
    ));
    let resident = middle(&cold, &|it| it.resident / it.data);
    report
        .add(Line::new("reopen", "resident memory over data", resident, "x").bar(Bar::AtMost(1.5)));
    let peak = middle(&cold, &|it| it.peak / it.data);
    report.add(Line::new("reopen", "peak memory over data", peak, "x"));
    let disk = on_disk as f64 / data;
    report.add(Line::new("reopen", "bytes on disk over data", disk, "x"));
    let read = middle(&cold, &|it| it.read) / on_disk as f64;
    report.note(format!(
        "reopen: the page cache was asked to forget the files; {:.0} % of them then came from the disk",
        read * 100.0
    ));
    Ok(())
}

/// What the child says; bytes but for the seconds.
struct Opened {
    seconds: f64,
    resident: f64,
    peak: f64,
    data: f64,
    read: f64,
}

fn reopen(plan: &Plan, dir: &Path) -> Result<Opened> {
    let output = Command::new(std::env::current_exe()?)
        .arg(REOPEN)
        .arg(dir)
        .output()
        .context("start a process that reopens the store")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "reopening failed: {complaint}");
    let said = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<f64> = said
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let [seconds, resident, peak, data, read, keys] = figures[..] else {
        bail!("unexpected answer of the child: {said}");
    };
    let right = (keys - plan.keys as f64).abs() < 0.5;
    ensure!(right, "reopened with {keys} keys");
    Ok(Opened {
        seconds,
        resident,
        peak,
        data,
        read,
    })
}

/// The child: opens, and says what it took.
pub(crate) fn child(dir: &Path) -> Result<()> {
    let start = Instant::now();
    let store = embedded::open(dir, &Options::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let (resident, peak) = (field(&status, "VmRSS:")?, field(&status, "VmHWM:")?);
    // Not on every kernel; without it nothing is said to be cold.
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let read = field(&io, "read_bytes:").unwrap_or(0);
    let snapshot = store.latest();
    let data: usize = snapshot.range(b"").map(|entry| entry.size()).sum();
    let keys = snapshot.count(PREFIX.as_bytes());
    let (resident, peak) = (resident * 1024, peak * 1024);
    println!("{seconds} {resident} {peak} {data} {read} {keys}");
    Ok(())
}

fn field(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number
        .with_context(|| format!("no {name} in /proc"))?
        .parse()?)
}

fn size(dir: &Path) -> Result<u64> {
    let mut total = 0;
    for item in std::fs::read_dir(dir)? {
        total += item?.metadata()?.len();
    }
    Ok(total)
}

/// Drops what is clean from the page cache; a hint, but Linux follows it.
fn forget_pages(dir: &Path) -> Result<()> {
    for item in std::fs::read_dir(dir)? {
        let file = File::open(item?.path())?;
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

/// Seconds to read all files from front to back.
fn read_all(dir: &Path) -> Result<f64> {
    let start = Instant::now();
    for item in std::fs::read_dir(dir)? {
        let mut file = io::BufReader::with_capacity(1 << 20, File::open(item?.path())?);
        // A plain sink would let the kernel skip the copy.
        io::copy(&mut file, &mut Touch)?;
    }
    Ok(start.elapsed().as_secs_f64())
}

struct Touch;

impl io::Write for Touch {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        Ok(std::hint::black_box(data).len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
