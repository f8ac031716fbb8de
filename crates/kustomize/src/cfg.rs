//! Looking at resources in files, as `kustomize cfg` does. Comments and styles stay, so this works on go-yaml's tree
//! and not on the one that is built.

mod annotations;
mod format;
mod grep;
mod order;
mod path;
mod read;
mod run;
mod tree;

pub use grep::{GrepOptions, grep};
pub use run::{OneFunction, RunOptions, run};
pub use tree::{TreeOptions, tree};

use std::collections::BTreeMap;
use std::fmt::Write as _;

use yaml::{Node, Style};

use crate::error::{Error, Result, quote};
use crate::fs::{FileSystem, exists, is_dir};
use crate::paths;
use annotations as notes;
use read::Reader;

/// What marks a package of its own.
const PACKAGE_FILE: &str = "Krmfile";

/// Where resources are.
#[derive(Clone, Copy, Debug)]
pub enum Input<'i> {
    /// As from stdin.
    Text(&'i [u8]),
    /// A file or a directory, with everything below it.
    Path(&'i str),
}

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags as upstream has them")]
pub struct CatOptions {
    pub format: bool,
    /// Say in annotations where resources come from.
    pub annotate: bool,
    /// If set, one list of this kind.
    pub wrap_kind: String,
    pub wrap_version: String,
    /// A file whose only object goes into the list.
    pub function_config: String,
    pub styles: Vec<String>,
    pub strip_comments: bool,
    pub include_local: bool,
    pub exclude_non_local: bool,
    /// Packages below too.
    pub recurse: bool,
}

pub fn cat(
    fs: &dyn FileSystem,
    input: Input<'_>,
    options: &CatOptions,
) -> std::result::Result<String, Error> {
    let config = function_config(fs, options)?;
    let one = |resources: Vec<Node>| {
        let mut resources = local(resources, options.include_local, options.exclude_non_local)?;
        if options.format {
            resources.iter_mut().try_for_each(format::format)?;
        }
        if options.strip_comments {
            resources.iter_mut().for_each(strip_comments);
        }
        if resources.is_empty() {
            return Ok(String::new());
        }
        write(resources, config.as_ref(), options)
    };
    match input {
        Input::Text(text) => one(Reader::default().text(text)?),
        Input::Path(root) => {
            let mut out = String::new();
            each_package(fs, root, options.recurse, &mut out, |package, out| {
                let done = package_resources(fs, package).and_then(one);
                separated(out, done, options.recurse, |error| {
                    format!("{error} in package {}\n", quote(package))
                })
            })?;
            Ok(without_last_separator(out))
        }
    }
}

/// How many resources there are, by kind or in all; what is known before an error is told too.
pub fn count(
    fs: &dyn FileSystem,
    input: Input<'_>,
    by_kind: bool,
    recurse: bool,
    out: &mut String,
) -> std::result::Result<(), Error> {
    let one = |resources: Vec<Node>| {
        if !by_kind {
            return format!("{}\n", resources.len());
        }
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for resource in &resources {
            *kinds.entry(notes::kind(resource)).or_default() += 1;
        }
        let mut lines = String::new();
        for (kind, count) in kinds {
            _ = writeln!(lines, "{kind}: {count}");
        }
        lines
    };
    match input {
        Input::Text(text) => out.push_str(&one(Reader::default().text(text)?)),
        Input::Path(root) => each_package(fs, root, recurse, out, |package, out| {
            _ = writeln!(out, "{package}/");
            match package_resources(fs, package).map(one) {
                Ok(text) => out.push_str(&text),
                Err(error) if recurse => _ = writeln!(out, "{error}"),
                Err(error) => return Err(error),
            }
            Ok(())
        })?,
    }
    Ok(())
}

fn function_config(fs: &dyn FileSystem, options: &CatOptions) -> Result<Option<Node>> {
    if options.function_config.is_empty() {
        return Ok(None);
    }
    let reader = Reader {
        fs: Some(fs),
        omit_annotations: !options.annotate,
        ..Reader::default()
    };
    let mut found = reader.package(&options.function_config)?;
    match (found.pop(), found.len()) {
        (Some(config), 0) => Ok(Some(config)),
        (last, others) => Err(Error::new(format!(
            "expected exactly 1 functionConfig, found {}",
            others + usize::from(last.is_some())
        ))),
    }
}

fn package_resources(fs: &dyn FileSystem, package: &str) -> Result<Vec<Node>> {
    let reader = Reader {
        fs: Some(fs),
        package_file: PACKAGE_FILE,
        ..Reader::default()
    };
    reader.package(package)
}

/// The root, and the packages below it; an empty line between them.
fn each_package(
    fs: &dyn FileSystem,
    root: &str,
    recurse: bool,
    out: &mut String,
    mut run: impl FnMut(&str, &mut String) -> Result<()>,
) -> Result<()> {
    let mut packages = Vec::new();
    if !recurse {
        if exists(fs, &paths::join(root, PACKAGE_FILE)) {
            packages.push(paths::clean(root));
        }
    } else if exists(fs, root) {
        find_packages(fs, root, &mut packages)?;
    } else {
        return Err(Error::new(format!(
            "lstat {root}: no such file or directory"
        )));
    }
    if !packages.iter().any(|it| it == root) {
        packages.insert(0, root.to_owned());
    }
    for (at, package) in packages.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        run(package, out)?;
    }
    Ok(())
}

