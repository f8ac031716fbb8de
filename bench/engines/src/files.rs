//! Directories of data files.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
