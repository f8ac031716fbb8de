//! JSON values as trees, which are written as go-yaml v3 marshals the values: keys in natural order.

use json::{Number, Value};

use super::order::sort;
use super::values::number_text;
use crate::resolve::{Rules, is_base60, tag_of};
use crate::{Node, Style, is_non_string};

impl From<&Value> for Node {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::scalar("!!null", "null"),
            Value::Bool(it) => Self::scalar("!!bool", it.to_string()),
            Value::Number(it) => {
                let text = number_text(*it);
                let is_int = matches!(it, Number::Int(_)) || tag_of(&text) == "!!int";
                Self::scalar(if is_int { "!!int" } else { "!!float" }, text)
            }
            Value::String(text) => quoted(text),
            Value::Array(items) => Self::sequence(items.iter().map(Self::from)),
            Value::Object(object) => {
                let mut pairs: Vec<_> = object.iter().map(|(k, v)| (k.as_str(), v)).collect();
                sort(&mut pairs, 0, Rules::V3);
                let pairs = pairs.into_iter();
                Self::mapping(pairs.map(|(key, value)| (quoted(key), Self::from(value))))
            }
        }
    }
}

/// Quoted also where only YAML 1.1 would read something else.
fn quoted(text: &str) -> Node {
    let mut node = Node::string(text);
    let odd = tag_of(text) != "!!str" || is_base60(text) || is_old_bool(text);
    if node.style == Style::Plain && odd {
        node.style = Style::DoubleQuoted;
    }
    node
}

fn is_old_bool(text: &str) -> bool {
    text.len() <= 3 && text.bytes().all(|it| it.is_ascii_alphabetic()) && is_non_string(text)
}
