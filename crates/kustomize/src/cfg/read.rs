//! Resources from text, and from files with notes where they were.

use yaml::{Kind, Node};

use super::annotations as notes;
use crate::edit::glob_matches;
use crate::error::{Error, Result, Wrap as _};
use crate::fs::{EntryKind, FileSystem, exists};
use crate::node::{split_documents, unix_lines};
use crate::paths;

#[derive(Clone, Copy, Default)]
pub(super) struct Reader<'a> {
    pub(super) fs: Option<&'a dyn FileSystem>,
    /// Directories that have it are not looked into.
    pub(super) package_file: &'static str,
    pub(super) omit_annotations: bool,
    /// Whether files of JSON are read too.
    pub(super) json: bool,
}

const IGNORE_FILE: &str = ".krmignore";

impl Reader<'_> {
    /// Documents; a single list is taken apart.
    pub(super) fn text(self, text: &[u8]) -> Result<Vec<Node>> {
        self.documents(text, None)
    }

    /// The same, and the results that a list of resources has.
    pub(super) fn list(self, text: &[u8]) -> Result<(Vec<Node>, Option<Node>)> {
        let whole = yaml::parse_first(text).ok().flatten();
        let results = whole.and_then(|it| it.get("results").cloned());
        Ok((self.text(text)?, results))
    }

    /// A file, or all files in a directory and below.
    pub(super) fn package(self, path: &str) -> Result<Vec<Node>> {
        let Some(fs) = self.fs else {
            return Ok(Vec::new());
        };
        if path.is_empty() {
            return Err(Error::new("must specify package path"));
        }
        let (dir, file) = fs.resolve(path)?;
        let mut all = Vec::new();
        match file {
            Some(file) => self.file(fs, &dir, &file, &mut all)?,
            None => self.directory(fs, &dir, "", &ignored(fs, &dir), &mut all)?,
        }
        Ok(all)
    }

    fn directory(
        self,
        fs: &dyn FileSystem,
        root: &str,
        below: &str,
        ignored: &[String],
        all: &mut Vec<Node>,
    ) -> Result<()> {
        for entry in fs.entries(&paths::join(root, below))? {
            let path = paths::join(below, &entry.name);
            let is_dir = entry.kind == EntryKind::Directory;
            if is_ignored(ignored, &path, is_dir) {
                continue;
            }
            if !is_dir {
                self.file(fs, root, &path, all)?;
                continue;
            }
            let inner = paths::join(&paths::join(root, &path), self.package_file);
            if self.package_file.is_empty() || !exists(fs, &inner) {
                self.directory(fs, root, &path, ignored, all)?;
            }
        }
        Ok(())
    }

    fn file(self, fs: &dyn FileSystem, root: &str, path: &str, all: &mut Vec<Node>) -> Result<()> {
        let extension = path.rsplit_once('.').map(|(_, it)| it);
        let wanted = match extension {
            Some("yaml" | "yml") => true,
            Some("json") => self.json,
            _ => false,
        };
        if !wanted {
            return Ok(());
        }
        let at = paths::join(root, path);
        let nodes = fs
            .read(&at)
            .and_then(|text| self.documents(&text, Some(path)))
            .wrap(&at)?;
        all.extend(nodes);
        Ok(())
    }

    /// `path` is that of a file.
    fn documents(self, text: &[u8], path: Option<&str>) -> Result<Vec<Node>> {
        let text = String::from_utf8_lossy(text);
        let text = unix_lines(&text);
        let texts = split_documents(&text)?;
        let mut all = Vec::new();
        let mut index = 0;
        for text in &texts {
            let parsed = yaml::parse_first(text.as_bytes());
            let parsed = parsed.map_err(Error::malformed)?;
            let Some(mut node) = parsed.filter(|it| !is_empty(it)) else {
                continue;
            };
            if !self.omit_annotations {
                notes::copy_legacy(&mut node)?;
            }
            for (key, value) in self.notes(index, path) {
                notes::set(&mut node, key, &value)?;
            }
            let is_list = matches!(notes::kind(&node), "ResourceList" | "List")
                && (node.get("items").is_some() || node.get("functionConfig").is_some());
            if path.is_none() && texts.len() == 1 && is_list {
                if let Some(items) = node.get_mut("items") {
                    all.extend(std::mem::take(&mut items.content).into_vec());
                }
                continue;
            }
            all.push(node);
            index += 1;
        }
        Ok(all)
    }

    fn notes(self, index: usize, path: Option<&str>) -> Vec<(&'static str, String)> {
        if self.omit_annotations {
            return Vec::new();
        }
        let index = index.to_string();
        let mut all = vec![(notes::LEGACY_INDEX, index.clone())];
        if let Some(path) = path {
            all.push((notes::LEGACY_PATH, path.to_owned()));
        }
        all.push((notes::INDEX, index));
        if let Some(path) = path {
            all.push((notes::PATH, path.to_owned()));
        }
        all
    }
}

fn is_empty(document: &Node) -> bool {
    let root = document.content.first();
    document.kind == Kind::Document && root.is_none_or(|it| it.tag == "!!null")
}

/// Lines of patterns, as git has them.
fn ignored(fs: &dyn FileSystem, dir: &str) -> Vec<String> {
    let text = fs.read(&paths::join(dir, IGNORE_FILE)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().map(str::trim);
    lines
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// The last pattern that fits decides.
fn is_ignored(patterns: &[String], path: &str, is_dir: bool) -> bool {
    let mut ignored = false;
    for pattern in patterns {
        let (keeps, pattern) = match pattern.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, pattern.as_str()),
        };
        let only_dirs = pattern.ends_with('/');
        let pattern = pattern.trim_end_matches('/');
        let anchored = pattern.contains('/');
        let name = if anchored { path } else { paths::base(path) };
        let fits = glob_matches(pattern.trim_start_matches('/'), name).unwrap_or(false);
        if fits && (is_dir || !only_dirs) {
            ignored = !keeps;
        }
    }
    ignored
}
