//! Generated resources come in: new, instead of others, or merged into them.

use json::Text;

use super::ResMap;
use crate::error::{Error, Result};
use crate::id::go_syntax;
use crate::node::{Data, Node, Style, Tag};
use crate::resource::{Behavior, Resource};

impl ResMap {
    pub(crate) fn absorb_all(&mut self, other: Self) -> Result<()> {
        other.list.into_iter().try_for_each(|it| self.absorb(it))
    }

    fn absorb(&mut self, mut new: Resource) -> Result<()> {
        let id = new.current_id();
        let behavior = new.behavior();
        let at = match self.positions(&id)[..] {
            [] if matches!(behavior, Behavior::Merge | Behavior::Replace) => {
                return Err(Error::new(format!(
                    "id {} does not exist; cannot merge or replace",
                    go_syntax(&id)
                )));
            }
            [] => return self.append(new),
            [one] => one,
            _ => {
                return Err(Error::new(format!(
                    "found multiple objects that could accept merge of {id}"
                )));
            }
        };
        self.change(at, |old| {
            match behavior {
                Behavior::Replace => new.merge_metadata_from(old)?,
                Behavior::Merge => {
                    let origin = old.origin()?;
                    new.merge_metadata_from(old)?;
                    merge_data(&mut new.node, &old.node, "data")?;
                    merge_data(&mut new.node, &old.node, "binaryData")?;
                    if origin.is_some() {
                        new.set_origin(origin.as_ref())?;
                    }
                }
                _ => {
                    return Err(Error::new(format!(
                        "id {} exists; can not use behavior: '{}', behavior must be merge or replace",
                        go_syntax(&id),
                        behavior.name()
                    )));
                }
            }
            *old = new;
            Ok(())
        })
    }
}

/// What the new one does not say is taken from the old one.
fn merge_data(new: &mut Node, old: &Node, field: &str) -> Result<()> {
    let texts = |node: &Node| -> Vec<(Text, Text)> {
        let pairs = node.get(field).map_or(&[][..], Node::pairs);
        let text = |node: &Node| Text::from(node.value());
        pairs
            .iter()
            .map(|(key, value)| (text(key), text(value)))
            .collect()
    };
    let mut all: std::collections::BTreeMap<Text, Text> = texts(old).into_iter().collect();
    all.extend(texts(new));
    new.remove(field);
    if all.is_empty() {
        return Ok(());
    }
    let mut map = Node::map();
    for (key, value) in all {
        let mut node = Node::tagged(Tag::Str, value);
        if node.raw().contains('\n') {
            node.style = Style::Literal;
        }
        map.set_field(&key, node)?;
    }
    if let Data::Map(_) = new.data {
        new.push(field, map, Style::Plain);
    }
    Ok(())
}
