//! Paths to fields: `a.b[name=x].0.*`.

use yaml::{Kind, Node};

use super::annotations::expect;
use crate::error::{Error, Result};
use crate::regexp;

/// A node, and what matched on the way, the innermost first.
pub(super) type Found = (Vec<String>, Node);

/// Parts of a path; `\.` is a dot in a name.
pub(super) fn parse(path: &str) -> Result<Vec<String>> {
    const DOT: &str = "$$$$";
    let mut parts = Vec::new();
    for part in path.replace("\\.", DOT).split('.') {
        let part = part.replace(DOT, ".");
        match part.split('[').collect::<Vec<_>>()[..] {
            [_] => parts.push(part),
            [name, condition] => {
                parts.push(name.to_owned());
                parts.push(format!("[{condition}"));
            }
            _ => {
                return Err(Error::new(format!(
                    "unrecognized path element: {part}.  Should be of the form 'list[field=value]'"
                )));
            }
        }
    }
    Ok(parts)
}

/// All nodes that a path leads to; none if there is nothing on the way.
pub(super) fn find(node: &Node, path: &[String]) -> Result<Option<Vec<Found>>> {
    let Some((part, rest)) = path.split_first() else {
        return Ok(Some(vec![(Vec::new(), node.clone())]));
    };
    if let Ok(index) = part.parse::<usize>() {
        let items = items(node)?;
        let item = items.get(index).ok_or_else(|| {
            Error::new(format!(
                "index {index} specified but only {} elements found",
                items.len()
            ))
        })?;
        return find(item, rest);
    }
    if part.starts_with('[') && part.ends_with(']') {
        return in_list(node, part, rest);
    }
    if part == "*" {
        let mut all = Vec::new();
        for item in items(node)? {
            all.extend(matched(find(item, rest)?, part));
        }
        return Ok((!all.is_empty()).then_some(all));
    }
    expect(node, Kind::Mapping)?;
    let Some(field) = node.get(part) else {
        return Ok(None);
    };
    if field.kind != Kind::Scalar || rest.is_empty() {
        return find(field, rest);
    }
    // A document inside of a string.
    match yaml::parse_first(field.value.as_bytes())? {
        Some(document) => match document.content.first() {
            Some(root) => find(root, rest),
            None => Ok(None),
        },
        None => Err(Error::new(format!(
            "wrong node kind: expected {} but got : node contents:\nnull\n",
            if is_of_list(&rest[0]) {
                "SequenceNode"
            } else {
                "MappingNode"
            }
        ))),
    }
}

fn is_of_list(part: &str) -> bool {
    part == "*" || part.starts_with('[') || part.parse::<usize>().is_ok()
}

fn items(node: &Node) -> Result<&[Node]> {
    expect(node, Kind::Sequence)?;
    Ok(match node.kind {
        Kind::Sequence => &node.content,
        _ => &[],
    })
}

fn matched(found: Option<Vec<Found>>, how: &str) -> impl Iterator<Item = Found> {
    found.into_iter().flatten().map(move |(mut matches, node)| {
        matches.push(how.to_owned());
        (matches, node)
    })
}

/// Those members whose field matches a pattern.
fn in_list(node: &Node, part: &str, rest: &[String]) -> Result<Option<Vec<Found>>> {
    let condition = part.trim_start_matches('[');
    let condition = condition.strip_suffix(']').unwrap_or(condition);
    let (field, pattern) = condition.split_once('=').ok_or_else(|| {
        Error::new("list path element must contain fieldName=fieldValue for element to match")
    })?;
    let items = items(node)?;
    if items.is_empty() {
        return Ok(None);
    }
    let pattern = regexp::compile(pattern)?;
    let mut all = Vec::new();
    for item in items {
        let value = if field.is_empty() {
            Some(item)
        } else {
            item.get(field)
        };
        let Some(value) = value else { continue };
        let text = super::to_text(std::slice::from_ref(value))?;
        let text = text.trim();
        if !pattern.is_match(text) {
            continue;
        }
        if field.is_empty() {
            all.push((Vec::new(), item.clone()));
        } else {
            all.extend(matched(find(item, rest)?, text));
        }
    }
    Ok((!all.is_empty()).then_some(all))
}
