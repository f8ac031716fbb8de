//! Hot path. To JSON as kyaml gets there: written as YAML, then read as go-yaml v3 reads. What would come out the same
//! is taken directly; anything odd goes the long way, and so fails in the same words.

use std::collections::HashSet;

use json::{Object, Text, Value};

use super::{Data, Node, Style, Tag, to_yaml};
use crate::error::Result;

pub(crate) fn to_value(node: &Node) -> Result<Value> {
    if let Some(value) = direct(node, true, false) {
        return Ok(value);
    }
    let text = to_yaml(node);
    match yaml::parse_first(text.as_bytes())? {
        Some(document) => Ok(document.to_value()?),
        None => Ok(Value::Null),
    }
}

/// Nothing if the node is odd.
fn direct(node: &Node, root: bool, in_flow: bool) -> Option<Value> {
    let in_flow = in_flow || node.style == Style::Flow;
    match &node.data {
        Data::Scalar(text) if in_flow && text.is_empty() && is_written_as_nothing(node) => None,
        Data::Scalar(text) => scalar(node, text),
        Data::Seq(items) => {
            let items = items.iter().map(|item| direct(item, false, in_flow));
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        Data::Map(pairs) => {
            let mut all = Vec::with_capacity(pairs.len());
            for (key, value) in pairs {
                let Data::Scalar(text) = &key.data else {
                    return None;
                };
                if !is_key(key, text, root) {
                    return None;
                }
                all.push((text.clone(), direct(value, false, in_flow)?));
            }
            let distinct = !has_duplicates(&all, |(key, _)| key);
            distinct.then(|| Value::Object(Object::from_distinct(all)))
        }
    }
}

/// Whether a scalar can be a key: any at the root, where upstream reads into a map of strings.
pub(super) fn is_key(key: &Node, text: &str, root: bool) -> bool {
    root && key.tag != Tag::Null && key.tag != Tag::Merge || is_string(key, text)
}

fn has_duplicates<T>(pairs: &[T], key: impl Fn(&T) -> &str) -> bool {
    const FEW: usize = 12;
    if pairs.len() <= FEW {
        let mut rest = pairs;
        while let [first, more @ ..] = rest {
            if more.iter().any(|other| key(other) == key(first)) {
                return true;
            }
            rest = more;
        }
        return false;
    }
    let mut seen = HashSet::with_capacity(pairs.len());
    !pairs.iter().all(|it| seen.insert(key(it)))
}

pub(super) fn is_string(node: &Node, text: &str) -> bool {
    match node.tag {
        Tag::Str => true,
        Tag::None => node.is_quoted() || looks_like_string(text),
        _ => false,
    }
}

/// Whether a plain text is a string to go-yaml v3.
fn looks_like_string(text: &str) -> bool {
    let first = text.bytes().next();
    let common = first.is_some_and(|it| {
        it.is_ascii_alphabetic()
            && !matches!(
                it,
                b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O'
            )
    });
    common || yaml::tag_of_plain(text) == "!!str"
}

/// Whether a scalar may differ once it is written and read again.
pub(super) fn is_unstable(node: &Node, text: &str) -> bool {
    match node.style {
        Style::Folded => text.contains('\n'),
        Style::Literal => text.starts_with([' ', '\n', '\t']),
        _ => text.starts_with([' ', '\n']) && text.contains('\n'),
    }
}

/// Whether there is nothing to see of an empty scalar: it is null then, but for flow collections, where go-yaml puts
/// quotes around nothing.
pub(super) fn is_written_as_nothing(node: &Node) -> bool {
    node.style == Style::Plain && matches!(node.tag, Tag::None | Tag::Null)
}

/// Whether a text is its own number.
pub(super) fn is_simple_int(text: &str) -> bool {
    let simple = !text.starts_with(['0', '+']) && !text.starts_with("-0") || *text == *"0";
    simple && text.parse::<i64>().is_ok()
}

fn scalar(node: &Node, text: &Text) -> Option<Value> {
    if is_unstable(node, text) {
        return None;
    }
    if is_string(node, text) || is_quoted_away(node, text) {
        return Some(Value::String(text.clone()));
    }
    if node.is_quoted() {
        return None;
    }
    if node.tag == Tag::Int
        && is_simple_int(text)
        && let Ok(number) = text.parse::<i64>()
    {
        return Some(number.into());
    }
    yaml::scalar_to_json(tag_name(node.tag)?, false, text).ok()
}

/// Whether a value lost its type: it took the place of a string, and got its quotes.
pub(super) fn is_quoted_away(node: &Node, text: &str) -> bool {
    node.is_quoted() && tag_name(node.tag) == Some(yaml::tag_of_plain(text))
}

/// As go-yaml calls it, if a scalar with this tag is JSON.
pub(super) fn tag_name(tag: Tag) -> Option<&'static str> {
    Some(match tag {
        Tag::None => "",
        Tag::Null => "!!null",
        Tag::Bool => "!!bool",
        Tag::Int => "!!int",
        Tag::Float => "!!float",
        Tag::Timestamp => "!!timestamp",
        _ => return None,
    })
}

impl Node {
    pub(crate) fn is_quoted(&self) -> bool {
        !matches!(self.style, Style::Plain | Style::Flow)
    }
}
