//! A file system that remembers what was asked of it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::{Entry, FileSystem};
use crate::error::Error;

/// For whoever wants to know what a build depends on.
#[derive(Debug, Default)]
pub struct Recorded<F> {
    files: F,
    paths: RefCell<BTreeSet<String>>,
}

impl<F: FileSystem> Recorded<F> {
    pub fn new(files: F) -> Self {
        Self {
            files,
            paths: RefCell::default(),
        }
    }

    /// All paths that were looked at since this was last asked, also those that were not there; directories that were
    /// listed end in a slash.
    pub fn take(&self) -> BTreeSet<String> {
        self.paths.take()
    }

    fn note(&self, path: &str) {
        let mut paths = self.paths.borrow_mut();
        if !paths.contains(path) {
            paths.insert(path.to_owned());
        }
    }
}

impl<F: FileSystem> FileSystem for Recorded<F> {
    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        self.note(path);
        self.files.read(path)
    }

    fn resolve(&self, path: &str) -> Result<(String, Option<String>), Error> {
        self.note(path);
        self.files.resolve(path)
    }

    fn is_plain_file(&self, path: &str) -> bool {
        self.note(path);
        self.files.is_plain_file(path)
    }

    fn entries(&self, directory: &str) -> Result<Vec<Entry>, Error> {
        // The slash says that what is in it counts.
        self.note(&format!("{directory}/"));
        self.files.entries(directory)
    }

    fn make_directory(&self, path: &str) -> Result<(), Error> {
        self.files.make_directory(path)
    }

    fn temporary_directory(&self) -> Result<String, Error> {
        self.files.temporary_directory()
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<(), Error> {
        self.files.write(path, content)
    }

    fn remove_all(&self, path: &str) {
        self.files.remove_all(path);
    }
}
