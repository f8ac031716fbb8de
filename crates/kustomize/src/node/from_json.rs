//! From JSON, as kyaml comes back from a JSON patch: through Go's maps, where all numbers are float64, and YAML text.

use json::{Number, Value};

use super::{Node, parse_document};
use crate::error::Result;

/// An object.
pub(crate) fn from_patched(value: &Value) -> Result<Node> {
    let tree = yaml::Node::from(&as_floats(value));
    let text = yaml::to_string(&[tree], yaml::Options::default())?;
    Ok(parse_document(&text)?.unwrap_or_else(Node::map))
}

fn as_floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(Number::Float(number.as_f64())),
        Value::Array(items) => Value::Array(items.iter().map(as_floats).collect()),
        Value::Object(object) => {
            let pairs = object.iter();
            let pairs = pairs.map(|(key, value)| (key.clone(), as_floats(value)));
            Value::Object(pairs.collect())
        }
        other => other.clone(),
    }
}
