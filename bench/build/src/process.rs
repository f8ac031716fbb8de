//! A program that runs to its end, and what the kernel says of it.
//!
//! The kernel tells a parent the largest memory of all the children it ever had. So each is the only child of a process
//! of its own: this program again, called with [`MEASURE`].

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};

pub(crate) const MEASURE: &str = "--measure-one";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Milliseconds from start to end.
    pub(crate) wall: f64,
    /// Milliseconds of all threads, in user and kernel mode.
    pub(crate) cpu: f64,
    /// The largest resident memory in MiB.
    pub(crate) memory: f64,
}

/// Runs `program words dir`, its output into a file.
pub(crate) fn cost((program, word): (&Path, &str), dir: &Path, out: &Path) -> Result<Cost> {
    let done = Command::new(std::env::current_exe()?)
        .arg(MEASURE)
        .args([program.as_os_str(), word.as_ref(), dir.as_os_str()])
        .arg(out)
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(
        done.status.success(),
        "{} {word} {}: {said}",
        program.display(),
        dir.display()
    );
    let text = String::from_utf8_lossy(&done.stdout);
    let figures: Vec<f64> = text
        .split_whitespace()
        .filter_map(|it| it.parse().ok())
        .collect();
    let [wall, cpu, memory] = figures[..] else {
        anyhow::bail!("no figures in {text:?}");
    };
    Ok(Cost { wall, cpu, memory })
}

/// The other side: runs one program and prints its cost.
pub(crate) fn measured(command: &[OsString]) -> ExitCode {
    match measure(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(command: &[OsString]) -> Result<()> {
    let [program, word, dir, out] = command else {
        anyhow::bail!("a program, a word, a directory and a file are needed");
    };
    let out = std::fs::File::create(out)?;
    let mut call = Command::new(program);
    call.arg(word).arg(dir).stdout(out);
    let start = Instant::now();
    let status = call
        .status()
        .with_context(|| format!("start {}", program.display()))?;
    let wall = start.elapsed();
    ensure!(status.success(), "{status}");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = [usage.user_time(), usage.system_time()]
        .iter()
        .map(|it| it.tv_sec() as f64 * 1e3 + it.tv_usec() as f64 / 1e3)
        .sum::<f64>();
    println!(
        "{} {cpu} {}",
        wall.as_secs_f64() * 1e3,
        usage.max_rss() as f64 / 1024.0
    );
    Ok(())
}
