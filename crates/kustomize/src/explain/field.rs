//! The way to a field: `spec.template.spec.containers[name=web].image`.

use std::fmt;

use crate::error::{Error, Result};
use crate::node::{Data, Node, to_value};

/// Longer values are cut.
const MAX_SHOWN: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Key(String),
    Index(usize),
    /// The item of a list whose key has this value.
    Item(String, String),
}

impl Field {
    /// Keys that hold dots stand in brackets, or have a backslash before each dot, as in kustomize's paths.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::new(format!("'{text}' is no path to a field"));
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            if let Some(inner) = rest.strip_prefix('[') {
                let (inside, after) = inner.split_once(']').ok_or_else(wrong)?;
                parts.push(match (inside.parse(), inside.split_once('=')) {
                    (Ok(index), _) => Part::Index(index),
                    (_, Some((key, value))) => Part::Item(key.to_owned(), value.to_owned()),
                    _ => Part::Key(inside.to_owned()),
                });
                rest = after;
                continue;
            }
            let mut key = String::new();
            let mut chars = rest.char_indices().peekable();
            let mut end = rest.len();
            while let Some((at, it)) = chars.next() {
                match it {
                    '\\' if chars.peek().is_some_and(|(_, it)| *it == '.') => {
                        key.push('.');
                        chars.next();
                    }
                    '.' | '[' => {
                        end = at;
                        break;
                    }
                    it => key.push(it),
                }
            }
            if key.is_empty() {
                return Err(wrong());
            }
            parts.push(Part::Key(key));
            rest = &rest[end..];
        }
        if parts.is_empty() {
            return Err(wrong());
        }
        Ok(Self(parts))
    }

    pub(super) fn find<'a>(&self, node: &'a Node) -> Option<&'a Node> {
        self.0.iter().try_fold(node, |node, part| match part {
            Part::Key(key) => node.get(key),
            Part::Index(index) => node.items().get(*index),
            Part::Item(key, value) => {
                let fits = |it: &&Node| it.get(key).is_some_and(|it| it.value() == value);
                node.items().iter().find(fits)
            }
        })
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            match part {
                Part::Key(key) if key.contains(['.', '[']) => write!(f, "[{key}]")?,
                Part::Key(key) if at == 0 => f.write_str(key)?,
                Part::Key(key) => write!(f, ".{key}")?,
                Part::Index(index) => write!(f, "[{index}]")?,
                Part::Item(key, value) => write!(f, "[{key}={value}]")?,
            }
        }
        Ok(())
    }
}

/// All fields that hold no others, in their order.
pub(super) fn leaves(root: &Node) -> Vec<Field> {
    let mut all = Vec::new();
    walk(root, &mut Vec::new(), &mut all);
    all
}

fn walk(node: &Node, way: &mut Vec<Part>, all: &mut Vec<Field>) {
    match &node.data {
        Data::Map(pairs) if !pairs.is_empty() => {
            for (key, value) in pairs {
                way.push(Part::Key(key.raw().to_string()));
                walk(value, way, all);
                way.pop();
            }
        }
        Data::Seq(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                // An index would mean another item after one is added.
                let name = item.get("name").map(|it| it.value().to_owned());
                let part = name.map(|it| Part::Item("name".into(), it));
                way.push(part.unwrap_or(Part::Index(index)));
                walk(item, way, all);
                way.pop();
            }
        }
        _ => all.push(Field(way.clone())),
    }
}

/// A value in a line.
pub(super) fn shown(node: &Node) -> String {
    let text = match &node.data {
        Data::Scalar(_) if !node.value().contains('\n') => node.value().to_owned(),
        _ => to_value(node).map_or_else(|error| error.to_string(), |it| json::to_string(&it)),
    };
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
