//! Values in the words of Go's fmt, where upstream's error texts show them.

use std::fmt::Write as _;

use encoding::go::quote;
use json::{Number, Value};

/// `%v`: maps with sorted keys, no quotes.
pub fn v(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(it) => _ = write!(out, "{it}"),
        Value::Number(Number::Int(it)) => _ = write!(out, "{it}"),
        Value::Number(Number::Float(it)) => {
            out.push_str(&json::to_string(&Number::Float(*it).into()));
        }
        Value::String(it) => out.push_str(it),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                write(out, item);
            }
            out.push(']');
        }
        Value::Object(object) => {
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            out.push_str("map[");
            for (index, (key, value)) in pairs.into_iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                write(out, value);
            }
            out.push(']');
        }
    }
}

/// The Go type that a JSON value is decoded to.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(Number::Int(_)) => "int64",
        Value::Number(Number::Float(_)) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// What encoding/json calls a value in its errors.
pub(crate) fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `%#v`: as Go source would write it.
pub(crate) fn sharp_v(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".into(),
        Value::String(it) => quote(it),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(sharp_v).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(object) => {
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            let pairs = pairs
                .into_iter()
                .map(|(key, value)| format!("{}:{}", quote(key), sharp_v(value)));
            let pairs: Vec<_> = pairs.collect();
            format!("map[string]interface {{}}{{{}}}", pairs.join(", "))
        }
        other => v(other),
    }
}
