//! The type of a custom resource with the metadata that every object has.

use std::collections::HashMap;
use std::sync::Arc;

use crate::structural::Rules;
use crate::{Arena, Field, Format, MapType, Node, NodeId, Schema, Shape, builtin};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// A definition's schema says little of `metadata`, and need not name apiVersion and kind: they are as everywhere.
pub fn with_object_meta(schema: &Schema) -> Schema {
    let mut nodes = schema.arena.nodes.clone();
    let string = push(
        &mut nodes,
        Node {
            shape: Shape::String,
            ..Node::default()
        },
    );
    let metadata = builtin().named(OBJECT_META).map(|it| {
        let mut copied = HashMap::new();
        import(&it.arena, it.root, &mut nodes, &mut copied)
    });
    let own = [
        ("apiVersion", Some(string)),
        ("kind", Some(string)),
        ("metadata", metadata),
    ];
    let own = own.map(|(name, node)| {
        node.map(|node| Field {
            name: name.into(),
            node,
            required: false,
        })
    });
    let root = &mut nodes[schema.root.0 as usize];
    root.rules = None::<Arc<Rules>>;
    add_to(root, own.iter().flatten());
    // So have objects in it.
    for node in &mut nodes {
        if node.embedded && matches!(node.shape, Shape::Object { .. } | Shape::Any) {
            add_to(node, own.iter().flatten());
        }
    }
    Schema {
        arena: Arc::new(Arena { nodes }),
        root: schema.root,
    }
}

/// They take the place of what the schema says of them.
fn add_to<'a>(node: &mut Node, own: impl Iterator<Item = &'a Field>) {
    let (mut fields, map_type) = match std::mem::take(&mut node.shape) {
        Shape::Object { fields, map_type } => (fields.into_vec(), map_type),
        _ => (Vec::new(), MapType::Granular),
    };
    fields.retain(|field| !matches!(&*field.name, "apiVersion" | "kind" | "metadata"));
    fields.extend(own.cloned());
    let fields = fields.into();
    node.shape = Shape::Object { fields, map_type };
}

fn push(nodes: &mut Vec<Node>, node: Node) -> NodeId {
    nodes.push(node);
    NodeId(u32::try_from(nodes.len() - 1).unwrap_or(u32::MAX))
}

/// Copies a node with all that it leads to. Nodes that lead to themselves are copied once.
fn import(
    from: &Arena,
    id: NodeId,
    nodes: &mut Vec<Node>,
    copied: &mut HashMap<NodeId, NodeId>,
) -> NodeId {
    if let Some(known) = copied.get(&id) {
        return *known;
    }
    let mut node = from.nodes[id.0 as usize].clone();
    let new = push(nodes, Node::default());
    copied.insert(id, new);
    match &mut node.shape {
        Shape::Object { fields, .. } => {
            fields.for_each_node(|node| import(from, node, nodes, copied));
        }
        Shape::Map { values, .. } => *values = import(from, *values, nodes, copied),
        Shape::List { items, .. } => *items = import(from, *items, nodes, copied),
        _ => {}
    }
    if let Format::SchemaOrArray(_) | Format::SchemaOrBool(_) | Format::SchemaOrStrings(_) =
        node.format
    {
        node.format = Format::Json;
    }
    node.go = None;
    nodes[new.0 as usize] = node;
    new
}
