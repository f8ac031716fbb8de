//! Hot path. A node as kustomize prints it. What comes out the same is written directly; anything odd is written as kyaml
//! writes it and read again first, and so fails in the same words.

use yaml::{Shape, Tree};

use super::load::load;
use super::to_json::{has_duplicates, is_key, is_simple_int, is_string, is_unstable, tag_name};
use super::{Data, Node, Tag, to_yaml};
use crate::error::Result;

/// Appends one document.
pub(crate) fn write(node: &Node, out: &mut Vec<u8>) -> Result<()> {
    if is_direct(node, true, &is_unstable) {
        yaml::write_value(out, node);
        return Ok(());
    }
    let text = to_yaml(node);
    let Some(document) = yaml::parse_first(text.as_bytes())? else {
        yaml::write_value(out, &json::Value::Null);
        return Ok(());
    };
    let value = document.to_value()?;
    match load(&document, &text)? {
        // A value has no place for integers beyond int64; a node does.
        Some(node) if is_direct(&node, true, &|_, _| false) => yaml::write_value(out, &node),
        _ => yaml::write_value(out, &value),
    }
    Ok(())
}

fn is_direct(node: &Node, root: bool, is_odd: &impl Fn(&Node, &str) -> bool) -> bool {
    match &node.data {
        Data::Scalar(text) => {
            let is_json = |tag| yaml::scalar_shape::<Node>(tag, text).is_some();
            !is_odd(node, text)
                && (is_string(node, text)
                    || node.tag == Tag::Int && is_simple_int(text)
                    || tag_name(node.tag).is_some_and(is_json))
        }
        Data::Seq(items) => items.iter().all(|item| is_direct(item, false, is_odd)),
        Data::Map(pairs) => {
            let fits = |(key, value): &(Node, Node)| match &key.data {
                Data::Scalar(text) => is_key(key, text, root) && is_direct(value, false, is_odd),
                _ => false,
            };
            pairs.iter().all(fits) && !has_duplicates(pairs, |(key, _)| key.raw())
        }
    }
}

/// For what was found to be direct.
impl Tree for Node {
    fn shape(&self) -> Shape<'_, Self> {
        match &self.data {
            Data::Scalar(text) if is_string(self, text) => Shape::String(text.as_str().into()),
            Data::Scalar(text) if self.tag == Tag::Int && is_simple_int(text) => {
                Shape::Plain(text.as_str().into())
            }
            Data::Scalar(text) => tag_name(self.tag)
                .and_then(|tag| yaml::scalar_shape(tag, text))
                .unwrap_or(Shape::String(text.as_str().into())),
            Data::Seq(items) => Shape::Items(items),
            Data::Map(pairs) => {
                let pairs = pairs.iter();
                Shape::Pairs(
                    pairs
                        .map(|(key, value)| (key.raw().as_str(), value))
                        .collect(),
                )
            }
        }
    }
}
