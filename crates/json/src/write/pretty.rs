//! Text for people: one pair or item a line, as Go's `MarshalIndent` lays it out. kubectl indents by four spaces.

use super::{write, write_str};
use crate::Value;

pub fn to_string_pretty(value: &Value, indent: &str) -> String {
    let mut out = Vec::with_capacity(1024);
    write_pretty(&mut out, value, indent);
    String::from_utf8(out).expect("all that is written is UTF-8")
}

/// Recurses as deep as the value is, which the parser bounds. There is no newline at the end.
pub fn write_pretty(out: &mut Vec<u8>, value: &Value, indent: &str) {
    nested(out, value, indent, 0);
}

fn nested(out: &mut Vec<u8>, value: &Value, indent: &str, depth: usize) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                out.push(if index == 0 { b'[' } else { b',' });
                new_line(out, indent, depth + 1);
                nested(out, item, indent, depth + 1);
            }
            new_line(out, indent, depth);
            out.push(b']');
        }
        Value::Object(object) if !object.is_empty() => {
            for (index, (key, value)) in object.iter().enumerate() {
                out.push(if index == 0 { b'{' } else { b',' });
                new_line(out, indent, depth + 1);
                write_str(out, key);
                out.extend_from_slice(b": ");
                nested(out, value, indent, depth + 1);
            }
            new_line(out, indent, depth);
            out.push(b'}');
        }
        _ => write(out, value),
    }
}

fn new_line(out: &mut Vec<u8>, indent: &str, depth: usize) {
    out.push(b'\n');
    for _ in 0..depth {
        out.extend_from_slice(indent.as_bytes());
    }
}
