//! The lines that wait: a journal that builds append to, one line and one write for each, and what has been retired of it.
//!
//! **Nobody waits for anybody.** A build holds a shared lock on its handle while it appends. Whoever wants the lines gives
//! the file another name first, and takes the exclusive lock afterwards: a build that cannot lock knows that its file is
//! retired, and opens the journal again, which is a new one. A build that appends to a retired file that nobody reads yet
//! does no harm: it is read later, under the lock.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use json::Value;

use crate::places;

/// A journal of this size is retired by the next build.
const JOURNAL_BYTES: u64 = 128 << 10;
/// Of all that is retired.
const RETIRED_BYTES: u64 = 384 << 10;
/// Of one build, which has room for each field that there is.
const LINE_BYTES: usize = 64 << 10;

/// For counts without a destination yet: the first destination gets them.
pub(crate) const HERE: &str = "here";

/// A directory with a journal for each destination: counts for one are never sent to another.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    directory: PathBuf,
    /// What its files' names end with; none means all destinations, to be read and cleared.
    key: Option<String>,
}

/// Lines that this process alone holds until this is dropped, and that are deleted when they were sent.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) documents: Vec<Value>,
    /// Lines that are no documents: a build was killed while it wrote, or the disk was full.
    pub(crate) broken: usize,
    files: Vec<(PathBuf, File)>,
}

impl Taken {
    pub(crate) fn remove(self) {
        for (path, _) in &self.files {
            _ = fs::remove_file(path);
        }
    }
}

impl Journal {
    pub(super) fn at(directory: PathBuf, key: Option<String>) -> Self {
        Self { directory, key }
    }

    fn path(&self) -> PathBuf {
        self.directory.join("journal").with_extension(self.key())
    }

    fn key(&self) -> &str {
        self.key.as_deref().unwrap_or(HERE)
    }

    /// How many made room for it; as an error, how many are lost and it is one of them.
    pub(super) fn add(&self, document: &Value, now: SystemTime) -> Result<usize, usize> {
        // A line that was cut off ends here, and costs none but itself.
        let mut line = vec![b'\n'];
        json::write(&mut line, document);
        line.push(b'\n');
        let mut lost = 0;
        for _ in 0..8 {
            let Ok(mut file) = self.open() else {
                break;
            };
            if let Err(TryLockError::WouldBlock) = file.try_lock_shared() {
                continue;
            }
            match file.metadata() {
                Ok(it) if it.nlink() == 0 => {}
                Ok(it) if it.len() >= JOURNAL_BYTES => {
                    retire(&self.path(), now);
                    lost += self.make_room(now);
                }
                // A line that is cut off is found, and counted, by the reader.
                Ok(_) if file.write(&line).is_ok_and(|it| it > 1) => return Ok(lost),
                _ => break,
            }
        }
        Err(lost + 1)
    }

