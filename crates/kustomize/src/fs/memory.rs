//! A tree in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, EntryKind, FileSystem};
use crate::error::Error;
use crate::paths;

/// Files by their path; directories are there where files are below them.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: BTreeMap<String, Vec<u8>>,
    directories: BTreeSet<String>,
}

impl Memory {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn insert(&mut self, path: &str, content: impl Into<Vec<u8>>) {
        let path = absolute(path);
        let mut dir = path.as_str();
        while let Some((parent, _)) = dir.rsplit_once('/') {
            let name = if parent.is_empty() { "/" } else { parent };
            self.directories.insert(name.to_owned());
            dir = parent;
        }
        self.files.insert(path, content.into());
    }
}

impl<P: AsRef<str>, C: Into<Vec<u8>>> FromIterator<(P, C)> for Memory {
    fn from_iter<I: IntoIterator<Item = (P, C)>>(files: I) -> Self {
        let mut all = Self::new();
        for (path, content) in files {
            all.insert(path.as_ref(), content);
        }
        all
    }
}

fn absolute(path: &str) -> String {
    paths::clean(&format!("/{path}"))
}

impl FileSystem for Memory {
    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let found = self.files.get(&absolute(path));
        found
            .cloned()
            .ok_or_else(|| Error::new(format!("open {path}: no such file or directory")))
    }

    fn resolve(&self, path: &str) -> Result<(String, Option<String>), Error> {
        let path = absolute(path);
        if path == "/" || self.directories.contains(&path) {
            return Ok((path, None));
        }
        if !self.files.contains_key(&path) {
            return Err(Error::new(format!("'{path}' doesn't exist")));
        }
        let (dir, file) = path.rsplit_once('/').unwrap_or(("", &path));
        let dir = if dir.is_empty() { "/" } else { dir };
        Ok((dir.to_owned(), Some(file.to_owned())))
    }

    fn entries(&self, directory: &str) -> Result<Vec<Entry>, Error> {
        let root = absolute(directory);
        if root != "/" && !self.directories.contains(&root) {
            return Err(Error::new(format!(
                "open {directory}: no such file or directory"
            )));
        }
        let child = |path: &String, kind| {
            let (parent, name) = path.rsplit_once('/')?;
            let parent = if parent.is_empty() { "/" } else { parent };
            let name = name.to_owned();
            (parent == root && !name.is_empty()).then_some(Entry { name, kind })
        };
        let files = self.files.keys();
        let directories = self.directories.iter();
        let mut entries: Vec<Entry> = files
            .filter_map(|it| child(it, EntryKind::File))
            .chain(directories.filter_map(|it| child(it, EntryKind::Directory)))
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }
}