fn find_packages(fs: &dyn FileSystem, dir: &str, found: &mut Vec<String>) -> Result<()> {
    if !is_dir(fs, dir) {
        return Ok(());
    }
    for entry in fs.entries(dir)? {
        let path = paths::join(dir, &entry.name);
        if entry.name == PACKAGE_FILE {
            found.push(paths::clean(dir));
        }
        if entry.kind == crate::fs::EntryKind::Directory {
            find_packages(fs, &path, found)?;
        }
    }
    Ok(())
}

/// Appends what a package gave and a separator; with more packages to come, an error is part of the output.
fn separated(
    out: &mut String,
    done: Result<String>,
    tolerant: bool,
    told: impl FnOnce(&Error) -> String,
) -> Result<()> {
    match done {
        Ok(text) if text.is_empty() => {}
        Ok(text) => {
            out.push_str(&text);
            out.push_str("---");
        }
        Err(error) if tolerant => out.push_str(&told(&error)),
        Err(error) => return Err(error),
    }
    Ok(())
}

fn without_last_separator(mut out: String) -> String {
    if out.ends_with("---") {
        out.truncate(out.len() - 3);
    }
    out
}

/// Those that are for a cluster, unless asked for others.
fn local(resources: Vec<Node>, include: bool, exclude_others: bool) -> Result<Vec<Node>> {
    const LOCAL: &str = "config.kubernetes.io/local-config";
    let mut left = Vec::with_capacity(resources.len());
    for resource in resources {
        notes::check(&resource)?;
        let is_local = notes::get(&resource, LOCAL).is_some();
        if (is_local && include) || (!is_local && !exclude_others) {
            left.push(resource);
        }
    }
    Ok(left)
}

fn strip_comments(node: &mut Node) {
    node.set_head_comment("");
    node.set_line_comment("");
    node.set_foot_comment("");
    node.content.iter_mut().for_each(strip_comments);
}

fn write(mut resources: Vec<Node>, config: Option<&Node>, options: &CatOptions) -> Result<String> {
    let gone: &[&str] = if options.annotate {
        &[]
    } else {
        &[notes::LEGACY_PATH, notes::PATH]
    };
    clear(&mut resources, options.annotate, gone)?;
    for resource in &mut resources {
        apply_styles(notes::root_mut(resource), &options.styles);
    }
    if options.wrap_kind.is_empty() {
        return to_text(&resources);
    }
    let text = |text: &str| Node::scalar("", text);
    let items = resources.into_iter().map(notes::into_root);
    let mut pairs = vec![
        (text("apiVersion"), text(&options.wrap_version)),
        (text("kind"), text(&options.wrap_kind)),
        (text("items"), Node::sequence(items)),
    ];
    if let Some(config) = config {
        pairs.push((text("functionConfig"), notes::into_root(config.clone())));
    }
    let mut list = Node::mapping(pairs);
    apply_styles(&mut list, &options.styles);
    to_text(&[list])
}

fn apply_styles(node: &mut Node, styles: &[String]) {
    let has = |name: &str| styles.iter().any(|it| it == name);
    if has("FlowStyle") {
        node.style = Style::Flow;
    } else if !styles.is_empty() {
        node.style = Style::Plain;
    }
    node.tagged |= has("TaggedStyle");
}

/// Takes away what reading has added.
fn clear(resources: &mut [Node], keep: bool, others: &[&str]) -> Result<()> {
    for resource in resources {
        if !keep {
            notes::clear(resource, &[notes::INDEX, notes::LEGACY_INDEX])?;
        }
        notes::clear(resource, others)?;
        notes::clear_empty(resource)?;
    }
    Ok(())
}

fn to_text(nodes: &[Node]) -> Result<String> {
    Ok(yaml::to_string(nodes, yaml::Options::default())?)
}

/// A node in one line, without what surrounds it.
fn flow_text(node: &Node) -> Result<String> {
    let mut node = node.clone();
    node.style = Style::Flow;
    let text = to_text(&[node])?;
    Ok(text.trim().to_owned())
}
