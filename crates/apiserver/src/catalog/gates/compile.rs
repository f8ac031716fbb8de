//! From rows of the table of fields to the nodes of the built-in types.

use std::collections::HashMap;
use std::sync::Arc;

use features::{GatedField, Rule};
use schema::{Go, Inside, Node, NodeId, Shape};

use super::{GatedNode, GatedStep};

/// Rows by the type that they are about. Nodes of one type share its Go type.
type Rows = HashMap<*const Go, Vec<&'static GatedField>>;

/// For each node of the built-in types: what is off there or below.
pub(super) fn nodes(off: &[&'static GatedField]) -> Vec<Option<Box<GatedNode>>> {
    let builtin = schema::builtin();
    let mut rows = Rows::new();
    for row in off {
        let found = builtin.named(&type_name(row));
        let go = found.and_then(|it| it.place().node().go.as_ref().map(Arc::as_ptr));
        if let Some(go) = go {
            rows.entry(go).or_default().push(row);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let arena = &builtin.arena().nodes;
    let leads = leading(arena, &rows);
    let gated = (arena.iter().zip(&leads)).map(|(node, is_on_the_way)| {
        is_on_the_way.then(|| Box::new(gated(arena, node, &rows, &leads)))
    });
    gated.collect()
}

/// The name of a row's type in documents.
pub(super) fn type_name(row: &GatedField) -> String {
    let prefix = match row.package.split('/').next() {
        Some("apiextensions") => "io.k8s.apiextensions-apiserver.pkg.apis",
        Some("meta") => "io.k8s.apimachinery.pkg.apis",
        _ => "io.k8s.api",
    };
    let package = row.package.replace('/', ".");
    format!("{prefix}.{package}.{}", row.type_name)
}

fn gated(arena: &[Node], node: &Node, rows: &Rows, leads: &[bool]) -> GatedNode {
    let next = |id: NodeId| leads[id.0 as usize].then_some(id);
    let own = of_type(node, rows);
    let mut made = GatedNode {
        values: own.iter().filter(|it| it.is_value).copied().collect(),
        ..GatedNode::default()
    };
    match &node.shape {
        Shape::Object { fields, .. } => {
            let own = of_object(arena, node, rows);
            for field in fields {
                let below = of_type(&arena[field.node.0 as usize], rows);
                let named = own.iter().find(|it| it.field == &*field.name);
                let hidden = named.is_some();
                let named = named.filter(|it| it.rule != Rule::Holder);
                let off = named.or_else(|| below.iter().find(|it| it.rule == Rule::Holder));
                let step = GatedStep {
                    name: field.name.clone(),
                    off: off.copied(),
                    hidden,
                    next: next(field.node),
                };
                if step.hidden || step.off.is_some() || step.next.is_some() {
                    made.fields.push(step);
                }
            }
        }
        Shape::List { items, .. } => made.inner = next(*items),
        Shape::Map { values, .. } => made.inner = next(*values),
        _ => {}
    }
    made
}

fn of_type<'a>(node: &Node, rows: &'a Rows) -> &'a [&'static GatedField] {
    let go = node.go.as_ref().map(Arc::as_ptr);
    let found = go.and_then(|it| rows.get(&it));
    found.map_or(&[], Vec::as_slice)
}

/// With the rows of structs whose fields stand among the object's.
fn of_object(arena: &[Node], node: &Node, rows: &Rows) -> Vec<&'static GatedField> {
    let mut all: Vec<_> = of_type(node, rows).to_vec();
    for member in node.go.iter().flat_map(|it| &it.members) {
        if let Inside::Inlined(id) = member.what {
            all.extend(of_object(arena, &arena[id.0 as usize], rows));
        }
    }
    all.retain(|it| !it.is_value);
    all
}

/// Which nodes are something that is off, or lead to it: backwards along all edges from those that are.
fn leading(arena: &[Node], rows: &Rows) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); arena.len()];
    let mut next = Vec::new();
    for (at, node) in arena.iter().enumerate() {
        let mut edge = |to: NodeId| before[to.0 as usize].push(at);
        match &node.shape {
            Shape::Object { fields, .. } => fields.iter().for_each(|it| edge(it.node)),
            Shape::List { items, .. } => edge(*items),
            Shape::Map { values, .. } => edge(*values),
            _ => {}
        }
        if !of_type(node, rows).is_empty() || !of_object(arena, node, rows).is_empty() {
            next.push(at);
        }
    }
    let mut leads = vec![false; arena.len()];
    while let Some(at) = next.pop() {
        if !std::mem::replace(&mut leads[at], true) {
            next.append(&mut before[at]);
        }
    }
    leads
}
