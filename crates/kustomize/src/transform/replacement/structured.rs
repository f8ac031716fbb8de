//! Documents inside of strings: a path may lead on into YAML or JSON text. Here the tree keeps its comments.

mod visit;

use crate::node::{Create, Kind, Node, to_tree};
use visit::visit;

/// Sets a value inside of a document that a scalar on the way holds. False if there is no such document or field.
pub(super) fn set(node: &mut Node, value: &Node, path: &[String], create: Create) -> bool {
    let Some((at, text)) = find_document(node, path) else {
        return false;
    };
    let Ok(Some(mut document)) = yaml::parse_first(text.as_bytes()) else {
        return false;
    };
    let Some(root) = document.content.first_mut() else {
        return false;
    };
    let new = to_tree(value);
    let found = visit(root, &path[at..], create, &mut |field| {
        if field.kind == yaml::Kind::Scalar {
            field.value.clone_from(&new.value);
        } else {
            *field = new.clone();
        }
    });
    if found.is_none_or(|count| count == 0) {
        return false;
    }
    let (Some(new), Ok(Some(scalar))) = (write(&document, &text), node.lookup_mut(&path[..at]))
    else {
        return false;
    };
    scalar.set_text(&new);
    true
}

/// How many parts of the path lead to the first scalar that reads as YAML, and its text.
fn find_document(node: &Node, path: &[String]) -> Option<(usize, String)> {
    for at in 1..path.len() {
        let Ok(Some(found)) = node.lookup(&path[..at]) else {
            continue;
        };
        if found.kind() == Kind::Scalar && yaml::parse_first(found.raw().as_bytes()).is_ok() {
            return Some((at, found.raw().to_string()));
        }
    }
    None
}

/// In the form it was found in.
fn write(document: &yaml::Node, original: &str) -> Option<String> {
    if !original.trim_start().starts_with(['{', '[']) {
        let text = yaml::to_string(std::slice::from_ref(document), yaml::Options::default());
        return text.ok().map(|it| it.trim().to_owned());
    }
    let mut value = document.to_value().ok()?;
    value.sort_keys();
    let pretty = original.contains('\n') && original.contains("  ");
    Some(if pretty {
        json::to_string_pretty(&value, "  ")
    } else {
        json::to_string(&value)
    })
}
