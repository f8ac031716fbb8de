//! The seam to the disk: one flat directory of files. Tests put a faulty disk here.

use std::fmt::Debug;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};

use crate::Error;

/// A directory of files. Names are durable after [`Disk::sync_names`], contents after [`DiskFile::sync`].
pub trait Disk: Send + Sync + Debug + 'static {
    fn names(&self) -> io::Result<Vec<String>>;
    /// Makes an empty file, replacing any of that name.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Atomic; replaces any file of the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// For files that are not needed any more: it may take a while, and may be interrupted.
    fn remove(&self, name: &str) -> io::Result<()>;
    fn sync_names(&self) -> io::Result<()>;
}

pub trait DiskFile: Send + Sync + Debug {
    fn size(&self) -> io::Result<u64>;
    /// Reads as much as there is, up to the length of `buffer`.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()>;
    /// Makes the file this long and reserves the blocks, so that writing within it cannot run out of space.
    fn allocate(&self, size: u64) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;
}

/// A real directory, owned by one process at a time.
#[derive(Debug)]
pub struct DirDisk {
    path: PathBuf,
    directory: File,
    /// Held for the lock on it.
    _lock: File,
}

impl DirDisk {
    const LOCK: &str = "LOCK";

    /// Makes the directory if need be (mode 0700) and takes the lock on it.
    pub fn lock(path: &Path) -> Result<Self, Error> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|source| {
                Error::io(format!("create data directory {}", path.display()), source)
            })?;
        Self::lock_existing(path)
    }

    /// Takes the lock on a directory that is there already.
    pub fn lock_existing(path: &Path) -> Result<Self, Error> {
        let attempt = |doing: &str| {
            let doing = format!("{doing} {}", path.display());
            move |source| Error::io(doing, source)
        };
        let directory = File::open(path).map_err(attempt("open data directory"))?;
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path.join(Self::LOCK))
            .map_err(attempt("open the lock file in"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // The owner's pid is a courtesy: without it the message is still true.
                let _ = lock.read_to_string(&mut owner);
                let owner = Some(owner.trim().to_owned()).filter(|pid| !pid.is_empty());
                return Err(Error::InUse {
                    path: path.display().to_string(),
                    owner,
                });
            }
            Err(TryLockError::Error(source)) => return Err(attempt("lock data directory")(source)),
        }
        // The same courtesy for the next process; a full disk must not keep us from opening.
        let _ = lock
            .set_len(0)
            .and_then(|()| writeln!(lock, "{}", std::process::id()));
        Ok(Self {
            path: path.to_owned(),
            directory,
            _lock: lock,
        })
    }
}

impl Disk for DirDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for item in std::fs::read_dir(&self.path)? {
            // A name that is not UTF-8 is not one of ours.
            names.extend(item?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600);
        Ok(Arc::new(options.open(self.path.join(name))?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(
            OpenOptions::new()
                .read(true)
                .write(true)
                .open(self.path.join(name))?,
        ))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    /// A large file goes from its end, a little at a time: a file system that discards freed blocks holds everybody up
    /// while it does. A crash in between leaves a shorter file that is not needed.
    fn remove(&self, name: &str) -> io::Result<()> {
        const STEP: u64 = 2 << 20;
        const PAUSE: Duration = Duration::from_millis(10);
        let path = self.path.join(name);
        let file = OpenOptions::new().write(true).open(&path)?;
        let mut size = file.metadata()?.len();
        while size > STEP {
            size -= STEP;
            file.set_len(size)?;
            std::thread::sleep(PAUSE);
        }
        std::fs::remove_file(path)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.directory.sync_all()
    }
}

impl DiskFile for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match FileExt::read_at(self, &mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(data, offset)
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        match fallocate(self, FallocateFlags::empty(), 0, size) {
            // Not every file system can reserve; then only the length is set.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => self.set_len(size),
            result => Ok(result?),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A file read or written from front to back.
#[derive(Debug)]
pub(crate) struct Stream {
    file: Arc<dyn DiskFile>,
    pub(crate) offset: u64,
}

impl Stream {
    pub(crate) fn new(file: Arc<dyn DiskFile>) -> Self {
        Self { file, offset: 0 }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

impl Write for Stream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.file.write_at(data, self.offset)?;
        self.offset += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How fast a large file is written beside a store at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Leaves most of the disk's time to others.
    Gentle,
    /// As fast as the disk takes it.
    Hurry,
    /// Not any more: the write fails.
    Stop,
}

/// Writes a large file front to back in pieces, each synced, so that it never fills the disk's queue in front of a
/// store's small syncs.
pub struct Paced<'a> {
    file: Arc<dyn DiskFile>,
    offset: u64,
    unsynced: u64,
    pace: &'a (dyn Fn() -> Pace + Send + Sync),
}

impl<'a> Paced<'a> {
    const PIECE: u64 = 256 << 10;
    const LONGEST_PAUSE: Duration = Duration::from_millis(50);

    pub fn new(file: Arc<dyn DiskFile>, pace: &'a (dyn Fn() -> Pace + Send + Sync)) -> Self {
        Self {
            file,
            offset: 0,
            unsynced: 0,
            pace,
        }
    }

    /// Syncs the rest; returns how long the file is.
    pub fn finish(self) -> io::Result<u64> {
        self.file.sync()?;
        Ok(self.offset)
    }
}

impl Write for Paced<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let pace = (self.pace)();
        if pace == Pace::Stop {
            // Not `Interrupted`: that would be tried again.
            return Err(io::Error::other("stopping"));
        }
        let start = Instant::now();
        self.file.write_at(data, self.offset)?;
        self.offset += data.len() as u64;
        self.unsynced += data.len() as u64;
        if self.unsynced >= Self::PIECE {
            self.file.sync()?;
            self.unsynced = 0;
            if pace == Pace::Gentle {
                std::thread::sleep((start.elapsed() * 10).min(Self::LONGEST_PAUSE));
            }
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for Paced<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Paced({:?} at {})", self.file, self.offset)
    }
}
