//! Paths, and what they lead to.

use encoding::go;
use json::Text;

use super::{Data, Kind, Node, Style, Tag};
use crate::error::{Error, Result};

/// Cut at a delimiter that has no backslash before it.
pub(crate) fn split_path(path: &str, delimiter: char) -> Vec<String> {
    let mut parts: Vec<&str> = path.split(delimiter).collect();
    if parts.len() > 1 && parts[0].is_empty() {
        parts.remove(0);
    }
    let mut all: Vec<String> = Vec::with_capacity(parts.len());
    for part in parts {
        match all.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(part);
            }
            _ => all.push(part.to_owned()),
        }
    }
    all
}

/// The same, but what stands in brackets is one part.
pub(crate) fn smarter_split(path: &str, delimiter: char) -> Vec<String> {
    let mut all = Vec::new();
    let mut parts = split_path(path, delimiter).into_iter();
    while let Some(part) = parts.next() {
        if !part.starts_with('[') || part.ends_with(']') {
            all.push(part);
            continue;
        }
        let mut bracketed = part;
        for more in parts.by_ref() {
            bracketed.push(delimiter);
            bracketed.push_str(&more);
            if more.ends_with(']') {
                break;
            }
        }
        if bracketed.contains('=') {
            all.push(bracketed);
        } else {
            all.push(bracketed.trim_matches(['[', ']']).to_owned());
        }
    }
    all
}

/// `name[2]` becomes `name` and `2`.
fn convert_slice_index(fields: Vec<String>) -> Vec<String> {
    let mut all = Vec::new();
    for field in fields {
        let inner = field.strip_suffix(']').and_then(|it| it.rsplit_once('['));
        match inner {
            Some((name, index))
                if !index.is_empty() && index.bytes().all(|it| it.is_ascii_digit()) =>
            {
                if !name.is_empty() {
                    all.push(name.to_owned());
                }
                all.push(index.to_owned());
            }
            _ => all.push(field),
        }
    }
    all
}

pub(crate) fn is_list_index(part: &str) -> bool {
    part.starts_with('[') && part.ends_with(']')
}

/// Not an index, a wildcard, or anything else that a path gives a meaning of its own.
pub(crate) fn is_field_name(part: &str) -> bool {
    let digits = part.strip_prefix(['-', '+']).unwrap_or(part);
    part.trim() == part
        && part != "*"
        && !is_list_index(part)
        && !digits.bytes().all(|it| it.is_ascii_digit())
}

