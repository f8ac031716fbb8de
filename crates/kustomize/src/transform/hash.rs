//! Names that tell what is inside.

use aws_lc_rs::digest::{SHA256, digest};
use json::{Object, Value};

use crate::error::Result;
use crate::node::{Data, Node, Style, Tag, to_value};
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transformer;

pub(crate) struct Hash;

impl Transformer for Hash {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        if !map.iter().any(crate::resource::Resource::needs_hash) {
            return Ok(());
        }
        for resource in map.list_mut() {
            if !resource.needs_hash() {
                continue;
            }
            let hash = hash(&resource.node)?;
            resource.store_previous_id()?;
            let name = format!("{}-{hash}", resource.node.name());
            resource.node.set_name(name.into())?;
        }
        Ok(())
    }
}

fn hash(node: &Node) -> Result<String> {
    let text = match node.object_kind().as_str() {
        kind @ "ConfigMap" => json::to_vec(&data_of(node, kind, &["data"], "binaryData")?),
        kind @ "Secret" => json::to_vec(&data_of(node, kind, &["data", "type"], "stringData")?),
        _ => {
            let mut out = Vec::new();
            write_node(&mut out, node);
            out
        }
    };
    let sum = digest(&SHA256, &text);
    let hex = sum.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]);
    // So that no bad words appear.
    let letter = |digit: u8| match digit {
        0 => 'g',
        1 => 'h',
        3 => 'k',
        10 => 'm',
        14 => 't',
        digit => char::from_digit(digit.into(), 16).unwrap_or('x'),
    };
    Ok(hex.take(10).map(letter).collect())
}

/// What of a `ConfigMap` or Secret counts. The name is always empty: upstream looks for it in the wrong place.
fn data_of(node: &Node, kind: &str, always: &[&str], sometimes: &str) -> Result<Value> {
    let mut object = Object::new();
    for field in always {
        object.insert(*field, part(node, field)?);
    }
    if let found @ Value::Object(_) = part(node, sometimes)? {
        object.insert(sometimes, found);
    }
    object.insert("kind", kind);
    object.insert("name", "");
    object.sort_keys();
    Ok(Value::Object(object))
}

fn part(node: &Node, field: &str) -> Result<Value> {
    let Some(found) = node.field(field)? else {
        return Ok("".into());
    };
    if let Data::Scalar(text) = &found.data {
        return Ok(text.into());
    }
    let mut value = to_value(found)?;
    match &mut value {
        Value::Object(object) => object.sort_keys(),
        // Not what it should be: Go's map stays nil.
        _ => value = Value::Null,
    }
    Ok(value)
}

/// go-yaml's node as Go's JSON shows it.
fn write_node(out: &mut Vec<u8>, node: &Node) {
    let (emptied, remains) = node.remains();
    let (kind, value) = match &node.data {
        Data::Scalar(text) => (8, text),
        Data::Map(_) => (4, &remains),
        Data::Seq(_) => (2, &remains),
    };
    let rare = node.rare().unwrap_or_default();
    let style = match node.style {
        Style::Plain => 0,
        Style::DoubleQuoted => 2,
        Style::SingleQuoted => 4,
        Style::Literal => 8,
        Style::Folded => 16,
        Style::Flow => 32,
    };
    let style = style | u8::from(rare.tag.is_some());
    let tag = match node.tag {
        _ if rare.tag.is_some() => rare.tag.as_deref().unwrap_or_default(),
        Tag::None | Tag::Other => "",
        Tag::Null => "!!null",
        Tag::Bool => "!!bool",
        Tag::Int => "!!int",
        Tag::Float => "!!float",
        Tag::Str => "!!str",
        Tag::Timestamp => "!!timestamp",
        Tag::Binary => "!!binary",
        Tag::Merge => "!!merge",
        Tag::Map => "!!map",
        Tag::Seq => "!!seq",
    };
    out.extend_from_slice(format!("{{\"Kind\":{kind},\"Style\":{style},\"Tag\":").as_bytes());
    json::write_str(out, tag);
    out.extend_from_slice(b",\"Value\":");
    json::write_str(out, value);
    out.extend_from_slice(b",\"Anchor\":\"\",\"Alias\":null,\"Content\":");
    let children: Vec<&Node> = match &node.data {
        Data::Scalar(_) => Vec::new(),
        Data::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
        Data::Seq(items) => items.iter().collect(),
    };
    if children.is_empty() {
        out.extend_from_slice(if emptied { b"[]" } else { b"null" });
    } else {
        out.push(b'[');
        for (at, child) in children.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_node(out, child);
        }
        out.push(b']');
    }
    for (name, comment) in [
        ("HeadComment", &rare.head),
        ("LineComment", &rare.line),
        ("FootComment", &rare.foot),
    ] {
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        json::write_str(out, comment);
    }
    let (line, column) = node.position();
    out.extend_from_slice(format!(",\"Line\":{line},\"Column\":{column}}}").as_bytes());
}
