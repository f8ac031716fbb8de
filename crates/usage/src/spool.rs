//! What is counted and not sent yet, and what is remembered of sending it: a directory of the user's own.

mod journal;
mod sender;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use json::Value;

use self::journal::Journal;
pub(crate) use self::journal::{HERE, Taken};
pub(crate) use self::sender::Sender;
use crate::places;

#[derive(Clone, Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    key: String,
    journal: Journal,
}

impl Spool {
    /// The counts for one destination.
    pub(crate) fn at(directory: &Path, key: &str) -> Self {
        Self {
            directory: directory.to_owned(),
            key: key.to_owned(),
            journal: Journal::at(directory.join("waiting"), Some(key.to_owned())),
        }
    }

    /// What waits for anybody, to be looked at and cleared.
    pub(crate) fn of_all(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            key: HERE.to_owned(),
            journal: Journal::at(directory.join("waiting"), None),
        }
    }

    /// Whether this is the first time that one asks. If it cannot be remembered, it is an error.
    pub(crate) fn first_notice(&self) -> io::Result<bool> {
        let path = self.directory.join("noticed");
        let create = || File::create_new(&path);
        let created = create().or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            places::make_directory(&self.directory)?;
            create()
        });
        match created {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The oldest make room if there is none. Whether it waits now.
    pub(crate) fn add(&self, document: &Value, now: SystemTime) -> bool {
        let added = self.journal.add(document, now);
        let (Ok(lost) | Err(lost)) = added;
        // What goes nowhere is not lost to anybody.
        if self.key != HERE {
            self.lose(lost);
        }
        added.is_ok()
    }

    /// Whether a build has added something since all was taken.
    pub(crate) fn has_news(&self) -> bool {
        self.journal.has_news()
    }

    /// For the one process that sends.
    pub(crate) fn take(&self, now: SystemTime) -> Taken {
        self.lose(self.journal.make_room(now));
        self.journal.take(now)
    }

    /// What waits, the oldest first, and how many are lost.
    pub(crate) fn look(&self) -> (Vec<Value>, u64) {
        let (documents, broken) = self.journal.look();
        (documents, self.lost() + broken as u64)
    }

    /// A byte for each payload: appending needs no lock.
    pub(crate) fn lose(&self, payloads: usize) {
        if payloads == 0 {
            return;
        }
        let file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(self.directory.join("lost"));
        if let Ok(mut file) = file {
            _ = file.write_all(&vec![b'.'; payloads]);
        }
    }

    pub(crate) fn lost(&self) -> u64 {
        fs::metadata(self.directory.join("lost")).map_or(0, |it| it.len())
    }

    /// The loss of so many was reported.
    pub(crate) fn forgive(&self, lost: u64) {
        let left = self.lost().saturating_sub(lost);
        let file = fs::OpenOptions::new()
            .write(true)
            .open(self.directory.join("lost"));
        if let Ok(file) = file {
            _ = file.set_len(left);
        }
    }

    /// Whether anything was ever counted.
    pub(crate) fn exists(&self) -> bool {
        self.directory.is_dir()
    }

    /// The one process that sends what builds add from now on; none if there is one.
    pub(crate) fn try_become_sender(&self) -> Option<Sender> {
        Sender::begin(&self.sender())
    }

    pub(crate) fn is_attended(&self) -> bool {
        Sender::is_there(&self.sender())
    }

    fn sender(&self) -> PathBuf {
        self.directory.join("sender").with_extension(&self.key)
    }

    /// Held while it is sent; none if another process does.
    pub(crate) fn lock(&self) -> Option<File> {
        let path = self.directory.join("lock");
        let file = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .ok()?;
        file.try_lock().ok()?;
        Some(file)
    }

    /// After a failure the next attempt waits a minute, then two, then four, up to an hour.
    pub(crate) fn may_try(&self, now: SystemTime) -> bool {
        let Ok(failures) = fs::metadata(self.directory.join("failed")) else {
            return true;
        };
        let exponent = u32::try_from(failures.len()).unwrap_or(u32::MAX).min(6);
        let wait = Duration::from_secs((60 << exponent) / 2).min(Duration::from_secs(3600));
        let since = failures.modified().map(|it| now.duration_since(it));
        // A clock that was set back must not stop it for ever.
        since.is_ok_and(|it| it.map_or(true, |it| it >= wait))
    }

    pub(crate) fn failed(&self) {
        let file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(self.directory.join("failed"));
        if let Ok(mut file) = file {
            _ = file.write_all(b".");
        }
    }

    /// What was sent at last is kept for the user to see.
    pub(crate) fn succeeded(&self, sent: &Value) {
        _ = fs::remove_file(self.directory.join("failed"));
        _ = places::write(&self.directory.join("last.json"), &json::to_vec(sent));
    }

    pub(crate) fn last(&self) -> Option<Value> {
        let text = fs::read(self.directory.join("last.json")).ok()?;
        json::parse(&text).ok()
    }

    /// Nothing of what waits is to be sent.
    pub(crate) fn clear(&self) {
        self.journal.clear();
        for name in ["failed", "lost"] {
            _ = fs::remove_file(self.directory.join(name));
        }
    }
}

#[cfg(test)]
mod tests;
