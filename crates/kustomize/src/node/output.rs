//! Hot path. A node as kustomize prints it. What comes out the same is written directly; anything odd is written as kyaml
//! writes it and read again first, and so fails in the same words.

use yaml::{Shape, Tree};

use super::load::load;
use super::to_json::{is_key, is_simple_int, is_string, is_unstable, tag_name};
use super::{Data, Node, Tag, to_yaml};
use crate::error::{Error, Result};

/// Appends one document.
pub(crate) fn write(node: &Node, out: &mut Vec<u8>) -> Result<()> {
    if yaml::write_tree(out, node, Read::Once) {
        return Ok(());
    }
    let text = to_yaml(node);
    let Some(document) = yaml::parse_first(text.as_bytes())? else {
        yaml::write_value(out, &json::Value::Null);
        return Ok(());
    };
    let value = document.to_value().map_err(|error| {
        let is_read = matches!(
            error,
            yaml::Error::NotJson | yaml::Error::UnsupportedValue(_)
        );
        // Upstream shows what it read.
        match document.go_syntax().filter(|_| is_read) {
            Some(shown) => Error::from(error).wrap(shown),
            None => error.into(),
        }
    })?;
    match load(&document, &text)? {
        // A value has no place for integers beyond int64; a node does.
        Some(node) if yaml::write_tree(out, &node, Read::Again) => {}
        _ => yaml::write_value(out, &value),
    }
    Ok(())
}

/// Whether a tree comes from what kyaml wrote, so that nothing changes once more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    Once,
    Again,
}

impl Tree for Node {
    type Context = Read;

    fn shape<'a>(
        &'a self,
        read: Read,
        is_root: bool,
        pairs: &mut Vec<(&'a str, &'a Self)>,
    ) -> Option<Shape<'a, Self>> {
        match &self.data {
            Data::Scalar(text) => {
                if read == Read::Once && is_unstable(self, text) {
                    None
                } else if is_string(self, text) {
                    Some(Shape::String(text.as_str().into()))
                } else if self.tag == Tag::Int && is_simple_int(text) {
                    Some(Shape::Plain(text.as_str().into()))
                } else {
                    yaml::scalar_shape(tag_name(self.tag)?, text)
                }
            }
            Data::Seq(items) => Some(Shape::Items(items)),
            Data::Map(all) => {
                for (key, value) in all {
                    let Data::Scalar(text) = &key.data else {
                        return None;
                    };
                    if !is_key(key, text, is_root) {
                        return None;
                    }
                    pairs.push((text.as_str(), value));
                }
                Some(Shape::Pairs)
            }
        }
    }
}