pub(crate) fn index_number(part: &str) -> Option<usize> {
    let digits = part.strip_prefix('+').unwrap_or(part);
    if digits.bytes().all(|it| it.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

pub(crate) fn split_name_value(part: &str) -> Result<(&str, &str)> {
    let inner = part.strip_suffix(']').unwrap_or(part);
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    inner.split_once('=').ok_or_else(|| {
        Error::new("list path element must contain fieldName=fieldValue for element to match")
    })
}

/// The kind of node that a part leads to, by the part after it.
pub(crate) fn kind_before(next: Option<&str>, last: Kind) -> Kind {
    match next {
        None | Some("") => last,
        Some(part) if is_list_index(part) || index_number(part).is_some() => Kind::Seq,
        Some(_) => Kind::Map,
    }
}

/// A node as kyaml makes it: without a tag.
pub(crate) fn blank(kind: Kind) -> Node {
    match kind {
        Kind::Scalar => Node::plain(Text::new()),
        Kind::Map => Node::map(),
        Kind::Seq => Node::seq(Vec::new()),
    }
}

impl Node {
    /// What a path leads to, if it leads anywhere.
    pub(crate) fn lookup<S: AsRef<str>>(&self, path: &[S]) -> Result<Option<&Node>> {
        let mut node = self;
        for part in clean(path) {
            let next = if let Some(index) = numeric(part)? {
                node.expect(Kind::Seq)?;
                node.items().get(index)
            } else if part == "-" {
                node.expect(Kind::Seq)?;
                node.items().last()
            } else if part == "*" {
                return Err(no_wildcard());
            } else if is_list_index(part) {
                let (name, value) = split_name_value(part)?;
                node.expect(Kind::Seq)?;
                let mut items = node.items().iter();
                items.find(|item| item.matches_element(name, value))
            } else {
                node.field(part)?
            };
            match next {
                Some(next) => node = next,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    pub(crate) fn lookup_mut<S: AsRef<str>>(&mut self, path: &[S]) -> Result<Option<&mut Node>> {
        if self.lookup(path)?.is_none() {
            return Ok(None);
        }
        let mut node = self;
        for part in clean(path) {
            let next = if let Some(index) = numeric(part)? {
                node.items_mut().get_mut(index)
            } else if part == "-" {
                node.items_mut().last_mut()
            } else if is_list_index(part) {
                let (name, value) = split_name_value(part)?;
                let mut items = node.items_mut().iter_mut();
                items.find(|item| item.matches_element(name, value))
            } else {
                node.get_mut(part)
            };
            match next {
                Some(next) => node = next,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    /// Makes what is missing on the way; what is made last is of the given kind.
    pub(crate) fn lookup_create<S: AsRef<str>>(
        &mut self,
        path: &[S],
        kind: Kind,
    ) -> Result<Option<&mut Node>> {
        let parts: Vec<&str> = clean(path).collect();
        let mut node = self;
        for (at, part) in parts.iter().enumerate() {
            let next = parts.get(at + 1).copied();
            node = if let Some(index) = numeric(part)? {
                node.expect(Kind::Seq)?;
                match node.items_mut().get_mut(index) {
                    Some(item) => item,
                    None => return Ok(None),
                }
            } else if *part == "-" {
                node.expect(Kind::Seq)?;
                match node.items_mut().last_mut() {
                    Some(item) => item,
                    None => return Ok(None),
                }
            } else if *part == "*" {
                return Err(no_wildcard());
            } else if is_list_index(part) {
                let (name, value) = split_name_value(part)?;
                node.expect(Kind::Seq)?;
                node.element_or_create(name, value)?
            } else {
                if node.is_null() {
                    return Ok(None);
                }
                node.field_or_create(part, || blank(kind_before(next, kind)))?
            };
        }
        Ok(Some(node))
    }

    fn matches_element(&self, name: &str, value: &str) -> bool {
        if name.is_empty() {
            return **self.raw() == *value;
        }
        self.kind() == Kind::Map && self.get(name).is_some_and(|it| **it.raw() == *value)
    }

    fn element_or_create(&mut self, name: &str, value: &str) -> Result<&mut Node> {
        let Data::Seq(items) = &mut self.data else {
            return Err(Error::new("expected a sequence"));
        };
        let found = items
            .iter()
            .position(|item| item.matches_element(name, value));
        let at = found.unwrap_or_else(|| {
            let value = Node::plain(Text::from(value));
            let item = if name.is_empty() {
                value
            } else {
                let mut map = Node::map();
                map.push(name, value, Style::Plain);
                map
            };
            items.push(item);
            items.len() - 1
        });
        Ok(&mut items[at])
    }

    /// What it decodes to, for variables: a tag decides.
    pub(crate) fn field_value(&self, path: &str) -> Result<json::Value> {
        let fields = convert_slice_index(smarter_split(path, '.'));
        let Some(node) = self.lookup(&fields)? else {
            return Err(Error::new(format!("no field named '{path}'")));
        };
        match (&node.data, node.tag) {
            (Data::Scalar(text), Tag::Int) => {
                let number = go::atoi(text).map(json::Value::from);
                number.map_err(|error| Error::new(error.to_string()))
            }
            (Data::Scalar(text), Tag::Float) => {
                let number = text.parse::<f64>();
                number
                    .map(|it| json::Value::Number(json::Number::Float(it)))
                    .map_err(|_| Error::new(go::NumError::syntax("ParseFloat", text).to_string()))
            }
            (Data::Scalar(text), Tag::Bool) => Ok((text.to_lowercase() == "true").into()),
            (Data::Scalar(text), _) => Ok(text.into()),
            _ => super::to_value(node),
        }
    }
}

fn numeric(part: &str) -> Result<Option<usize>> {
    if let Some(digits) = part.strip_prefix('-')
        && !digits.is_empty()
        && digits.bytes().all(|it| it.is_ascii_digit())
    {
        return Err(Error::new(format!("array index {part} cannot be negative")));
    }
    Ok(index_number(part))
}

fn no_wildcard() -> Error {
    Error::new("wildcard is not supported in PathGetter")
}

fn clean<S: AsRef<str>>(path: &[S]) -> impl Iterator<Item = &str> {
    let parts = path.iter().map(|part| part.as_ref().trim());
    parts.filter(|part| !part.is_empty())
}
