//! Which files resources came from, and writing them back.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use encoding::go::atoi;
use yaml::Node;

use crate::cfg::annotations as notes;
use crate::cfg::{clear, to_text};
use crate::error::{Error, Result};
use crate::fs::{FileSystem, exists, is_dir};
use crate::paths;

fn path_of(node: &Node) -> &str {
    let path = notes::get(node, notes::PATH);
    path.or_else(|| notes::get(node, notes::LEGACY_PATH))
        .unwrap_or_default()
}

pub(super) fn files(resources: &[Node]) -> BTreeSet<String> {
    let all = resources.iter().map(|it| path_of(it).to_owned());
    all.filter(|it| !it.is_empty()).collect()
}

/// The directory of a file; a directory called `functions` counts as the one above.
fn directory_of(path: &str) -> String {
    let dir = paths::dir(path);
    if paths::base(&dir) == "functions" {
        return paths::dir(&dir);
    }
    dir
}

/// What a function sees: resources in this directory or below. Empty for all.
pub(super) fn scope_of(config: &Node) -> String {
    match path_of(config) {
        "" => String::new(),
        path => directory_of(path),
    }
}

pub(super) fn is_within_scope(resource: &Node, scope: &str) -> bool {
    if matches!(scope, "" | ".") {
        return true;
    }
    let path = path_of(resource);
    !path.is_empty() && directory_of(path).starts_with(scope)
}

/// Functions in deeper directories go first.
pub(super) fn deepest_first<'n>(
    found: &mut [usize],
    node: impl Fn(usize) -> &'n Node,
) -> Result<()> {
    if found.len() < 2 {
        return Ok(());
    }
    let mut keys = BTreeMap::new();
    for &at in found.iter() {
        let path = path_of(node(at));
        let index = notes::get(node(at), notes::INDEX).unwrap_or_default();
        let index = atoi(index).map_err(|error| Error::new(error.to_string()))?;
        let dir = directory_of(path);
        let depth = if dir == "." {
            0
        } else {
            dir.split('/').count()
        };
        keys.insert(at, (Reverse(depth), dir, path.to_owned(), index));
    }
    found.sort_by(|a, b| keys[a].cmp(&keys[b]));
    Ok(())
}

/// New resources get a file of their own.
pub(super) fn default_path(dir: &str, node: &mut Node) -> Result<()> {
    notes::copy_legacy(node)?;
    if notes::get(node, notes::PATH).is_some() {
        return Ok(());
    }
    let file = format!(
        "{}_{}.yaml",
        notes::kind(node).to_lowercase(),
        notes::name(node)
    );
    let path = paths::join(&paths::join(dir, notes::namespace(node)), &file);
    notes::set(node, notes::PATH, &path)?;
    notes::set(node, notes::LEGACY_PATH, &path)
}

fn default_index(nodes: &mut [Node]) -> Result<()> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for node in nodes.iter_mut() {
        let known = path_of(node).to_owned();
        default_path("", node)?;
        let index = notes::get(node, notes::INDEX).map(|it| it.parse::<i64>().unwrap_or(0));
        if let Some(index) = index.filter(|_| !known.is_empty()) {
            let count = counts.entry(known).or_default();
            *count = index.max(*count);
        }
    }
    for node in nodes.iter_mut() {
        if notes::get(node, notes::INDEX).is_some() {
            continue;
        }
        let count = counts.entry(path_of(node).to_owned()).or_default();
        let index = count.to_string();
        *count += 1;
        notes::set(node, notes::INDEX, &index)?;
        notes::set(node, notes::LEGACY_INDEX, &index)?;
    }
    Ok(())
}

/// Files whose resources are all gone go too.
pub(super) fn write(
    fs: &dyn FileSystem,
    root: &str,
    mut resources: Vec<Node>,
    before: &BTreeSet<String>,
) -> Result<()> {
    default_index(&mut resources)?;
    let after = files(&resources);
    if !exists(fs, root) {
        return Err(Error::new(format!(
            "could not write to {root:?}: file does not exist"
        )));
    }
    let root = if is_dir(fs, root) {
        root.to_owned()
    } else {
        paths::dir(root)
    };
    let mut by_file: BTreeMap<String, Vec<Node>> = BTreeMap::new();
    for resource in resources {
        let path = path_of(&resource).to_owned();
        if path.starts_with('/') {
            return Err(Error::new("package paths may not be absolute paths"));
        }
        let clean = paths::clean(&path);
        if clean.contains("..") {
            return Err(Error::new(format!(
                "resource must be written under package {root}: {clean}"
            )));
        }
        by_file.entry(path).or_default().push(resource);
    }
    for path in by_file.keys() {
        let at = paths::join(&root, path);
        if is_dir(fs, &at) {
            return Err(Error::new(format!(
                "config.kubernetes.io/path cannot be a directory: {path}"
            )));
        }
    }
    for (path, mut nodes) in by_file {
        let at = paths::join(&root, &path);
        nodes.sort_by_key(|node| {
            let index = notes::get(node, notes::INDEX).unwrap_or_default();
            index.parse::<i64>().ok()
        });
        let one_json = is_one_json(&nodes);
        clear(&mut nodes, false, &[notes::PATH, notes::LEGACY_PATH])?;
        let text = if one_json {
            json_text(&nodes[0])?
        } else {
            to_text(&nodes)?
        };
        fs.make_directory(&paths::dir(&at))?;
        fs.write(&at, text.as_bytes())?;
    }
    for gone in before.difference(&after) {
        fs.remove_all(&paths::join(&root, gone));
    }
    Ok(())
}

pub(super) fn is_one_json(nodes: &[Node]) -> bool {
    let is_json = |node: &Node| {
        let extension = path_of(node).rsplit_once('.').map(|(_, it)| it);
        extension == Some("json")
    };
    matches!(nodes, [one] if is_json(one))
}

/// As Go's encoder indents it, with keys sorted.
pub(super) fn json_text(node: &Node) -> Result<String> {
    let mut value = node.to_value()?;
    value.sort_keys();
    let mut out = String::new();
    indented(&value, 0, &mut out);
    out.push('\n');
    Ok(out)
}

fn indented(value: &json::Value, depth: usize, out: &mut String) {
    let mut collection = |open: char, close: char, items: Vec<(Option<&str>, &json::Value)>| {
        out.push(open);
        for (at, (key, item)) in items.iter().enumerate() {
            out.push_str(if at > 0 { ",\n" } else { "\n" });
            out.push_str(&"  ".repeat(depth + 1));
            if let Some(key) = key {
                out.push_str(&json::to_string(&(*key).into()));
                out.push_str(": ");
            }
            indented(item, depth + 1, out);
        }
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
        out.push(close);
    };
    match value {
        json::Value::Array(items) if !items.is_empty() => {
            collection('[', ']', items.iter().map(|it| (None, it)).collect());
        }
        json::Value::Object(object) if !object.is_empty() => {
            let pairs = object.iter().map(|(key, it)| (Some(key.as_str()), it));
            collection('{', '}', pairs.collect());
        }
        other => out.push_str(&json::to_string(other)),
    }
}
