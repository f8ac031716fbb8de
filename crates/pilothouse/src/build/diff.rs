//! What is different from another output, resource by resource.

mod lines;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::beyond::user_directory;

/// What an output is compared with.
pub(super) enum Other {
    /// The last one of the same directory, kept in a file.
    Last(PathBuf),
    File(PathBuf),
    Server,
}

impl Other {
    pub(super) fn of(flag: &str, directory: &str) -> Result<Self, String> {
        Ok(match flag {
            "last" => {
                let place = std::fs::canonicalize(directory);
                let place = place.map_or_else(|_| directory.into(), |it| it.display().to_string());
                let name: String = place
                    .chars()
                    .map(|it| if it.is_alphanumeric() { it } else { '_' })
                    .collect();
                // Names of files have an end, and the end of a path tells more than its start.
                let start = name.char_indices().rev().nth(150).map_or(0, |(at, _)| at);
                let mut hash = std::hash::DefaultHasher::new();
                std::hash::Hash::hash(&place, &mut hash);
                let hash = std::hash::Hasher::finish(&hash);
                let dir = user_directory("XDG_STATE_HOME", ".local/state")?.join("build");
                Self::Last(dir.join(format!("{}-{hash:016x}.yaml", &name[start..])))
            }
            "server" => Self::Server,
            file => Self::File(file.into()),
        })
    }

    /// Prints the difference; whether there is one.
    pub(super) fn compare(&self, output: &[u8]) -> Result<bool, String> {
        match self {
            Self::Last(path) => {
                let before = std::fs::read(path).ok();
                keep(path, output)?;
                let Some(before) = before else {
                    eprintln!("kept; the next build is compared with this one");
                    return Ok(false);
                };
                print(&before, output)
            }
            Self::File(path) => {
                let before = std::fs::read(path);
                let before = before.map_err(|error| format!("{}: {error}", path.display()))?;
                print(&before, output)
            }
            Self::Server => by_kubectl(output),
        }
    }
}

fn keep(path: &Path, output: &[u8]) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(fail)?;
    let new = path.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&new, output).map_err(fail)?;
    std::fs::rename(&new, path).map_err(fail)
}

/// kubectl asks the server what would become of each resource.
fn by_kubectl(output: &[u8]) -> Result<bool, String> {
    let fail = |error: std::io::Error| format!("kubectl diff: {error}");
    let mut child = Command::new("kubectl")
        .args(["diff", "-f", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    if let Some(mut input) = child.stdin.take() {
        // If it stops reading, its exit code says why.
        _ = input.write_all(output);
    }
    let status = child.wait().map_err(fail)?;
    match status.code() {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        _ => Err(format!("kubectl diff: {status}")),
    }
}

fn print(before: &[u8], after: &[u8]) -> Result<bool, String> {
    let (before, after) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(after),
    );
    let text = between(&before, &after);
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())?;
    Ok(!text.is_empty())
}

/// A unified diff, in the order of the new output; what is gone comes last.
fn between(before: &str, after: &str) -> String {
    let (before, after) = (documents(before), documents(after));
    let same: HashSet<&str> = {
        let old: HashSet<&str> = before.iter().copied().collect();
        after
            .iter()
            .copied()
            .filter(|it| old.contains(it))
            .collect()
    };
    let changed = |all: &[&'_ str]| -> Vec<(String, String)> {
        let changed = all.iter().filter(|it| !same.contains(*it));
        changed.map(|it| (name(it), (*it).to_owned())).collect()
    };
    let (old, new) = (changed(&before), changed(&after));
    let mut by_name: HashMap<&str, &str> =
        old.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let mut out = String::new();
    let mut add = |name: &str, old: Option<&str>, new: Option<&str>| {
        let side = |text: Option<&str>| text.map_or("/dev/null", |_| name).to_owned();
        _ = writeln!(out, "--- {}\n+++ {}", side(old), side(new));
        lines::unified(&mut out, old.unwrap_or(""), new.unwrap_or(""));
    };
    for (name, text) in &new {
        add(name, by_name.remove(name.as_str()), Some(text));
    }
    for (name, text) in &old {
        if by_name.contains_key(name.as_str()) {
            add(name, Some(text), None);
        }
    }
    out
}

fn documents(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text.strip_prefix("---\n").unwrap_or(text);
    while let Some(at) = rest.find("\n---\n") {
        all.push(&rest[..=at]);
        rest = &rest[at + 5..];
    }
    if !rest.trim().is_empty() {
        all.push(rest);
    }
    all
}

/// What a document is about.
fn name(document: &str) -> String {
    let value = yaml::to_json(document.as_bytes()).unwrap_or_default();
    let at = |path: &[&str]| value.str_at(path).unwrap_or_default().to_owned();
    let parts = [
        at(&["apiVersion"]),
        at(&["kind"]),
        at(&["metadata", "namespace"]),
        at(&["metadata", "name"]),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(name: &str, replicas: u32) -> String {
        format!(
            "apiVersion: apps/v1\nkind: D\nmetadata:\n  name: {name}\nspec:\n  replicas: {replicas}\n"
        )
    }

    #[test]
    fn only_what_differs_is_shown() {
        let before = [doc("a", 1), doc("b", 1), doc("gone", 1)].join("---\n");
        let after = [doc("new", 1), doc("a", 1), doc("b", 2)].join("---\n");
        let text = between(&before, &after);
        let heads: Vec<&str> = text.lines().filter(|it| it.starts_with("+++ ")).collect();
        assert_eq!(
            heads,
            ["+++ apps/v1/D/new", "+++ apps/v1/D/b", "+++ /dev/null"],
            "{text}"
        );
        let b = "--- apps/v1/D/b\n+++ apps/v1/D/b\n@@ -3,4 +3,4 @@\n metadata:\n   name: b\n spec:\n-  replicas: 1\n+  replicas: 2\n";
        assert!(text.contains(b), "{text}");
        assert_eq!(between(&after, &after), "");
    }
}
