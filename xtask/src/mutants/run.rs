//! Runs the tests of a crate once for each fault.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::build::Planted;

/// What tests may take with a fault in them, beside ten times what they take without.
const PATIENCE: Duration = Duration::from_secs(60);

/// KiB of address space for a program with a fault, which may be that it allocates for ever.
const ADDRESS_SPACE: u32 = 8 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    Caught,
    /// The tests did not end in time.
    TimedOut,
    Survived,
}

impl Verdict {
    const NAMES: [(Self, &'static str); 3] = [
        (Self::Caught, "caught"),
        (Self::TimedOut, "timed-out"),
        (Self::Survived, "survived"),
    ];

    pub(super) fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(it, _)| *it == self);
        found.map_or("", |(_, name)| name)
    }

    fn from_name(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(_, it)| *it == name);
        found.map(|(verdict, _)| *verdict)
    }
}

#[derive(Debug)]
pub(super) struct Fate {
    pub(super) crate_name: String,
    pub(super) fault: String,
    pub(super) verdict: Verdict,
}

/// What is in the record is not run again, so that a run can be stopped and go on later.
pub(super) fn run(planted: &Planted, record: &Path, again: bool) -> Result<Vec<Fate>, String> {
    let mut known = read(record);
    if again {
        known.retain(|_, verdict| *verdict != Verdict::Survived);
    }
    let mut limits = Vec::new();
    for program in &planted.programs {
        let start = Instant::now();
        if attempt(planted, program, None, Duration::from_secs(1800))? != Verdict::Survived {
            return Err(format!("{} fails without any fault", program.display()));
        }
        limits.push((start.elapsed(), program));
    }
    limits.sort();
    let mut fates = Vec::new();
    for (number, site) in planted.sites.iter().enumerate() {
        let fault = site.describe();
        let verdict = if let Some(verdict) = known.get(&fault) {
            *verdict
        } else {
            let verdict = judge(planted, &limits, number)?;
            append(record, verdict, &fault)?;
            verdict
        };
        println!("{:<9} {fault}", verdict.name());
        fates.push(Fate {
            crate_name: planted.name.clone(),
            fault,
            verdict,
        });
    }
    Ok(fates)
}

/// The fast programs first: most faults are caught there.
fn judge(
    planted: &Planted,
    programs: &[(Duration, &PathBuf)],
    number: usize,
) -> Result<Verdict, String> {
    for (usual, program) in programs {
        let verdict = attempt(planted, program, Some(number), PATIENCE + *usual * 10)?;
        if verdict != Verdict::Survived {
            return Ok(verdict);
        }
    }
    Ok(Verdict::Survived)
}

fn attempt(
    planted: &Planted,
    program: &Path,
    fault: Option<usize>,
    limit: Duration,
) -> Result<Verdict, String> {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit -v {ADDRESS_SPACE}; exec \"$0\" --quiet"))
        .arg(program)
        .current_dir(&planted.directory)
        .env("CARGO_MANIFEST_DIR", &planted.directory)
        .env_remove("PLANTED_FAULT")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(number) = fault {
        command.env("PLANTED_FAULT", number.to_string());
    }
    let failed = |error| format!("{}: {error}", program.display());
    let mut child = command.spawn().map_err(failed)?;
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(if status.success() {
                Verdict::Survived
            } else {
                Verdict::Caught
            });
        }
        if Instant::now() > deadline {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Ok(Verdict::TimedOut);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Verdicts of earlier runs; the last one counts.
fn read(record: &Path) -> BTreeMap<String, Verdict> {
    let text = fs::read_to_string(record).unwrap_or_default();
    let lines = text.lines().filter_map(|line| {
        let (verdict, fault) = line.split_once('\t')?;
        Some((fault.to_owned(), Verdict::from_name(verdict)?))
    });
    lines.collect()
}

fn append(record: &Path, verdict: Verdict, fault: &str) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", record.display());
    let file = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(record);
    let line = format!("{}\t{fault}\n", verdict.name());
    file.and_then(|mut it| it.write_all(line.as_bytes()))
        .map_err(failed)
}

pub(super) fn output(command: &mut Command) -> Result<String, String> {
    let done = command.stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| format!("{command:?}: {error}"))?;
    if !done.status.success() {
        return Err(format!("{command:?}: {}", done.status));
    }
    String::from_utf8(done.stdout).map_err(|error| format!("{command:?}: {error}"))
}
