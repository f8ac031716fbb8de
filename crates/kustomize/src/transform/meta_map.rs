//! Labels and annotations.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::fieldspec::{Make, Specs};
use crate::node::{Kind, Node, Style, Tag, next_group};
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::types::FieldSpec;

pub(crate) struct MetaMap {
    /// Each with the group of the nodes that are made for it.
    pairs: Vec<(String, String, u32)>,
    specs: Specs,
}

impl MetaMap {
    pub(crate) fn new(pairs: &BTreeMap<String, String>, specs: &[FieldSpec]) -> Self {
        Self {
            pairs: pairs
                .iter()
                .map(|(key, value)| (key.clone(), value.clone(), next_group()))
                .collect(),
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
            let mut made = 0;
            for (key, value, group) in &self.pairs {
                // Upstream sets one and the same node everywhere; it has the style that it got last.
                let mut style = Style::Plain;
                let mut restyled = false;
                self.specs.apply(&mut resource.node, make, &mut |node| {
                    let mut new = Node::tagged(Tag::Str, value.as_str());
                    new.style = style;
                    if let Some(field) = node.get(key) {
                        restyled |= made > 0 && style != field.style;
                        style = field.style;
                        return node.set_field(key, new);
                    }
                    made += 1;
                    node.set_field(key, new.in_group(*group))?;
                    style = node.get(key).map_or(style, |it| it.style);
                    Ok(())
                })?;
                if restyled {
                    resource.node.restyle_group(*group, style);
                }
            }
            resource.shares |= made > 1;
        }
        Ok(())
    }
}
