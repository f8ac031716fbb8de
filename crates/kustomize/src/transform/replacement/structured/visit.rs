//! Paths in go-yaml's tree, as [`Node::visit_matches`](crate::node::Node) has them in ours.

use yaml::{Kind as Is, Node};

use crate::node::{Create, Kind, index_number, is_list_index, kind_before, split_name_value};
use crate::regexp;

type Visit<'v> = &'v mut dyn FnMut(&mut Node);

/// How many nodes were visited; nothing if the path does not fit the tree.
pub(super) fn visit(
    node: &mut Node,
    path: &[String],
    create: Create,
    each: Visit<'_>,
) -> Option<usize> {
    let Some((part, rest)) = path.split_first() else {
        each(node);
        return Some(1);
    };
    let is_null = node.tag == "!!null";
    if let Some(index) = index_number(part) {
        items(node)?;
        if let Some(kind) = create.filter(|_| node.content.len() == index) {
            let mut new = blank(kind, rest);
            if is_null {
                // What is set on null is lost, but counts as found.
                return visit(&mut new, rest, create, each);
            }
            node.content.push(new);
        }
        return visit(node.content.get_mut(index)?, rest, create, each);
    }
    if is_list_index(part) {
        return visit_selected(node, part, rest, create, each);
    }
    if part == "*" {
        items(node)?;
        let mut count = 0;
        for item in node.content.iter_mut() {
            count += visit(item, rest, create, each)?;
        }
        return Some(count);
    }
    if !is_null && node.kind != Is::Mapping {
        return None;
    }
    if node.get(part).is_none() {
        let Some(kind) = create else {
            return Some(0);
        };
        let mut new = blank(kind, rest);
        if is_null {
            return visit(&mut new, rest, create, each);
        }
        node.content.push(Node::scalar("", part.as_str()));
        node.content.push(new);
    }
    let field = node.get_mut(part)?;
    if field.kind == Is::Scalar && !rest.is_empty() {
        // A document in a document is looked at, but not changed.
        let inner = yaml::parse_first(field.value.as_bytes()).ok()??;
        let mut inner = inner.content.into_vec().into_iter().next()?;
        return visit(&mut inner, rest, create, each);
    }
    visit(field, rest, create, each)
}

fn items(node: &Node) -> Option<()> {
    (node.kind == Is::Sequence || node.tag == "!!null").then_some(())
}

fn visit_selected(
    node: &mut Node,
    part: &str,
    rest: &[String],
    create: Create,
    each: Visit<'_>,
) -> Option<usize> {
    let (name, pattern) = split_name_value(part).ok()?;
    items(node)?;
    let regex = regexp::compile(pattern).ok()?;
    let mut count = 0;
    for item in node.content.iter_mut() {
        let found = if name.is_empty() {
            Some(&*item)
        } else {
            item.get(name)
        };
        let Some(text) = found.map(text) else {
            continue;
        };
        if !regex.is_match(text.trim()) {
            continue;
        }
        if name.is_empty() {
            each(item);
            count += 1;
        } else {
            count += visit(item, rest, create, each)?;
        }
    }
    if count > 0 || create.is_none() || !regex.is_match(pattern) {
        return Some(count);
    }
    let mut item = Node::scalar("", pattern);
    if !name.is_empty() {
        item = Node::mapping([(Node::scalar("", name), item)]);
    }
    if node.tag == "!!null" {
        return visit_selected(&mut Node::sequence([item]), part, rest, create, each);
    }
    node.content.push(item);
    visit_selected(node, part, rest, create, each)
}

fn text(node: &Node) -> String {
    let text = yaml::to_string(std::slice::from_ref(node), yaml::Options::default());
    text.unwrap_or_default()
}

fn blank(kind: Kind, rest: &[String]) -> Node {
    match kind_before(rest.first().map(String::as_str), kind) {
        Kind::Scalar => Node::scalar("", ""),
        Kind::Map => Node::mapping([]),
        Kind::Seq => Node::sequence([]),
    }
}
