//! From JSON, as kyaml comes back from a JSON patch: through Go's maps, where all numbers are float64, and YAML text.

use json::Value;

use super::{Data, Node, Style, Tag, is_non_string};

pub(crate) fn from_patched(value: &Value) -> Node {
    match value {
        Value::Null => Node::tagged(Tag::Null, "null"),
        Value::Bool(it) => Node::tagged(Tag::Bool, if *it { "true" } else { "false" }),
        Value::Number(number) => {
            let text = yaml::float_text(number.as_f64());
            let tag = match yaml::tag_of_plain(&text) {
                "!!int" => Tag::Int,
                _ => Tag::Float,
            };
            Node::tagged(tag, text)
        }
        Value::String(text) => quoted(text),
        Value::Array(items) => Node::seq(items.iter().map(from_patched).collect()),
        Value::Object(object) => {
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            let pairs = pairs.into_iter();
            let mut map = Node::map();
            map.data = Data::Map(
                pairs
                    .map(|(key, value)| (quoted(key), from_patched(value)))
                    .collect(),
            );
            map
        }
    }
}

/// In the style that go-yaml gives a string.
fn quoted(text: &json::Text) -> Node {
    let mut node = Node::string(text.clone());
    if node.style == Style::Plain && is_non_string(text) {
        node.style = Style::DoubleQuoted;
    }
    node
}
