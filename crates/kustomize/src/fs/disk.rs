//! The disk, with errors as Go words them.

use std::fs;
use std::io::{Error as IoError, ErrorKind, Read as _};
use std::path::Path;

use super::{Entry, EntryKind, FileSystem};
use crate::error::Error;
use crate::paths;

#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

/// As Linux allows.
const MAX_LINKS: usize = 255;

/// Files larger than this are refused: no manifest is, and memory is bounded.
const MAX_FILE: u64 = 1 << 30;

impl FileSystem for Disk {
    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let fail =
            |what: &str, error: &IoError| Error::new(format!("{what} {path}: {}", cause(error)));
        let file = fs::File::open(path).map_err(|error| fail("open", &error))?;
        let meta = file.metadata().map_err(|error| fail("open", &error))?;
        if meta.is_dir() {
            return Err(Error::new(format!("read {path}: is a directory")));
        }
        let large = || Error::new(format!("read {path}: file too large"));
        if meta.len() > MAX_FILE {
            return Err(large());
        }
        // One more byte than there is, so that one read finds the end.
        let mut content = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
        // What is no regular file does not say its length, and may have no end.
        let read = file.take(MAX_FILE + 1).read_to_end(&mut content);
        let length = read.map_err(|error| fail("read", &error))?;
        if length as u64 > MAX_FILE {
            return Err(large());
        }
        Ok(content)
    }

    fn resolve(&self, path: &str) -> Result<(String, Option<String>), Error> {
        let absolute = if path.starts_with('/') {
            paths::clean(path)
        } else {
            let here = std::env::current_dir()
                .map_err(|error| Error::new(format!("abs path error on '{path}' : {error}")))?;
            paths::join(&here.to_string_lossy(), path)
        };
        let real = follow(&absolute).map_err(|(at, why)| {
            Error::new(format!(
                "evalsymlink failure on '{path}' : {}{why}",
                lstat(&at)
            ))
        })?;
        if Path::new(&real).is_dir() {
            return Ok((real, None));
        }
        let (dir, file) = real.rsplit_once('/').unwrap_or(("", &real));
        let dir = if dir.is_empty() { "/" } else { dir };
        Ok((dir.to_owned(), Some(file.to_owned())))
    }

    fn is_plain_file(&self, path: &str) -> bool {
        fs::symlink_metadata(path).is_ok_and(|it| it.is_file())
    }

    fn temporary_directory(&self) -> Result<String, Error> {
        let base = std::env::temp_dir();
        for attempt in 0..1000u32 {
            let nanos = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |it| it.subsec_nanos());
            let name = format!(
                "kustomize-{}{}",
                std::process::id(),
                nanos.wrapping_add(attempt)
            );
            let path = base.join(name);
            match fs::create_dir(&path) {
                Ok(()) => {
                    let real = fs::canonicalize(&path).unwrap_or(path);
                    return Ok(real.to_string_lossy().into_owned());
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::new(format!("mkdir: {}", cause(&error)))),
            }
        }
        Err(Error::new("mkdir: no free name for a temporary directory"))
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<(), Error> {
        fs::write(path, content)
            .map_err(|error| Error::new(format!("open {path}: {}", cause(&error))))
    }

    fn remove_all(&self, path: &str) {
        // What stays behind of a checkout is in the system's temporary directory.
        if fs::remove_dir_all(path).is_err() {
            _ = fs::remove_file(path);
        }
    }

    fn entries(&self, directory: &str) -> Result<Vec<Entry>, Error> {
        let fail = |error: &IoError| Error::new(format!("open {directory}: {}", cause(error)));
        let mut entries = Vec::new();
        for entry in fs::read_dir(directory).map_err(|error| fail(&error))? {
            let entry = entry.map_err(|error| fail(&error))?;
            let kind = entry.file_type().map_err(|error| fail(&error))?;
            entries.push(Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                kind: if kind.is_dir() {
                    EntryKind::Directory
                } else if kind.is_symlink() {
                    EntryKind::Link
                } else {
                    EntryKind::File
                },
            });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn make_directory(&self, path: &str) -> Result<(), Error> {
        fs::create_dir_all(path)
            .map_err(|error| Error::new(format!("mkdir {path}: {}", cause(&error))))
    }
}

fn lstat(at: &str) -> String {
    if at.is_empty() {
        String::new()
    } else {
        format!("lstat {at}: ")
    }
}

/// The system's words, as Go has them.
fn cause(error: &IoError) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or directory".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::NotADirectory => "not a directory".into(),
        ErrorKind::IsADirectory => "is a directory".into(),
        ErrorKind::InvalidFilename => "file name too long".into(),
        _ => error.to_string(),
    }
}

/// The path behind all links. An error says where it happened, and why.
fn follow(path: &str) -> Result<String, (String, String)> {
    let mut links = 0;
    let mut done = String::new();
    let mut left: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    while let Some(part) = left.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                done.truncate(done.rfind('/').unwrap_or(0));
                continue;
            }
            _ => {}
        }
        let next = format!("{done}/{part}");
        let meta = fs::symlink_metadata(&next).map_err(|error| (next.clone(), cause(&error)))?;
        if !meta.is_symlink() {
            if !meta.is_dir() && left.iter().any(|it| !it.is_empty()) {
                return Err((next, "not a directory".into()));
            }
            done = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err((String::new(), "EvalSymlinks: too many links".into()));
        }
        let target = fs::read_link(&next).map_err(|error| (next.clone(), cause(&error)))?;
        let target = target.to_string_lossy().into_owned();
        if target.starts_with('/') {
            done.clear();
        }
        left.extend(target.split('/').rev().map(str::to_owned));
    }
    Ok(if done.is_empty() { "/".into() } else { done })
}
