//! A disk that runs full: a small tmpfs, which only root can mount.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use store::engine::Engine;
use store::{Options, embedded};

use crate::candidate::Kind;
use crate::drive::{Driver, value};

const SIZE: u64 = 64 << 20;
/// Freed when the disk is full.
const BALLAST: usize = 16 << 20;
const BATCH: usize = 16;
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(crate) struct Full {
    pub(crate) error: String,
    pub(crate) readable: String,
    pub(crate) recovers: String,
    pub(crate) reopened: String,
}

/// `None` if this user may not mount.
pub(crate) fn measure(kind: Kind, dir: &Path) -> Result<Option<Full>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let mounted = Mounted::new(dir)?;
    let path = mounted.0.clone();
    let (done, result) = channel();
    // An engine that hangs must not hang the bench.
    std::thread::spawn(move || done.send(fill(kind, &path)));
    match result.recv_timeout(PATIENCE) {
        Ok(full) => full.map(Some),
        Err(RecvTimeoutError::Timeout) => Err(anyhow!("hangs: no end after {PATIENCE:?}")),
        Err(RecvTimeoutError::Disconnected) => Err(anyhow!("panics")),
    }
}

fn fill(kind: Kind, dir: &Path) -> Result<Full> {
    // Small files, so that a small disk is full of data and not of reserve.
    let options = Options {
        segment_bytes: 4 << 20,
        checkpoint_bytes: 8 << 20,
        history_bytes: 1 << 20,
        ..Options::default()
    };
    let ballast = dir.join("ballast");
    std::fs::write(&ballast, vec![1; BALLAST])?;
    let data = dir.join("data");
    let (engine, empty) = kind.open(&data, &options)?;
    let mut driver = Driver::new(engine, empty, &options);
    let mut written = 0_u64;
    let error = loop {
        match driver.create(BATCH) {
            Ok(_) => written += BATCH as u64,
            Err(error) => break format!("{error:?}"),
        }
        ensure!(written * 2000 < SIZE * 2, "the disk never ran full");
    };
    let readable = match driver.engine.scan() {
        Ok(keys) if keys >= written => format!("yes, {keys} keys"),
        Ok(keys) => format!("NO: {keys} of {written} keys"),
        Err(error) => format!("NO: {error:#}"),
    };
    std::fs::remove_file(&ballast)?;
    let recovers = recovers(&mut driver);
    let acknowledged = driver.view.latest();
    // What it says on close is no part of the question; what is there afterwards is.
    let _ = driver.engine.close();
    drop(driver);
    let reopened = kind
        .open(&data, &options)
        .and_then(|(engine, recovered)| Ok(embedded::with_engine(engine, recovered, &options)?));
    let reopened = match reopened {
        Err(error) => format!("NO: {error:#}"),
        Ok(store) => {
            let found = store.latest();
            let lost = acknowledged.range(b"").filter(|entry| {
                found
                    .get(&entry.key)
                    .is_none_or(|it| it.value != value(entry.modified))
            });
            match lost.count() {
                0 => format!("all {} acknowledged", acknowledged.len()),
                lost => format!("LOST {lost} of {} acknowledged", acknowledged.len()),
            }
        }
    };
    Ok(Full {
        error,
        readable,
        recovers,
        reopened,
    })
}

/// Tries for some seconds to write again with space free, on the engine that met the full disk.
fn recovers(driver: &mut Driver) -> String {
    let start = Instant::now();
    let mut last = String::new();
    while start.elapsed() < Duration::from_secs(10) {
        match driver.create(BATCH) {
            Ok(_) => return format!("yes, after {:.1} s", start.elapsed().as_secs_f64()),
            Err(error) => last = format!("{error:?}"),
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    format!("NO, only by reopening: {last}")
}

struct Mounted(PathBuf);

impl Mounted {
    fn new(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={SIZE}"), "tmpfs"])
            .arg(dir)
            .status()
            .context("run mount")?;
        ensure!(status.success(), "mount ended with {status}");
        Ok(Self(dir.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily: an engine that hangs still has files open.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
