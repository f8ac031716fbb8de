//! What is different from another output, resource by resource. Values of Secrets are masked, and never kept.

mod lines;
mod secrets;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use json::Value;

use self::secrets::Digests;
use super::extra_flags::user_directory;

/// The first line of a build that is kept. What begins otherwise may hold values of Secrets.
const HEADER: &str =
    "# Kept by `pilothouse build --diff`; digests stand for the values of Secrets.\n";

/// What an output is compared with.
pub(super) enum Other {
    /// The last one of the same directory, kept in a file.
    Last(PathBuf),
    File(PathBuf),
    Server,
}

/// `--diff FILE` without a `=`: the file is no directory to build.
pub(super) fn find_file(
    flag: &mut Option<String>,
    directories: &mut Vec<String>,
) -> Result<(), String> {
    let Some(value) = flag.as_mut().filter(|it| it.is_empty()) else {
        return Ok(());
    };
    let files: Vec<usize> = (0..directories.len())
        .filter(|at| Path::new(&directories[*at]).is_file())
        .collect();
    match files[..] {
        [file] => *value = directories.remove(file),
        _ if directories.len() > 1 => {
            let words = directories.join(" or ");
            return Err(format!(
                "{words}: which of them is to be built? --diff takes its value behind a '=', as in --diff=server"
            ));
        }
        _ => "last".clone_into(value),
    }
    Ok(())
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
                let directory = path.parent().unwrap_or(path);
                make_private(directory)?;
                let digests = Digests::open(&directory.join("key"))?;
                let kept = std::fs::read(path).ok();
                // A version before this one kept the values themselves.
                let is_old = kept
                    .as_ref()
                    .is_some_and(|it| !it.starts_with(HEADER.as_bytes()));
                drop_old(directory);
                let before = kept.map(|it| documents(&it, &path.display().to_string()));
                let mut before = before.transpose()?;
                for document in before.iter_mut().flatten().filter(|_| is_old) {
                    document.digest(&digests);
                }
                let mut after = documents(output, "the build")?;
                for document in &mut after {
                    document.digest(&digests);
                }
                keep(path, &after)?;
                let Some(before) = before else {
                    eprintln!("kept; the next build is compared with this one");
                    return Ok(false);
                };
                print(before, after)
            }
            Self::File(path) => {
                let name = path.display().to_string();
                let before = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
                print(documents(&before, &name)?, documents(output, "the build")?)
            }
            Self::Server => by_kubectl(output),
        }
    }
}

/// A directory for its owner alone, also if it was there before.
fn make_private(directory: &Path) -> Result<(), String> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .and_then(|()| std::fs::set_permissions(directory, Permissions::from_mode(0o700)))
        .map_err(|error| format!("{}: {error}", directory.display()))
}

/// A new file for its owner alone.
fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Builds that an older version kept with the values of Secrets are gone.
fn drop_old(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_kept = path.extension().is_some_and(|it| it == "yaml");
        if is_kept && std::fs::read(&path).is_ok_and(|it| !it.starts_with(HEADER.as_bytes())) {
            _ = std::fs::remove_file(path);
        }
    }
}

fn keep(path: &Path, documents: &[Document]) -> Result<(), String> {
    let mut text = HEADER.to_owned();
    for (at, document) in documents.iter().enumerate() {
        text.push_str(if at > 0 { "---\n" } else { "" });
        text.push_str(&document.text);
    }
    let new = path.with_extension(format!("{}.new", std::process::id()));
    // What a process of the same number left behind.
    _ = std::fs::remove_file(&new);
    private_file(&new)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&new, path))
        .map_err(|error| format!("{}: {error}", path.display()))
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

fn print(before: Vec<Document>, after: Vec<Document>) -> Result<bool, String> {
    let text = between(before, after);
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())?;
    Ok(!text.is_empty())
}

/// One object of an output.
#[derive(Clone, Debug)]
struct Document {
    name: String,
    text: String,
    /// If it is a Secret.
    secret: Option<Value>,
}

