//! A new kustomization in the current directory, as `kustomize create` makes it.

use crate::edit::{Editor, KustFile, to_pairs};
use crate::error::{Error, Result};
use crate::factory;
use crate::fs::{EntryKind, exists};
use crate::kustomization::FILE_NAMES;
use crate::paths;

#[derive(Clone, Debug, Default)]
pub struct NewKustomization {
    /// Patterns, with commas between them.
    pub resources: String,
    pub namespace: String,
    /// `key:value`, with commas between them.
    pub annotations: String,
    pub labels: String,
    pub name_prefix: String,
    pub name_suffix: String,
    /// Takes the files in the directory that are resources.
    pub autodetect: bool,
    /// In the directories below too.
    pub recursive: bool,
}

impl Editor<'_> {
    pub fn create(self, new: NewKustomization) -> std::result::Result<(), Error> {
        let mut resources = Vec::new();
        if !new.resources.is_empty() {
            let patterns: Vec<String> = new.resources.split(',').map(str::to_owned).collect();
            resources = self.loadable(&patterns)?;
        }
        if KustFile::open(self.fs).is_ok() {
            return Err(Error::new("kustomization file already exists"));
        }
        if new.autodetect {
            let mut detected = Vec::new();
            self.detect("", new.recursive, &mut detected)?;
            detected.retain(|it| !resources.contains(it));
            resources.extend(detected);
        }
        self.fs.write(FILE_NAMES[0], b"")?;
        let (file, mut kustomization) = KustFile::open(self.fs)?.read(self.fs)?;
        kustomization.resources.extend(resources);
        kustomization.namespace = new.namespace;
        kustomization.name_prefix = new.name_prefix;
        kustomization.name_suffix = new.name_suffix;
        kustomization.common_annotations.pairs = pairs(&new.annotations, "annotation")?;
        kustomization.common_labels.pairs = pairs(&new.labels, "label")?;
        file.write(self.fs, &kustomization)
    }

    /// Links are files here, as for Go's `Walk`.
    fn detect(self, dir: &str, recursive: bool, found: &mut Vec<String>) -> Result<()> {
        for entry in self.fs.entries(if dir.is_empty() { "." } else { dir })? {
            let path = paths::join(dir, &entry.name);
            if entry.kind != EntryKind::Directory {
                let content = self.fs.read(&path)?;
                let text = String::from_utf8(content);
                if text.is_ok_and(|it| factory::from_text(&it).is_ok()) {
                    found.push(path);
                }
            } else if recursive {
                let is_root = |name: &&str| exists(self.fs, &paths::join(&path, name));
                if FILE_NAMES.iter().any(is_root) {
                    found.push(path);
                } else {
                    self.detect(&path, recursive, found)?;
                }
            }
        }
        Ok(())
    }
}

fn pairs(text: &str, what: &str) -> Result<std::collections::BTreeMap<String, String>> {
    if text.is_empty() {
        return Ok(std::collections::BTreeMap::new());
    }
    to_pairs(&text.split(',').collect::<Vec<_>>(), what)
}
