//! Values as Go's `%#v` shows them, for errors.

use encoding::go::quote;
use json::{Number, Value};

use crate::resolve::{Rules, format_float};

pub(super) fn syntax(value: &Value, rules: Rules) -> String {
    match value {
        Value::Null => "<nil>".into(),
        _ => nested(value, rules),
    }
}

fn nested(value: &Value, rules: Rules) -> String {
    match value {
        Value::Null => "interface {}(nil)".into(),
        Value::Bool(it) => it.to_string(),
        Value::Number(Number::Int(it)) => it.to_string(),
        Value::Number(Number::Float(it)) => format_float(*it),
        Value::String(it) => quote(it),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|it| nested(it, rules)).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(object) => {
            let pairs = object.iter();
            let pairs: Vec<String> = pairs
                .map(|(key, value)| format!("{}:{}", quote(key), nested(value, rules)))
                .collect();
            let key = match rules {
                Rules::V2 => "interface {}",
                Rules::V3 => "string",
            };
            format!("map[{key}]interface {{}}{{{}}}", pairs.join(", "))
        }
    }
}
