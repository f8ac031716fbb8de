//! Directories of data files.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use rustix::fs::{Advice, fadvise};

/// All files below a directory.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(dir)? {
        let path = item?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// Bytes the files take on the disk.
pub(crate) fn size(dir: &Path) -> Result<u64> {
    let mut total = 0;
    for file in files(dir)? {
        total += file.metadata()?.blocks() * 512;
    }
    Ok(total)
}

/// Drops what is clean from the page cache; a hint, but Linux follows it.
pub(crate) fn forget_pages(dir: &Path) -> Result<()> {
    for file in files(dir)? {
        let file = File::open(file)?;
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in files(from)? {
        let target = to.join(file.strip_prefix(from)?);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(&file, &target)?;
    }
    Ok(())
}

/// Waits until no file has changed for a while: what an engine does behind a bulk load is no part of what follows.
pub(crate) fn settle(dir: &Path, at_most: Duration) {
    const QUIET: Duration = Duration::from_secs(2);
    let start = Instant::now();
    let mut seen = (None, Instant::now());
    while seen.1.elapsed() < QUIET && start.elapsed() < at_most {
        std::thread::sleep(Duration::from_millis(200));
        let now = newest(dir);
        if now != seen.0 {
            seen = (now, Instant::now());
        }
    }
}

/// Number of files and the newest change. A file that goes meanwhile is a change too, seen the next time.
fn newest(dir: &Path) -> Option<(usize, SystemTime)> {
    let files = files(dir).ok()?;
    let changed = files
        .iter()
        .filter_map(|file| file.metadata().ok()?.modified().ok());
    Some((files.len(), changed.max()?))
}
