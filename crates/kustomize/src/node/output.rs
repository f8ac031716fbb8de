//! Hot path. A node as kustomize prints it. What comes out the same is written directly; anything odd is written as kyaml
//! writes it and read again first, and so fails in the same words.

use std::cell::Cell;

use yaml::{Shape, Tree};

use super::load::load;
use super::to_json::{
    is_key, is_quoted_away, is_simple_int, is_string, is_unstable, is_written_as_nothing, tag_name,
};
use super::{Data, Node, Style, Tag, to_yaml};
use crate::error::{Error, Result};

/// Appends one document.
pub(crate) fn write(node: &Node, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    SEEN.set(Seen::default());
    if yaml::write_tree(out, node, Read::Once) {
        let seen = SEEN.get();
        if !(seen.flow && seen.nothing && has_nothing_in_flow(node, false)) {
            return Ok(());
        }
        out.truncate(start);
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
    match load(&document, &text, 0)? {
        // A value has no place for integers beyond int64; a node does.
        Some(node) if yaml::write_tree(out, &node, Read::Again) => {}
        _ => yaml::write_value(out, &value),
    }
    Ok(())
}

/// What may stand in the way of writing a tree directly.
#[derive(Clone, Copy, Default)]
struct Seen {
    flow: bool,
    /// A scalar that there is nothing to see of.
    nothing: bool,
}

thread_local! {
    static SEEN: Cell<Seen> = const { Cell::new(Seen { flow: false, nothing: false }) };
}

fn has_nothing_in_flow(node: &Node, in_flow: bool) -> bool {
    let in_flow = in_flow || node.style == Style::Flow;
    let inside = |it: &Node| has_nothing_in_flow(it, in_flow);
    match &node.data {
        Data::Scalar(text) => in_flow && text.is_empty() && is_written_as_nothing(node),
        Data::Seq(items) => items.iter().any(inside),
        Data::Map(pairs) => pairs.iter().any(|(_, value)| inside(value)),
    }
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
        if self.style == Style::Flow {
            SEEN.set(Seen {
                flow: true,
                ..SEEN.get()
            });
        }
        match &self.data {
            Data::Scalar(text) => {
                if text.is_empty() && is_written_as_nothing(self) {
                    SEEN.set(Seen {
                        nothing: true,
                        ..SEEN.get()
                    });
                }
                if read == Read::Once && is_unstable(self, text) {
                    None
                } else if is_string(self, text) || is_quoted_away(self, text) {
                    Some(Shape::String(text.as_str().into()))
                } else if self.is_quoted() {
                    None
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
