//! Values as Go's `%#v` shows them, for errors.

use std::fmt::Write as _;

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

/// As `strconv.Quote`.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        match it {
            '"' | '\\' => {
                out.push('\\');
                out.push(it);
            }
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0C' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0B' => out.push_str("\\v"),
            ' '..='~' => out.push(it),
            _ if is_shown(it) => out.push(it),
            _ => {
                let code = u32::from(it);
                _ = match code {
                    0..=0x7F => write!(out, "\\x{code:02x}"),
                    0x80..=0xFFFF => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

/// Rust's own escapes tell what is printable, but for a mark at the start of a text.
fn is_shown(it: char) -> bool {
    let mut behind = String::from("a");
    behind.push(it);
    behind.escape_debug().eq(behind.chars())
}
