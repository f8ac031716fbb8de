//! One flipped bit in an acknowledged write, in the file that took it, after a kill.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use store::engine::Engine;
use store::{Options, Revision, embedded};

use crate::candidate::Kind;
use crate::drive::{Driver, VALUE, value};
use crate::files;

const BATCHES: u64 = 128;
const BATCH: u64 = 16;

/// What became of a bit flipped in the middle of what was written, and in the last batch of an idle store.
pub(crate) fn measure(kind: Kind, dir: &Path) -> Result<[String; 2]> {
    let options = Options::default();
    let (engine, empty) = kind.open(&dir.join("open"), &options)?;
    let mut driver = Driver::new(engine, empty, &options);
    for _ in 0..BATCHES {
        driver
            .create(usize::try_from(BATCH)?)
            .map_err(|error| anyhow!("{}: {error:?}", kind.name()))?;
    }
    driver.engine.idle();
    // A copy of the directory while it is open is what a kill leaves.
    let last = BATCHES * BATCH;
    [("middle", last / 2), ("last", last - BATCH / 2)]
        .map(|(name, revision)| {
            let copy = dir.join(name);
            files::copy(&dir.join("open"), &copy)?;
            let file = flip(&copy, revision)?;
            Ok(format!(
                "{} (bit in {file})",
                judge(kind, &copy, &options, last)
            ))
        })
        .into_iter()
        .collect::<Result<Vec<_>>>()?
        .try_into()
        .map_err(|_| anyhow!("two places give two outcomes"))
}

/// Flips a bit in the value of this revision, in the newest file that holds it.
fn flip(dir: &Path, revision: Revision) -> Result<String> {
    let value = value(revision);
    let mut found: Option<(std::time::SystemTime, PathBuf, usize)> = None;
    for path in files::files(dir)? {
        let content = std::fs::read(&path)?;
        let at = content
            .windows(64)
            .position(|window| window == &value[..64]);
        if let Some(at) = at {
            let modified = path.metadata()?.modified()?;
            if found
                .as_ref()
                .is_none_or(|(newest, ..)| modified >= *newest)
            {
                found = Some((modified, path, at));
            }
        }
    }
    let (_, path, at) = found.context("no file holds the value as it was written")?;
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&path)?;
    let offset = (at + VALUE / 2) as u64;
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset)?;
    byte[0] ^= 1;
    file.write_all_at(&byte, offset)?;
    Ok(path.strip_prefix(dir)?.display().to_string())
}

fn judge(kind: Kind, dir: &Path, options: &Options, written: Revision) -> String {
    let opened = kind.open(dir, options);
    let store = opened
        .and_then(|(engine, recovered)| Ok(embedded::with_engine(engine, recovered, options)?));
    let snapshot = match store {
        Err(error) => return format!("named: {error:#}"),
        Ok(store) => store.latest(),
    };
    let wrong = snapshot
        .range(b"")
        .filter(|entry| entry.value != value(entry.modified))
        .count();
    // Every revision made a key of its own.
    let lost = written - snapshot.len() as u64;
    match (lost, wrong) {
        (0, 0) => "not noticed, nothing lost".into(),
        (0, wrong) => format!("SERVED WRONG: {wrong} values"),
        (lost, 0) => format!("SILENTLY LOST: {lost} of {written} acknowledged writes"),
        (lost, wrong) => format!("SILENTLY LOST: {lost} of {written}, SERVED WRONG: {wrong}"),
    }
}
