//! To go-yaml's tree and text, for messages, for functions and for documents inside of strings.

use std::borrow::Cow;

use super::{Data, Node, Tag};

pub(crate) fn to_yaml(node: &Node) -> String {
    yaml::to_string(&[to_tree(node)], yaml::Options::default()).unwrap_or_default()
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
