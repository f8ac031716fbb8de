//! What is counted and not sent yet: a directory with a file for each build, bounded in number and size.
//!
//! Files appear and go as a whole, so any number of builds may add to it while one process sends.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use json::Value;

use crate::places;

pub(crate) const MAX_FILES: usize = 64;
const MAX_BYTES: u64 = 512 << 10;
/// Of one build, which has room for each field that there is.
const MAX_FILE_BYTES: u64 = 64 << 10;

#[derive(Clone, Debug)]
pub(crate) struct Spool(PathBuf);

impl Spool {
    pub(crate) fn at(directory: &Path) -> Self {
        Self(directory.to_owned())
    }

    /// Whether this is the first time that one asks. If it cannot be remembered, it is an error.
    pub(crate) fn first_notice(&self) -> io::Result<bool> {
        places::make_directory(&self.0)?;
        match File::create_new(self.0.join("noticed")) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The oldest make room if there is none.
    pub(crate) fn add(&self, document: &Value, now: SystemTime) -> io::Result<()> {
        let waiting = self.0.join("waiting");
        places::make_directory(&waiting)?;
        let text = json::to_vec(document);
        let mut files = self.files();
        let mut bytes: u64 = files.iter().map(|(_, size)| size).sum();
        bytes += text.len() as u64;
        while files.len() >= MAX_FILES || (bytes > MAX_BYTES && !files.is_empty()) {
            let (path, size) = files.remove(0);
            bytes -= size;
            self.drop_file(&path);
        }
        let time = now.duration_since(SystemTime::UNIX_EPOCH);
        let time = time.unwrap_or_default().as_nanos();
        let name = format!("{time:024}-{}.json", places::unique());
        places::write(&waiting.join(name), &text)
    }

    /// What waits, the oldest first. What cannot be read is lost.
    pub(crate) fn documents(&self) -> Vec<(PathBuf, Value)> {
        let mut all = Vec::new();
        for (path, _) in self.files() {
            let mut text = Vec::new();
            let read = File::open(&path)
                .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text));
            match (read, json::parse(&text)) {
                // Somebody else has taken it away.
                (Err(error), _) if error.kind() == io::ErrorKind::NotFound => {}
                (Ok(_), Ok(document)) if text.len() as u64 <= MAX_FILE_BYTES => {
                    all.push((path, document));
                }
                _ => self.drop_file(&path),
            }
        }
        all
    }

    /// Files with their sizes, the oldest first.
    fn files(&self) -> Vec<(PathBuf, u64)> {
        let found = fs::read_dir(self.0.join("waiting"));
        let mut all: Vec<_> = found
            .into_iter()
            .flatten()
            .flatten()
            .filter(|it| it.path().extension().is_some_and(|it| it == "json"))
            .map(|it| (it.path(), it.metadata().map_or(0, |it| it.len())))
            .collect();
        all.sort();
        all
    }

    fn drop_file(&self, path: &Path) {
        if fs::remove_file(path).is_ok() {
            self.lose(1);
        }
    }

    /// A byte for each payload: appending needs no lock.
    pub(crate) fn lose(&self, payloads: usize) {
        let file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(self.0.join("lost"));
        if let Ok(mut file) = file {
            _ = file.write_all(&vec![b'.'; payloads]);
        }
    }

    pub(crate) fn lost(&self) -> u64 {
        fs::metadata(self.0.join("lost")).map_or(0, |it| it.len())
    }

    /// It was told that so many were lost.
    pub(crate) fn forgive(&self, lost: u64) {
        let left = self.lost().saturating_sub(lost);
        let file = fs::OpenOptions::new().write(true).open(self.0.join("lost"));
        if let Ok(file) = file {
            _ = file.set_len(left);
        }
    }

    /// What was left half written, long ago.
    pub(crate) fn tidy(&self, now: SystemTime) {
        let found = fs::read_dir(self.0.join("waiting"));
        for entry in found.into_iter().flatten().flatten() {
            let path = entry.path();
            let half = path.extension().is_some_and(|it| it == "new");
            let written = entry.metadata().and_then(|it| it.modified());
            let age = written.ok().and_then(|it| now.duration_since(it).ok());
            if half && age.is_some_and(|it| it > Duration::from_secs(3600)) {
                _ = fs::remove_file(path);
            }
        }
    }

    /// Whether anything was ever counted.
    pub(crate) fn exists(&self) -> bool {
        self.0.is_dir()
    }

    /// Held while it is sent; none if another process does.
    pub(crate) fn lock(&self) -> Option<File> {
        let path = self.0.join("lock");
        let file = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .ok()?;
        file.try_lock().ok()?;
        Some(file)
    }

    /// Whoever failed to send waits a minute, then two, then four, up to an hour.
    pub(crate) fn may_try(&self, now: SystemTime) -> bool {
        let Ok(failures) = fs::metadata(self.0.join("failed")) else {
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
            .open(self.0.join("failed"));
        if let Ok(mut file) = file {
            _ = file.write_all(b".");
        }
    }

    /// What was sent at last is kept for the user to see.
    pub(crate) fn succeeded(&self, sent: &Value) {
        _ = fs::remove_file(self.0.join("failed"));
        _ = places::write(&self.0.join("last.json"), &json::to_vec(sent));
    }

    pub(crate) fn last(&self) -> Option<Value> {
        let text = fs::read(self.0.join("last.json")).ok()?;
        json::parse(&text).ok()
    }

    /// Nothing of what waits is to be sent.
    pub(crate) fn clear(&self) {
        for (path, _) in self.files() {
            _ = fs::remove_file(path);
        }
        for name in ["failed", "lost"] {
            _ = fs::remove_file(self.0.join(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn it_is_bounded_and_what_is_lost_counts() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::at(&dir.path().join("a/b"));
        for second in 0..MAX_FILES as u64 + 3 {
            spool
                .add(&Value::from(second.to_string()), at(second))
                .unwrap();
        }
        let waiting = spool.documents();
        assert_eq!(waiting.len(), MAX_FILES);
        assert_eq!(waiting[0].1, json!("3"), "the oldest are gone");
        assert_eq!(spool.lost(), 3);
        spool.forgive(2);
        assert_eq!(spool.lost(), 1);
        let large = Value::from("x".repeat(40 << 10));
        for second in 100..130 {
            spool.add(&large, at(second)).unwrap();
        }
        let bytes: u64 = spool.files().iter().map(|(_, size)| size).sum();
        assert!(bytes <= MAX_BYTES, "{bytes}");
        spool.clear();
        assert!(spool.documents().is_empty());
        assert_eq!(spool.lost(), 0);
    }

    #[test]
    fn what_cannot_be_read_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::at(dir.path());
        spool.add(&json!("good"), at(1)).unwrap();
        fs::write(dir.path().join("waiting/0-1.json"), "{").unwrap();
        fs::write(dir.path().join("waiting/0-3.json.1.1.new"), "{").unwrap();
        spool.tidy(SystemTime::now());
        assert!(dir.path().join("waiting/0-3.json.1.1.new").exists());
        spool.tidy(SystemTime::now() + Duration::from_secs(4000));
        assert!(!dir.path().join("waiting/0-3.json.1.1.new").exists());
        let large = " ".repeat((64 << 10) + 1);
        fs::write(dir.path().join("waiting/0-2.json"), large).unwrap();
        assert_eq!(spool.documents().len(), 1);
        assert_eq!(spool.lost(), 2);
    }

    #[test]
    fn many_may_add_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::at(dir.path());
        std::thread::scope(|scope| {
            for number in 0..20 {
                let spool = &spool;
                scope.spawn(move || spool.add(&json!("x"), at(number / 2)).unwrap());
            }
        });
        assert_eq!(spool.documents().len(), 20);
    }

    #[test]
    fn whoever_failed_waits() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::at(dir.path());
        let now = SystemTime::now();
        assert!(spool.may_try(now));
        spool.failed();
        assert!(!spool.may_try(now + Duration::from_secs(10)));
        assert!(spool.may_try(now + Duration::from_secs(90)));
        for _ in 0..20 {
            spool.failed();
        }
        assert!(!spool.may_try(now + Duration::from_secs(1000)));
        assert!(spool.may_try(now + Duration::from_secs(4000)));
        spool.succeeded(&json!("it"));
        assert!(spool.may_try(now));
        assert_eq!(spool.last(), Some(json!("it")));
    }

    #[test]
    fn one_sends_at_a_time_and_one_is_told_first() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::at(dir.path());
        let lock = spool.lock();
        assert!(lock.is_some());
        assert!(spool.lock().is_none());
        drop(lock);
        assert!(spool.lock().is_some());
        assert!(spool.first_notice().unwrap());
        assert!(!spool.first_notice().unwrap());
    }
}
