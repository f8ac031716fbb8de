//! Hot path. To JSON as kyaml gets there: written as YAML, then read as go-yaml v3 reads. What would come out the same
//! is taken directly; anything odd goes the long way, and so fails in the same words.

use std::collections::HashSet;

use json::{Object, Text, Value};

use super::{Data, Node, Style, Tag, to_yaml};
use crate::error::Result;

pub(crate) fn to_value(node: &Node) -> Result<Value> {
    if let Some(value) = direct(node, true) {
        return Ok(value);
    }
    let text = to_yaml(node);
    match yaml::parse_first(text.as_bytes())? {
        Some(document) => Ok(document.to_value()?),
        None => Ok(Value::Null),
    }
}

/// Nothing if the node is odd.
fn direct(node: &Node, root: bool) -> Option<Value> {
    match &node.data {
        Data::Scalar(text) => scalar(node, text),
        Data::Seq(items) => {
            let items = items.iter().map(|item| direct(item, false));
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        Data::Map(pairs) => {
            let mut all = Vec::with_capacity(pairs.len());
            for (key, value) in pairs {
                let Data::Scalar(text) = &key.data else {
                    return None;
                };
                if !(root && key.tag != Tag::Null && key.tag != Tag::Merge || is_string(key, text))
                {
                    return None;
                }
                all.push((text.clone(), direct(value, false)?));
            }
            (!has_duplicates(&all)).then(|| Value::Object(Object::from_distinct(all)))
        }
    }
}

fn has_duplicates(pairs: &[(Text, Value)]) -> bool {
    const FEW: usize = 12;
    if pairs.len() <= FEW {
        let mut rest = pairs;
        while let [(key, _), more @ ..] = rest {
            if more.iter().any(|(other, _)| other == key) {
                return true;
            }
            rest = more;
        }
        return false;
    }
    let mut seen = HashSet::with_capacity(pairs.len());
    !pairs.iter().all(|(key, _)| seen.insert(key.as_str()))
}

fn is_string(node: &Node, text: &str) -> bool {
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

fn scalar(node: &Node, text: &Text) -> Option<Value> {
    let long_way = match node.style {
        // Written and read again, these may differ.
        Style::Folded => text.contains('\n'),
        Style::Literal => text.starts_with([' ', '\n', '\t']),
        _ => text.starts_with([' ', '\n']) && text.contains('\n'),
    };
    if long_way {
        return None;
    }
    if is_string(node, text) {
        return Some(Value::String(text.clone()));
    }
    let tag = match node.tag {
        Tag::None => "",
        Tag::Null => "!!null",
        Tag::Bool => "!!bool",
        Tag::Int => {
            let simple = !text.starts_with(['0', '+']) && !text.starts_with("-0") || **text == *"0";
            if simple && let Ok(number) = text.parse::<i64>() {
                return Some(number.into());
            }
            "!!int"
        }
        Tag::Float => "!!float",
        Tag::Timestamp => "!!timestamp",
        _ => return None,
    };
    yaml::scalar_to_json(tag, node.is_quoted(), text).ok()
}

impl Node {
    pub(crate) fn is_quoted(&self) -> bool {
        !matches!(self.style, Style::Plain | Style::Flow)
    }
}
