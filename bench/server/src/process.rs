//! A process and what the kernel says of it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// A server must have ended this long after it was asked to.
const PATIENCE: Duration = Duration::from_secs(90);

/// Ends with this value.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    pub(crate) fn start(name: &'static str, command: &mut Command, log: &Path) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(log)?)
            .stderr(File::options().append(true).open(log)?)
            .spawn()
            .with_context(|| format!("start {}", command.get_program().display()))?;
        Ok(Self {
            name,
            child,
            log: log.to_owned(),
        })
    }

    /// An error with its last words if it has ended.
    pub(crate) fn alive(&mut self) -> Result<()> {
        let Some(status) = self.child.try_wait()? else {
            return Ok(());
        };
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = said.lines().rev().take(10).collect();
        let last: Vec<_> = lines.into_iter().rev().collect();
        bail!("{} ended with {status}:\n{}", self.name, last.join("\n"))
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(Pid::from_child(&self.child), signal)
            .with_context(|| format!("signal {}", self.name))
    }

    /// Asks it to end and waits.
    pub(crate) async fn stop(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let start = Instant::now();
        while self.child.try_wait()?.is_none() {
            if start.elapsed() > PATIENCE {
                bail!("{} does not stop", self.name);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Seconds of all its threads, in user and kernel mode.
    pub(crate) fn cpu(&self) -> Result<f64> {
        cpu(&self.child.id().to_string())
    }

    /// Resident memory in MiB.
    pub(crate) fn memory(&self) -> Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: Option<f64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        Ok(kib.context("no VmRSS in /proc")? / 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What follows `word` in the line of a process that begins with it.
pub(crate) fn said(log: &Path, word: &str) -> Result<Option<String>> {
    let text = std::fs::read_to_string(log)?;
    // A line that is not whole yet is none.
    let mut lines = text.split_inclusive('\n');
    let found = lines.find_map(|it| it.strip_prefix(word)?.strip_suffix('\n'));
    Ok(found.map(str::to_owned))
}

/// The bench's own CPU seconds.
pub(crate) fn own_cpu() -> Result<f64> {
    cpu("self")
}

fn cpu(process: &str) -> Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name may hold anything, but ends with the last parenthesis; utime and stime are the 14th and 15th field.
    let (_, fields) = text
        .rsplit_once(") ")
        .context("no name in /proc/PID/stat")?;
    let ticks: f64 = fields
        .split(' ')
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    Ok(ticks / rustix::param::clock_ticks_per_second() as f64)
}
