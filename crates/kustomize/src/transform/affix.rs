//! Prefixes and suffixes of names.

use crate::error::Result;
use crate::fieldspec::{Make, Spec};
use crate::id::ResId;
use crate::node::{Kind, Node, Tag};
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::types::FieldSpec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AffixKind {
    Prefix,
    Suffix,
}

pub(crate) struct Affix {
    kind: AffixKind,
    text: String,
    specs: Vec<Spec>,
}

impl Affix {
    pub(crate) fn new(kind: AffixKind, text: &str, specs: &[FieldSpec]) -> Self {
        Self {
            kind,
            text: text.to_owned(),
            specs: specs.iter().map(Spec::from).collect(),
        }
    }
}

/// Names that others know.
fn is_fixed(id: &ResId) -> bool {
    match id.gvk.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => *id.gvk.group == *"apiregistration.k8s.io",
        _ => false,
    }
}

impl Transformer for Affix {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        let make = Some(Make {
            kind: Kind::Scalar,
            tag: Tag::Str,
        });
        for resource in map.list_mut() {
            let id = resource.original_id();
            if is_fixed(&id) {
                continue;
            }
            for spec in self.specs.iter().filter(|it| id.gvk.is_selected(&it.gvk)) {
                if spec.path == "metadata/name" {
                    match self.kind {
                        AffixKind::Prefix => resource.add_prefix(&self.text)?,
                        AffixKind::Suffix => resource.add_suffix(&self.text)?,
                    }
                    if !self.text.is_empty() {
                        resource.store_previous_id()?;
                    }
                }
                // The kind may have changed since.
                if !resource.gvk().is_selected(&spec.gvk) {
                    continue;
                }
                spec.apply(&mut resource.node, make, &mut |node| {
                    let text = match self.kind {
                        AffixKind::Prefix => format!("{}{}", self.text, node.raw()),
                        AffixKind::Suffix => format!("{}{}", node.raw(), self.text),
                    };
                    node.set_scalar(Node::plain(text))
                })?;
            }
        }
        Ok(())
    }
}
