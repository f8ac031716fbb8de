//! Documents inside of strings: a path may lead on into YAML or JSON text.

use json::Value;

use crate::error::Result;
use crate::node::{Create, Kind, Node, parse_document, to_value, to_yaml};

/// Sets a value inside of a document that a scalar on the way holds. False if there is no such document or field.
pub(super) fn set(
    node: &mut Node,
    value: &Node,
    path: &[String],
    create: Create,
) -> Result<bool> {
    let Some((at, text)) = find_document(node, path) else {
        return Ok(false);
    };
    let Ok(Some(mut document)) = parse_document(&text) else {
        return Ok(false);
    };
    let found = document.visit_matches(&path[at..], create, &mut |field| {
        if field.kind() == Kind::Scalar {
            field.set_text(value.raw());
        } else {
            *field = value.clone();
        }
        Ok(())
    });
    if !matches!(found, Ok(count) if count > 0) {
        return Ok(false);
    }
    let Some(new) = write(&document, &text) else {
        return Ok(false);
    };
    if let Ok(Some(scalar)) = node.lookup_mut(&path[..at]) {
        scalar.set_text(&new);
    }
    Ok(true)
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
fn write(document: &Node, original: &str) -> Option<String> {
    if !original.trim_start().starts_with(['{', '[']) {
        return Some(to_yaml(document).trim().to_owned());
    }
    let mut value = to_value(document).ok()?;
    sort(&mut value);
    let pretty = original.contains('\n') && original.contains("  ");
    Some(if pretty {
        json::to_string_pretty(&value, "  ")
    } else {
        json::to_string(&value)
    })
}

fn sort(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.sort_keys();
            object.values_mut().for_each(sort);
        }
        Value::Array(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}
