//! Values added to fields, or to paths in them.

use crate::decode::{List, decode_yaml, go_struct};
use crate::error::{Error, Result};
use crate::loader::Loader;
use crate::node::{Kind, Node, check_depth};
use crate::paths;
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::transform::namespace::{Namespace, Subjects};
use crate::types::Selector;

go_struct! { AddTarget as "Target" {
    selector: Option<Selector> = "selector",
    field_path: String = "fieldPath",
    position: i64 = "filePathPosition",
}}

go_struct! { ValueAdd as "ValueAddTransformerPlugin" {
    value: String = "value",
    targets: List<AddTarget> = "targets",
    target_file: String = "targetFilePath",
}}

impl ValueAdd {
    pub(crate) fn read(config: &[u8], loader: &Loader<'_>) -> Result<Self> {
        let mut it: Self = decode_yaml(config)?;
        it.value = it.value.trim().to_owned();
        if it.value.is_empty() {
            paths::base(&loader.root).clone_into(&mut it.value);
        }
        if !it.target_file.is_empty() {
            let text = loader.load(&it.target_file)?;
            let mut more: Self = decode_yaml(&text)?;
            it.targets.append(&mut more.targets);
        }
        if it.targets.is_empty() {
            return Err(Error::new("must specify at least one target"));
        }
        for target in &it.targets {
            if target.field_path.is_empty() {
                return Err(Error::new("fieldPath cannot be empty"));
            }
            if target.position < 0 {
                return Err(Error::new(format!(
                    "value of FilePathPosition ({}) cannot be negative",
                    target.position
                )));
            }
        }
        Ok(it)
    }

    fn add(&self, node: &mut Node, target: &AddTarget) -> Result<()> {
        if target.field_path == "metadata/namespace" {
            return Namespace::new(&self.value, &[], false, Subjects::default()).apply(node);
        }
        let mut fields: Vec<String> = Vec::new();
        for part in target.field_path.split('/') {
            match fields.last_mut() {
                Some(last) if last.ends_with('\\') => {
                    last.pop();
                    last.push('/');
                    last.push_str(part);
                }
                _ => fields.push(part.to_owned()),
            }
        }
        check_depth(fields.len(), &Node::plain(""))?;
        let Some(found) = node.lookup_create(&fields, Kind::Scalar)? else {
            return Ok(());
        };
        found.expect(Kind::Scalar)?;
        let value = match usize::try_from(target.position) {
            Ok(position) if position > 0 => insert_part(found.raw(), position - 1, &self.value),
            _ => self.value.clone(),
        };
        found.set_scalar(Node::plain(value))
    }
}

/// Puts a part into a path. The root does not count as one.
fn insert_part(path: &str, at: usize, part: &str) -> String {
    let mut parts: Vec<&str> = if path.is_empty() {
        Vec::new()
    } else {
        path.trim_end_matches('/').split('/').collect()
    };
    let mut at = at.min(parts.len());
    if parts.first() == Some(&"") && at < parts.len() {
        at += 1;
    }
    parts.insert(at, part);
    let rooted = parts.first() == Some(&"");
    let joined = parts
        .iter()
        .fold(String::new(), |path, part| paths::join(&path, part));
    if rooted { format!("/{joined}") } else { joined }
}

impl Transformer for ValueAdd {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        for target in &self.targets {
            let all: Vec<usize> = match &target.selector {
                Some(selector) => map.select(selector)?,
                None => (0..map.iter().len()).collect(),
            };
            let list = map.list_mut();
            for at in all {
                self.add(&mut list[at].node, target)?;
            }
        }
        Ok(())
    }
}
