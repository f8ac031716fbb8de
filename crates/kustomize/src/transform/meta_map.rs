//! Labels and annotations.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::fieldspec::{Make, Specs};
use crate::node::{Kind, Node, Tag};
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::types::FieldSpec;

pub(crate) struct MetaMap {
    pairs: BTreeMap<String, String>,
    specs: Specs,
}

impl MetaMap {
    pub(crate) fn new(pairs: &BTreeMap<String, String>, specs: &[FieldSpec]) -> Self {
        Self {
            pairs: pairs.clone(),
            specs: specs.iter().collect(),
        }
    }
}

impl Transformer for MetaMap {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        if self.pairs.is_empty() {
            return Ok(());
        }
        let make = Some(Make {
            kind: Kind::Map,
            tag: Tag::Map,
        });
        for resource in map.list_mut() {
            for (key, value) in &self.pairs {
                self.specs.apply(&mut resource.node, make, &mut |node| {
                    node.set_field(key, Node::tagged(Tag::Str, value.as_str()))
                })?;
            }
        }
        Ok(())
    }
}
