//! Hot path. Text, byte for byte as Go's encoding/json writes it: `<`, `>`, `&`, U+2028 and U+2029 are escaped, floats
//! take the shortest form, with an exponent below 1e-6 and from 1e21 on.

mod number;
mod pretty;
mod string;

pub use self::pretty::{to_string_pretty, write_pretty};
pub use self::string::write_str;

use crate::{Number, Value};

pub fn to_vec(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    write(&mut out, value);
    out
}

pub fn to_string(value: &Value) -> String {
    String::from_utf8(to_vec(value)).expect("all that is written is UTF-8")
}

/// Recurses as deep as the value is, which the parser bounds.
pub fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::String(it) => write_str(out, it),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(out, item);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (index, (key, value)) in object.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_str(out, key);
                out.push(b':');
                write(out, value);
            }
            out.push(b'}');
        }
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(Number::Int(it)) => number::write_int(out, *it),
        Value::Number(Number::Float(it)) => number::write_float(out, *it),
    }
}

#[cfg(test)]
mod tests;
