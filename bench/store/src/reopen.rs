//! Row `reopen`: how long a full store takes to open, and how much memory it has then. Measured in a process of its own:
//! this one's memory has seen other work.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rustix::fs::{Advice, fadvise};
use store::{Options, embedded};

use crate::load::{fill, median};
use crate::report::{Bar, Line, Report};
use crate::{Plan, REOPEN};

/// Shared with the row `growth`.
pub(crate) const PREFIX: &str = "/bench/many/";
pub(crate) const VALUE: usize = 1024;

/// Writes the keys, unless they are there already.
pub(crate) async fn prepare(plan: &Plan, dir: &Path) -> Result<()> {
    let store = embedded::open(dir, &Options::default())?;
    if store.latest().count(PREFIX.as_bytes()) as u64 != plan.keys {
        plan.say(&format!("writing {} keys", plan.keys));
        fill(&store, PREFIX, plan.keys, VALUE).await?;
    }
    store.close().await?;
    Ok(())
}

pub(crate) fn measure(plan: &Plan, dir: &Path, report: &mut Report) -> Result<()> {
    let on_disk = size(dir)?;
    let mut rounds: [Vec<f64>; 4] = Default::default();
    let mut cold = 0.0;
    for round in 0..plan.rounds {
        forget_pages(dir)?;
        let output = Command::new(std::env::current_exe()?)
            .arg(REOPEN)
            .arg(dir)
            .output()
            .context("start a process that reopens the store")?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(
            output.status.success(),
            "reopening failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let figures: Vec<f64> = said
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        let [seconds, resident, peak, data, read, keys] = figures[..] else {
            anyhow::bail!("unexpected answer of the child: {said}");
        };
        ensure!(
            (keys - plan.keys as f64).abs() < 0.5,
            "reopened with {keys} keys"
        );
        for (figures, figure) in
            rounds
                .iter_mut()
                .zip([seconds, resident / data, peak / data, data])
        {
            figures.push(figure);
        }
        cold = read / on_disk as f64;
        plan.say(&format!("reopen, round {}: {seconds:.2} s", round + 1));
    }
    let [seconds, resident, peak, data] = rounds.map(median);
    let keys = plan.keys;
    report.add(
        Line::new("reopen", format!("open with {keys} x 1 KiB"), seconds, "s")
            .bar(Bar::AtMost(5.0)),
    );
    report
        .add(Line::new("reopen", "resident memory over data", resident, "x").bar(Bar::AtMost(1.5)));
    report.add(Line::new("reopen", "peak memory over data", peak, "x"));
    report.add(Line::new(
        "reopen",
        "bytes on disk over data",
        on_disk as f64 / data,
        "x",
    ));
    report.note(format!(
        "reopen: the page cache was asked to forget the files; {:.0} % of them then came from the disk",
        cold * 100.0
    ));
    Ok(())
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
