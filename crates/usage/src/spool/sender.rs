//! Whether a process is there that sends: it holds the lock of a file as long as it is.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// While this lives, no build starts another one.
#[derive(Debug)]
pub(crate) struct Sender {
    path: PathBuf,
    /// Locked until it is closed, which is after the drop below.
    _file: File,
}

impl Sender {
    pub(super) fn begin(path: &Path) -> Option<Self> {
        // A build that checks for a sender holds the lock for a moment.
        for _ in 0..20 {
            let file = fs::OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(path)
                .ok()?;
            match file.try_lock() {
                Ok(()) if file.metadata().is_ok_and(|it| it.nlink() > 0) => {
                    let path = path.to_owned();
                    return Some(Self { path, _file: file });
                }
                // The one before has just left, and taken the file away.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }

    /// Of any number of builds that ask at once, none is told of another.
    pub(super) fn is_there(path: &Path) -> bool {
        File::open(path)
            .is_ok_and(|it| matches!(it.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.path);
    }
}