    fn open(&self) -> io::Result<File> {
        let path = self.path();
        let open = || {
            let mut options = fs::OpenOptions::new();
            options.append(true).create(true).mode(0o600).open(&path)
        };
        open().or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            places::make_directory(&self.directory)?;
            open()
        })
    }

    /// Whether a build has added something since it was taken.
    pub(super) fn has_news(&self) -> bool {
        fs::metadata(self.path()).is_ok_and(|it| it.len() > 0)
    }

    /// The oldest go. How many lines that are.
    pub(super) fn make_room(&self, now: SystemTime) -> usize {
        let mut files = self.files();
        files.retain(|(path, _)| *path != self.path());
        let mut bytes: u64 = files.iter().map(|(_, size)| size).sum();
        let mut dropped = 0;
        for (mut path, size) in files {
            if bytes <= RETIRED_BYTES {
                break;
            }
            if is_journal(&path) {
                path = retire(&path, now);
            }
            if let Some(file) = take(&path, Duration::ZERO) {
                let (documents, broken) = read(&file);
                _ = fs::remove_file(&path);
                dropped += documents.len() + broken;
            }
            bytes -= size;
        }
        dropped
    }

    /// All that waits, the oldest first.
    pub(super) fn take(&self, now: SystemTime) -> Taken {
        for key in [self.key(), HERE] {
            retire(&self.directory.join("journal").with_extension(key), now);
        }
        self.taken()
    }

    /// All that is retired. A journal that a build has begun meanwhile is left alone: builds would find it locked for as
    /// long as it takes to send.
    fn taken(&self) -> Taken {
        let mut taken = Taken::default();
        let retired = self.own_files().into_iter();
        for (path, _) in retired.filter(|(path, _)| !is_journal(path)) {
            // Builds hold it for a moment only; one that is stopped in that moment is not waited for.
            if let Some(file) = take(&path, Duration::from_secs(2)) {
                let (documents, broken) = read(&file);
                taken.documents.extend(documents);
                taken.broken += broken;
                taken.files.push((path, file));
            }
        }
        taken
    }

    /// All that waits, which others may take meanwhile.
    pub(super) fn look(&self) -> (Vec<Value>, usize) {
        let (mut documents, mut broken) = (Vec::new(), 0);
        for (path, _) in self.own_files() {
            if let Ok(file) = File::open(path) {
                let found = read(&file);
                documents.extend(found.0);
                broken += found.1;
            }
        }
        (documents, broken)
    }

    pub(super) fn clear(&self) {
        for (path, _) in self.own_files() {
            _ = fs::remove_file(path);
        }
    }

    fn own_files(&self) -> Vec<(PathBuf, u64)> {
        let mut files = self.files();
        let own = |it: &str| {
            self.key
                .as_deref()
                .is_none_or(|key| it == key || it == HERE)
        };
        files.retain(|(path, _)| {
            path.extension()
                .is_some_and(|it| it.to_str().is_some_and(own))
        });
        files
    }

    /// Files with their sizes: what is retired by its age, then journals.
    fn files(&self) -> Vec<(PathBuf, u64)> {
        let found = fs::read_dir(&self.directory);
        let found = found.into_iter().flatten().flatten();
        let mut all: Vec<_> = found
            .map(|it| (it.path(), it.metadata().map_or(0, |it| it.len())))
            .collect();
        all.sort();
        all
    }
}

fn is_journal(path: &Path) -> bool {
    path.file_stem().is_some_and(|it| it == "journal")
}

/// Gives a journal the name of what is not added to any more, if it is there.
fn retire(journal: &Path, now: SystemTime) -> PathBuf {
    let time = now.duration_since(SystemTime::UNIX_EPOCH);
    let time = time.unwrap_or_default().as_nanos();
    let mut name = PathBuf::from(format!("{time:024}-{}", places::unique()));
    name.set_extension(journal.extension().unwrap_or_default());
    let path = journal.with_file_name(name);
    _ = fs::rename(journal, &path);
    path
}

/// A retired file for this process alone.
fn take(path: &Path, patience: Duration) -> Option<File> {
    const PAUSE: Duration = Duration::from_millis(5);
    let file = File::open(path).ok()?;
    let mut waited = Duration::ZERO;
    while let Err(error) = file.try_lock() {
        if matches!(error, TryLockError::Error(_)) || waited >= patience {
            return None;
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
    // Another process was faster, and has finished.
    let there = file.metadata().is_ok_and(|it| it.nlink() > 0);
    there.then_some(file)
}

/// Documents, and how many lines are none.
fn read(file: &File) -> (Vec<Value>, usize) {
    let mut text = Vec::with_capacity(16 << 10);
    // What is longer was not written by this program.
    let limit = JOURNAL_BYTES * 4;
    _ = file.take(limit).read_to_end(&mut text);
    let lines = text.split(|it| *it == b'\n').filter(|it| !it.is_empty());
    let (mut documents, mut broken) = (Vec::new(), 0);
    for line in lines {
        match json::parse(line) {
            Ok(document) if line.len() <= LINE_BYTES => documents.push(document),
            _ => broken += 1,
        }
    }
    (documents, broken)
}

#[cfg(test)]
mod tests;
