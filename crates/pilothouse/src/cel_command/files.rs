//! YAML and JSON files, and stdin.

use std::io::Read as _;

use anyhow::{Context as _, bail};
use json::Value;

/// No larger file is read.
const MAX_SIZE: u64 = 64 << 20;

/// Reads files, and stdin once.
#[derive(Debug, Default)]
pub(super) struct Files {
    stdin_was_read: bool,
}

impl Files {
    /// The text of a file; `-` is stdin.
    pub(super) fn text(&mut self, path: &str) -> anyhow::Result<Vec<u8>> {
        let mut text = Vec::new();
        if path == "-" {
            if std::mem::replace(&mut self.stdin_was_read, true) {
                bail!("stdin (-) can be given only once");
            }
            let stdin = std::io::stdin().lock();
            (stdin.take(MAX_SIZE + 1).read_to_end(&mut text)).context("cannot read stdin")?;
        } else {
            let read = std::fs::File::open(path)
                .and_then(|file| file.take(MAX_SIZE + 1).read_to_end(&mut text));
            read.with_context(|| format!("cannot read {path}"))?;
        }
        let name = shown(path);
        if text.len() as u64 > MAX_SIZE {
            bail!("{name} is larger than {} MiB", MAX_SIZE >> 20);
        }
        Ok(text)
    }

    /// The files that a path means: itself, or the manifests of a directory, as kubectl takes them.
    pub(super) fn expand(path: &str, recursive: bool) -> anyhow::Result<Vec<String>> {
        let is_directory = |path: &str| path != "-" && std::path::Path::new(path).is_dir();
        if !is_directory(path) {
            return Ok(vec![path.to_owned()]);
        }
        let mut found = Vec::new();
        let mut todo = vec![path.to_owned()];
        while let Some(directory) = todo.pop() {
            let entries = std::fs::read_dir(&directory)
                .with_context(|| format!("cannot read {directory}"))?;
            for entry in entries {
                let entry = entry.with_context(|| format!("cannot read {directory}"))?;
                let path = entry.path().to_string_lossy().into_owned();
                // A link to a directory is not followed: it may lead back.
                let kind = entry.file_type();
                if kind
                    .with_context(|| format!("cannot read {path}"))?
                    .is_dir()
                {
                    if recursive {
                        todo.push(path);
                    }
                } else if [".yaml", ".yml", ".json"]
                    .iter()
                    .any(|it| path.ends_with(it))
                {
                    found.push(path);
                }
            }
        }
        if found.is_empty() {
            bail!("{path} has no files that end in .yaml, .yml or .json");
        }
        found.sort();
        Ok(found)
    }

    /// The objects of a file, at least one.
    pub(super) fn objects(&mut self, path: &str) -> anyhow::Result<Vec<Value>> {
        let text = self.text(path)?;
        let name = shown(path);
        let mut objects = Vec::new();
        for document in yaml::split_documents(&text) {
            let value = yaml::to_json(document).with_context(|| format!("cannot parse {name}"))?;
            match value {
                Value::Null => {}
                Value::Object(_) => objects.push(value),
                other => bail!(
                    "{name} is not an object but {}",
                    with_article(other.type_name())
                ),
            }
        }
        if objects.is_empty() {
            bail!("{name} is empty");
        }
        Ok(objects)
    }

    /// The only object of a file.
    pub(super) fn object(&mut self, path: &str) -> anyhow::Result<Value> {
        let mut objects = self.objects(path)?;
        if objects.len() > 1 {
            bail!(
                "{} has {} objects; give a file with one",
                shown(path),
                objects.len()
            );
        }
        Ok(objects.remove(0))
    }
}

pub(super) fn shown(path: &str) -> &str {
    if path == "-" { "stdin" } else { path }
}

fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}
