//! Resources from text.

use json::Value;

use crate::error::{Error, Result};
use crate::loader::Loader;
use crate::node::source::{self, count_lines};
use crate::node::{Node, parse_document_at, split_documents, to_value, unix_lines};
use crate::resmap::ResMap;
use crate::resource::Resource;

/// All resources of a stream; lists are taken apart.
pub(crate) fn from_text(text: &str) -> Result<Vec<Resource>> {
    let mut nodes = read(text)?;
    check(&mut nodes)?;
    let mut done = Vec::with_capacity(nodes.len());
    let mut left = std::collections::VecDeque::from(nodes);
    while let Some(node) = left.pop_front() {
        let kind = node.object_kind();
        if !kind.ends_with("List") || node.get("items").is_none() {
            done.push(Resource::new(node));
            continue;
        }
        let value = to_value(&node)
            .map_err(|error| error.wrap(format!("trouble expanding list of {kind}")))?;
        match value.get("items") {
            Some(Value::Array(items)) => {
                for item in items {
                    let mut item = item.clone();
                    item.sort_keys();
                    let mut more = read(&json::to_string(&item))?;
                    check(&mut more)?;
                    left.extend(more);
                }
            }
            Some(Value::Null) | None => {}
            Some(other) => {
                return Err(Error::new(format!(
                    "expected array in {kind}/items, but found {}",
                    go_type(other)
                )));
            }
        }
    }
    Ok(done)
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(json::Number::Int(_)) => "int",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// All objects of a stream, whatever they are.
pub(crate) fn read(text: &str) -> Result<Vec<Node>> {
    let text = unix_lines(text);
    let documents = split_documents(&text)?;
    let single = documents.len() == 1;
    let mut nodes = Vec::with_capacity(documents.len());
    let mut lines_before = 0;
    for document in documents {
        let node = parse_document_at(document, lines_before)?;
        if !single {
            // And the separator.
            lines_before += count_lines(document) + 1;
        }
        let Some(mut node) = node else {
            continue;
        };
        let kind = node.object_kind();
        let wraps = matches!(kind.as_str(), "List" | "ResourceList")
            && (node.get("items").is_some() || node.get("functionConfig").is_some());
        if single && wraps {
            if let Some(Node {
                data: crate::node::Data::Seq(items),
                ..
            }) = node.remove("items")
            {
                nodes.extend(items);
            }
            continue;
        }
        nodes.push(node);
    }
    Ok(nodes)
}

/// Drops what is empty, refuses what is no resource.
fn check(nodes: &mut Vec<Node>) -> Result<()> {
    nodes.retain(|node| !node.is_empty());
    for node in nodes {
        node.check_meta().map_err(|error| error.at_node(node))?;
    }
    Ok(())
}

pub(crate) fn map_from_text(text: &str) -> Result<ResMap> {
    let mut map = ResMap::new();
    for resource in from_text(text)? {
        map.append(resource)?;
    }
    Ok(map)
}

pub(crate) fn map_from_file(loader: &Loader<'_>, path: &str) -> Result<ResMap> {
    let text = loader.load_text(path)?;
    source::reading(&loader.shown(path), 0, || map_from_text(&text))
        .map_err(|error| in_file(error, path))
}

/// Says which file it was, where kustomize does.
pub(crate) fn in_file(error: Error, path: &str) -> Error {
    if let Error::Undecodable(_) = error.cause() {
        return error
            .reword(|text| format!("YAML file [{path}] encounters a format error.\n{text}\n"));
    }
    if error.is_malformed_yaml() {
        return error.reword(|text| format!("{text} in File: {path}"));
    }
    error
}