impl Document {
    fn new(object: Value, text: String) -> Self {
        Self {
            name: name(&object),
            text,
            secret: secrets::is_secret(&object).then_some(object),
        }
    }

    fn digest(&mut self, digests: &Digests) {
        if let Some(secret) = &mut self.secret {
            digests.apply(secret);
            self.text = yaml::value_to_string(secret);
        }
    }
}

/// A unified diff, in the order of the new output; what is gone comes last.
fn between(before: Vec<Document>, after: Vec<Document>) -> String {
    let mut by_name: HashMap<String, Document> = HashMap::new();
    let mut order = Vec::new();
    for document in before {
        order.push(document.name.clone());
        by_name.insert(document.name.clone(), document);
    }
    let mut out = String::new();
    for document in after {
        let old = by_name.remove(&document.name);
        add(&mut out, old, Some(document));
    }
    for name in order {
        if let Some(old) = by_name.remove(&name) {
            add(&mut out, Some(old), None);
        }
    }
    out
}

fn add(out: &mut String, mut old: Option<Document>, mut new: Option<Document>) {
    let texts = [&old, &new].map(|it| it.as_ref().map(|it| it.text.as_str()));
    if texts[0] == texts[1] {
        return;
    }
    let mut secrets = [&mut old, &mut new].map(|it| it.as_mut().and_then(|it| it.secret.as_mut()));
    let [before, after] = &mut secrets;
    secrets::mask(before.as_deref_mut(), after.as_deref_mut());
    for document in [&mut old, &mut new].into_iter().flatten() {
        if let Some(secret) = &document.secret {
            document.text = yaml::value_to_string(secret);
        }
    }
    let side = |it: &Option<Document>| {
        it.as_ref()
            .map_or("/dev/null".to_owned(), |it| it.name.clone())
    };
    let text = |it: &Option<Document>| it.as_ref().map_or_else(String::new, |it| it.text.clone());
    let mut hunks = String::new();
    lines::unified(&mut hunks, &text(&old), &text(&new));
    if !hunks.is_empty() {
        _ = writeln!(out, "--- {}\n+++ {}", side(&old), side(&new));
        out.push_str(&hunks);
    }
}

/// The objects of a text, those of lists one by one. What cannot be read cannot be masked, and so is an error.
fn documents(bytes: &[u8], name: &str) -> Result<Vec<Document>, String> {
    let mut all = Vec::new();
    for document in yaml::split_documents(bytes) {
        let value = yaml::to_json(document).map_err(|error| format!("{name}: {error}"))?;
        if value == Value::Null {
            continue;
        }
        let is_list = value
            .str_at(&["kind"])
            .is_some_and(|it| it.ends_with("List"));
        match value.get("items").and_then(Value::as_array) {
            Some(items) if is_list => {
                let items = items.iter().cloned();
                all.extend(items.map(|it| Document::new(it.clone(), yaml::value_to_string(&it))));
            }
            _ => {
                let text = String::from_utf8_lossy(document);
                let text = text.strip_prefix(HEADER).unwrap_or(&text);
                let text = text.strip_prefix("---\n").unwrap_or(text);
                let end = if text.ends_with('\n') { "" } else { "\n" };
                all.push(Document::new(value, format!("{text}{end}")));
            }
        }
    }
    Ok(all)
}

/// What a document is about.
fn name(value: &Value) -> String {
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
        let read = |text: &str| documents(text.as_bytes(), "a").expect("documents");
        let text = between(read(&before), read(&after));
        let heads: Vec<&str> = text.lines().filter(|it| it.starts_with("+++ ")).collect();
        assert_eq!(
            heads,
            ["+++ apps/v1/D/new", "+++ apps/v1/D/b", "+++ /dev/null"],
            "{text}"
        );
        let b = "--- apps/v1/D/b\n+++ apps/v1/D/b\n@@ -3,4 +3,4 @@\n metadata:\n   name: b\n spec:\n-  replicas: 1\n+  replicas: 2\n";
        assert!(text.contains(b), "{text}");
        assert_eq!(between(read(&after), read(&after)), "");
    }
}
