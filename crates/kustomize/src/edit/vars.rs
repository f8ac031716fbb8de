//! Vars become replacements: their places are searched for in the files, and get a placeholder.

use std::collections::HashMap;

use crate::decode::decode_yaml;
use crate::error::{Error, Result};
use crate::factory;
use crate::fs::FileSystem;
use crate::kustomization::FILE_NAMES;
use crate::node::{Data, Node, to_yaml};
use crate::paths;
use crate::types::{
    FieldOptions, Kustomization, Patch, Replacement, Selector, Source, Target, Var,
};

/// Bases that lead to each other end somewhere.
const MAX_BASES: usize = 10_000;
const MAX_DEPTH: usize = 100;

pub(super) fn convert(fs: &dyn FileSystem, kustomization: &mut Kustomization) -> Result<()> {
    if !kustomization.vars.given {
        return Ok(());
    }
    let mut touched = Touched::default();
    touched.collect(fs, kustomization, "", 0)?;
    kustomization.replacements.clear();
    for var in &std::mem::take(&mut kustomization.vars) {
        let mut replacement = Replacement {
            source: Some(source(var)),
            ..Replacement::default()
        };
        for file in &touched.files {
            let targets = touched.targets(fs, file, &var.name)?;
            replacement.targets.extend(targets);
        }
        for file in &touched.files {
            set_placeholder(fs, file, &var.name)?;
        }
        kustomization.replacements.push(replacement);
    }
    Ok(())
}

fn source(var: &Var) -> Source {
    let api_version = var.object.api_version.as_str();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Source {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: var.object.kind.clone(),
        name: var.object.name.clone(),
        namespace: var.object.namespace.clone(),
        field_path: var.field.field_path.clone(),
        options: None,
    }
}

/// The files that a kustomization reads, and which of them are patches.
#[derive(Default)]
struct Touched {
    files: Vec<String>,
    patches: HashMap<String, Patch>,
    bases: usize,
}

impl Touched {
    fn collect(
        &mut self,
        fs: &dyn FileSystem,
        kustomization: &Kustomization,
        dir: &str,
        depth: usize,
    ) -> Result<()> {
        self.bases += 1;
        if depth > MAX_DEPTH || self.bases > MAX_BASES {
            return Err(Error::new(format!(
                "bases lead to too many others at {dir}"
            )));
        }
        for resource in &kustomization.resources {
            for entry in fs.entries(resource).unwrap_or_default() {
                if !FILE_NAMES.contains(&entry.name.as_str()) {
                    continue;
                }
                if let Ok(text) = fs.read(&paths::join(resource, &entry.name)) {
                    let base: Kustomization = decode_yaml(&text)?;
                    self.collect(fs, &base, resource, depth + 1)?;
                }
            }
            self.files.push(paths::join(dir, resource));
        }
        for patch in kustomization
            .patches
            .iter()
            .filter(|it| !it.path.is_empty())
        {
            let path = paths::join(dir, &patch.path);
            self.files.push(path.clone());
            self.patches.insert(path, patch.clone());
        }
        Ok(())
    }

    fn targets(&self, fs: &dyn FileSystem, file: &str, name: &str) -> Result<Vec<Target>> {
        // A directory, or a file that is none of ours.
        let text = fs.read(file).ok().and_then(|it| String::from_utf8(it).ok());
        let Some(Ok(nodes)) = text.map(|it| factory::read(&it)) else {
            return Ok(Vec::new());
        };
        let mut targets = Vec::new();
        for node in nodes {
            let mut found = Vec::new();
            find(&node, &format!("$({name})"), &mut Vec::new(), &mut found)
                .map_err(|error| Error::new(format!("error with {file}: {error}")))?;
            let select = match self.patches.get(file) {
                Some(patch) if !changes_names_and_kinds(patch) => patch_selector(patch, &node),
                _ => selector(&node),
            };
            targets.extend(found.into_iter().map(|(path, options)| {
                let mut target = Target {
                    select: Some(select.clone()),
                    options,
                    ..Target::default()
                };
                target.field_paths.push(path);
                target
            }));
        }
        Ok(targets)
    }
}

fn changes_names_and_kinds(patch: &Patch) -> bool {
    let options = patch.options.as_ref();
    options.is_some_and(|it| it.allow_name_change && it.allow_kind_change)
}

fn selector(node: &Node) -> Selector {
    let api_version = node.api_version();
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    Selector {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: node.object_kind().to_string(),
        name: node.name().to_string(),
        namespace: node.namespace().to_string(),
        ..Selector::default()
    }
}

fn patch_selector(patch: &Patch, node: &Node) -> Selector {
    let mut selector = patch.target.clone().unwrap_or_default();
    if let Some(options) = &patch.options {
        if options.allow_name_change {
            selector.name = node.name().to_string();
        }
        if options.allow_kind_change {
            selector.kind = node.object_kind().to_string();
        }
    }
    if !node.namespace().is_empty() {
        selector.namespace = node.namespace().to_string();
    }
    selector
}

type Found = Vec<(String, Option<FieldOptions>)>;

fn find(node: &Node, var: &str, path: &mut Vec<String>, found: &mut Found) -> Result<()> {
    match &node.data {
        Data::Seq(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push(at.to_string());
                find(item, var, path, found)?;
                path.pop();
            }
        }
        Data::Map(pairs) => {
            for (key, value) in pairs {
                let key = to_yaml(key);
                let key = key.trim();
                path.push(if key.contains('.') {
                    format!("[{key}]")
                } else {
                    key.to_owned()
                });
                find(value, var, path, found)?;
                path.pop();
            }
        }
        Data::Scalar(text) => {
            if text.contains(var) {
                found.push((path.join("."), options(text, var)?));
            }
        }
    }
    Ok(())
}

/// Which part of the text the var is, if it is not all of it.
fn options(text: &str, var: &str) -> Result<Option<FieldOptions>> {
    if text == var {
        return Ok(None);
    }
    let Some(at) = text.find(var) else {
        return Ok(None);
    };
    // Upstream looks at bytes.
    let byte = |at: usize| text.as_bytes().get(at).copied().map(char::from);
    let (before, after) = (at.checked_sub(1).and_then(byte), byte(at + var.len()));
    let parts = |delimiter: char| text.split(delimiter);
    let (delimiter, index) = match (before, after) {
        (None, Some(after)) => (after, 0),
        (Some(before), None) => (before, parts(before).count() - 1),
        (Some(before), Some(after)) if before == after => {
            let index = parts(before).position(|it| it == var);
            let index = index.ok_or_else(|| {
                Error::new(format!("internal error: could not get index of var {var}"))
            })?;
            (before, index)
        }
        _ => {
            return Err(Error::new(format!(
                "cannot convert all vars to replacements; {var} is not delimited"
            )));
        }
    };
    Ok(Some(FieldOptions {
        delimiter: delimiter.to_string(),
        index: i64::try_from(index).unwrap_or(i64::MAX),
        ..FieldOptions::default()
    }))
}

fn set_placeholder(fs: &dyn FileSystem, file: &str, name: &str) -> Result<()> {
    let Some(text) = fs.read(file).ok().and_then(|it| String::from_utf8(it).ok()) else {
        return Ok(());
    };
    let new = text.replace(&format!("$({name})"), &format!("{name}_PLACEHOLDER"));
    fs.write(file, new.as_bytes())
}
