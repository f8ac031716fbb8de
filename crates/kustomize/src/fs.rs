//! Where files are: a tree in memory, or the disk.

mod disk;
mod memory;
mod recorded;

pub use disk::Disk;
pub use memory::Memory;
pub use recorded::Recorded;

use crate::error::{Error, Result};

/// Paths are absolute or relative to a place that the file system knows; their parts are separated by `/`.
pub trait FileSystem {
    fn read(&self, path: &str) -> std::result::Result<Vec<u8>, Error>;

    /// The directory that a path leads to behind all links, and the file in it if it leads to a file.
    fn resolve(&self, path: &str) -> std::result::Result<(String, Option<String>), Error>;

    /// Whether a path is known to be a file and no link. If not, it may still be one.
    fn is_plain_file(&self, path: &str) -> bool {
        _ = path;
        false
    }

    /// A directory of its own for a checkout, or why there is none.
    fn temporary_directory(&self) -> std::result::Result<String, Error> {
        Err(Error::new("this file system has no place for checkouts"))
    }

    fn write(&self, path: &str, _: &[u8]) -> std::result::Result<(), Error> {
        Err(Error::new(format!("{path}: this file system is read-only")))
    }

    fn remove_all(&self, _: &str) {}

    /// What a directory holds, ordered by name.
    fn entries(&self, directory: &str) -> std::result::Result<Vec<Entry>, Error> {
        Err(Error::new(format!(
            "open {directory}: this file system does not list directories"
        )))
    }

    /// With all directories above it.
    fn make_directory(&self, path: &str) -> std::result::Result<(), Error> {
        Err(Error::new(format!("{path}: this file system is read-only")))
    }
}

/// Something in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    /// To whatever.
    Link,
}

/// Whether a path leads to something.
pub(crate) fn exists(fs: &dyn FileSystem, path: &str) -> bool {
    !path.is_empty() && fs.resolve(path).is_ok()
}

pub(crate) fn is_dir(fs: &dyn FileSystem, path: &str) -> bool {
    !path.is_empty() && matches!(fs.resolve(path), Ok((_, None)))
}

/// A directory, or why it is none.
pub(crate) fn confirm_dir(fs: &dyn FileSystem, path: &str) -> Result<String> {
    if path.is_empty() {
        return Err(Error::new("directory path cannot be empty"));
    }
    let (dir, file) = fs
        .resolve(path)
        .map_err(|error| error.wrap("not a valid directory"))?;
    match file {
        None => Ok(dir),
        Some(_) => Err(Error::new(format!("'{path}': file is not directory"))),
    }
}
