//! Resources from text.

use json::Value;

use crate::error::{Error, Result};
use crate::loader::Loader;
use crate::node::{Node, parse_document, split_documents, to_value, unix_lines};
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
                    let mut more = read(&json::to_string(item))?;
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
    for document in documents {
        let Some(mut node) = parse_document(document)? else {
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
    nodes.iter().try_for_each(Node::check_meta)
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
    map_from_text(&text).map_err(|error| in_file(error, path))
}

/// Says which file it was, where kustomize does.
pub(crate) fn in_file(error: Error, path: &str) -> Error {
    let text = error.to_string();
    if text.contains("error converting YAML to JSON") || text.contains("error unmarshaling JSON") {
        return Error::new(format!(
            "YAML file [{path}] encounters a format error.\n{text}\n"
        ));
    }
    if error.is_malformed_yaml() {
        return Error::new(format!("{text} in File: {path}"));
    }
    error
}
