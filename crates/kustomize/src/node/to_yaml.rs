//! To go-yaml's tree and text, for messages, for functions and for documents inside of strings.

use std::borrow::Cow;

use super::{Data, Node, Tag};

pub(crate) fn to_yaml(node: &Node) -> String {
    yaml::to_string(&[to_tree(node)], yaml::Options::default()).unwrap_or_default()
}

/// With the comments that it was read with, for people.
pub(crate) fn to_commented_yaml(node: &Node) -> String {
    let mut tree = to_tree(node);
    add_comments(&mut tree, node);
    yaml::to_string(&[tree], yaml::Options::default()).unwrap_or_default()
}

fn add_comments(tree: &mut yaml::Node, node: &Node) {
    if let Some(rare) = node.rare() {
        tree.set_head_comment(rare.head);
        tree.set_line_comment(rare.line);
        tree.set_foot_comment(rare.foot);
        if let Some(tag) = rare.tag {
            tree.tag = tag.into();
            tree.tagged = true;
        }
    }
    let children: Vec<&Node> = match &node.data {
        Data::Scalar(_) => return,
        Data::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
        Data::Seq(items) => items.iter().collect(),
    };
    for (tree, node) in tree.content.iter_mut().zip(children) {
        add_comments(tree, node);
    }
}

pub(crate) fn to_tree(node: &Node) -> yaml::Node {
    let mut out = match &node.data {
        Data::Scalar(text) => yaml::Node::scalar("", text.as_str()),
        Data::Map(pairs) => yaml::Node::mapping(
            pairs
                .iter()
                .map(|(key, value)| (to_tree(key), to_tree(value))),
        ),
        Data::Seq(items) => yaml::Node::sequence(items.iter().map(to_tree)),
    };
    out.style = node.style;
    out.tag = Cow::Borrowed(name(node.tag));
    out
}

fn name(tag: Tag) -> &'static str {
    match tag {
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
    }
}
