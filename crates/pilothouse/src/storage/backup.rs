use std::fs::{File, OpenOptions};
use std::io::{self, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use store::disk::{DirDisk, Pace, Paced};
use store::{Options, backup};

use crate::control;
use crate::data::{self, Directory};

/// The file appears under its name only when it is complete, verified and on disk.
pub(super) async fn backup(directory: &Directory, file: &Path) -> anyhow::Result<()> {
    ensure!(
        !file.exists(),
        "{} exists already: a backup never overwrites",
        file.display()
    );
    let partial = partial(file);
    let made = make(directory, &partial)
        .await
        .and_then(|()| publish(&partial, file));
    if made.is_err() {
        // The error is reported; half a file is of no use.
        let _ = std::fs::remove_file(&partial);
    }
    let summary = made?;
    let name = file.display();
    println!(
        "backed up {} keys at revision {} to {name}",
        summary.keys, summary.revision
    );
    Ok(())
}

fn partial(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

async fn make(directory: &Directory, partial: &Path) -> anyhow::Result<()> {
    let doing = || format!("write {}", partial.display());
    // Secrets are in it: for the owner's eyes only.
    let out = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(partial)
        .with_context(doing)?;
    // The file may be on the server's disk, and the server at work.
    let mut out = Paced::new(Arc::new(out), &|| Pace::Gentle);
    if let Some(mut running) = control::ask(&directory.socket(), "backup")? {
        io::copy(&mut running, &mut out).with_context(doing)?;
    } else {
        super::exists(directory)?;
        let store = data::open(directory, Options::default()).await?;
        (out, _) = store.backup(out).await?;
        store.close().await?;
    }
    out.finish().map(|_| ()).with_context(doing)
}

fn publish(partial: &Path, file: &Path) -> anyhow::Result<backup::Summary> {
    let mut written = BufReader::with_capacity(1 << 20, File::open(partial)?);
    let summary = backup::verify(&mut written, &partial.display().to_string())?;
    std::fs::rename(partial, file).with_context(|| format!("rename to {}", file.display()))?;
    let parent = file
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    File::open(parent)?
        .sync_all()
        .with_context(|| format!("sync {}", parent.display()))?;
    Ok(summary)
}

/// Directories that are not there yet: a restore that fails leaves none of them behind.
struct Made<'a> {
    directory: &'a Directory,
    store: bool,
    data: bool,
}

impl<'a> Made<'a> {
    fn since(directory: &'a Directory) -> Self {
        Self {
            directory,
            store: !directory.store().exists(),
            data: !directory.data_dir.exists(),
        }
    }

    /// Best effort: the first error is reported.
    fn remove(&self) {
        if self.store {
            let _ = std::fs::remove_dir_all(self.directory.store());
        }
        if self.data {
            // Only if nothing else is in it.
            let _ = std::fs::remove_dir(&self.directory.data_dir);
        }
    }
}

pub(super) fn restore(directory: &Directory, file: &Path, skip: u64) -> anyhow::Result<()> {
    let input = File::open(file).with_context(|| format!("open {}", file.display()))?;
    let mut input = BufReader::with_capacity(1 << 20, input);
    let made = Made::since(directory);
    let name = file.display().to_string();
    let restored = DirDisk::lock(&directory.store()).and_then(|disk| {
        backup::restore(&mut input, &name, Arc::new(disk), skip, &Options::default())
    });
    if restored.is_err() {
        made.remove();
    }
    let summary = restored?;
    println!(
        "restored {} keys at revision {} into {}",
        summary.keys,
        summary.revision,
        directory.data_dir.display()
    );
    Ok(())
}
