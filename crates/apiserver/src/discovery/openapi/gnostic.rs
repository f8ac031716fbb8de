//! Documents as protobuf: the messages of gnostic, which client-go asks for. The messages are tables.

mod v2;
mod v3;

use json::{Number, Object, Value};

use super::dialect::Dialect;

pub(super) fn encode(dialect: Dialect, document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let of = match dialect {
        Dialect::V2 => &v2::DOCUMENT,
        Dialect::V3 => &v3::DOCUMENT,
    };
    message(&mut out, of, document);
    out
}

/// One pair of a map of the document of version 2, such as a path.
pub(super) fn entry(section: &str, key: &str, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some((_, inside, of)) = section_of(section) {
        pair(&mut out, inside, of, key, value);
    }
    out
}

/// What stands before the pairs of a map, which have this length.
pub(super) fn head(section: &str, length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some((number, ..)) = section_of(section) {
        tag(&mut out, number, 2);
        varint(&mut out, length as u64);
    }
    out
}

fn section_of(name: &str) -> Option<(u32, u32, &'static What)> {
    let (_, number, what) = v2::DOCUMENT.fields.iter().find(|it| it.0 == name)?;
    match what {
        What::Map(inside, of) => Some((*number, *inside, of)),
        _ => None,
    }
}

struct Message {
    /// The key in JSON, the field's number and what it holds.
    fields: &'static [(&'static str, u32, What)],
    /// The number of the field that holds what begins with `x-`.
    extensions: u32,
}

enum What {
    Text,
    Texts,
    Bool,
    Int,
    Double,
    Anys,
    One(&'static Message),
    /// Each item of a list.
    Each(&'static What),
    /// A message whose field of this number holds pairs of a name and a value.
    Map(u32, &'static What),
    /// A message whose only field, of this number, holds the value.
    Within(u32, &'static What),
    /// A message that holds the one, or a reference to it.
    OrReference(&'static Message),
    /// A schema or a boolean.
    Additional(&'static What),
    /// A number, a boolean or a string; others leave it empty.
    Default,
    /// Of version 2.
    Parameter,
    ParameterOrReference,
    Requirements,
}

fn message(out: &mut Vec<u8>, of: &Message, value: &Value) {
    for (key, value) in value.as_object().into_iter().flat_map(Object::iter) {
        if let Some((_, number, what)) = of.fields.iter().find(|it| it.0 == &**key) {
            field(out, *number, what, value);
        } else if key.starts_with("x-") {
            nest(out, of.extensions, |out| {
                text(out, 1, key);
                nest(out, 2, |out| any(out, value));
            });
        }
    }
}

fn field(out: &mut Vec<u8>, number: u32, what: &What, value: &Value) {
    let items = || value.as_array().into_iter().flatten();
    match what {
        What::Text => text(out, number, value.as_str().unwrap_or_default()),
        What::Texts => items().for_each(|it| text(out, number, it.as_str().unwrap_or_default())),
        What::Bool => varint_field(out, number, u64::from(value.as_bool() == Some(true))),
        What::Int => varint_field(
            out,
            number,
            value.as_i64().unwrap_or_default().cast_unsigned(),
        ),
        What::Double => double(out, number, value.as_number()),
        What::Anys => items().for_each(|it| nest(out, number, |out| any(out, it))),
        What::One(of) => nest(out, number, |out| message(out, of, value)),
        What::Each(of) => items().for_each(|it| field(out, number, of, it)),
        What::Map(inside, of) => nest(out, number, |out| map(out, *inside, of, value)),
        What::Within(inside, of) => {
            nest(out, number, |out| field(out, *inside, of, value));
        }
        What::OrReference(of) => nest(out, number, |out| match value.str_at(&["$ref"]) {
            Some(target) => nest(out, 2, |out| text(out, 1, target)),
            None => nest(out, 1, |out| message(out, of, value)),
        }),
        What::Additional(of) => nest(out, number, |out| match value.as_bool() {
            Some(allowed) => varint_field(out, 2, u64::from(allowed)),
            None => field(out, 1, of, value),
        }),
        What::Default => default(out, number, value),
        What::ParameterOrReference => nest(out, number, |out| match value.str_at(&["$ref"]) {
            Some(target) => nest(out, 2, |out| text(out, 1, target)),
            None => nest(out, 1, |out| parameter(out, value)),
        }),
        What::Parameter => nest(out, number, |out| parameter(out, value)),
        What::Requirements => {
            // Each names a scheme, and scopes that ours have none of.
            for (scheme, _) in items().filter_map(Value::as_object).flat_map(Object::iter) {
                nest(out, number, |out| {
                    nest(out, 1, |out| {
                        text(out, 1, scheme);
                        nest(out, 2, |_| {});
                    });
                });
            }
        }
    }
}

/// Pairs of a name and a value.
fn map(out: &mut Vec<u8>, inside: u32, of: &What, value: &Value) {
    for (key, value) in value.as_object().into_iter().flat_map(Object::iter) {
        pair(out, inside, of, key, value);
    }
}

fn pair(out: &mut Vec<u8>, inside: u32, of: &What, key: &str, value: &Value) {
    nest(out, inside, |out| {
        text(out, 1, key);
        field(out, 2, of, value);
    });
}

fn default(out: &mut Vec<u8>, number: u32, value: &Value) {
    match value {
        Value::Number(it) => nest(out, number, |out| double(out, 1, Some(*it))),
        Value::Bool(it) => nest(out, number, |out| varint_field(out, 2, u64::from(*it))),
        Value::String(it) => nest(out, number, |out| text(out, 3, it)),
        _ => nest(out, number, |_| {}),
    }
}

fn double(out: &mut Vec<u8>, number: u32, value: Option<Number>) {
    tag(out, number, 1);
    out.extend(value.map_or(0.0, Number::as_f64).to_le_bytes());
}

fn parameter(out: &mut Vec<u8>, value: &Value) {
    match value.str_at(&["in"]) {
        Some("body") => nest(out, 1, |out| message(out, &v2::PARAMETER_BODY, value)),
        Some("path") => nest(out, 2, |out| {
            nest(out, 4, |out| message(out, &v2::PARAMETER_PATH, value));
        }),
        _ => nest(out, 2, |out| {
            nest(out, 3, |out| message(out, &v2::PARAMETER_QUERY, value));
        }),
    }
}

/// Any value is YAML in text.
fn any(out: &mut Vec<u8>, value: &Value) {
    text(out, 2, &yaml::value_to_string(value));
}

fn text(out: &mut Vec<u8>, number: u32, value: &str) {
    tag(out, number, 2);
    varint(out, value.len() as u64);
    out.extend(value.as_bytes());
}

fn varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    tag(out, number, 0);
    varint(out, value);
}

/// A message in this one, with its length before it.
fn nest(out: &mut Vec<u8>, number: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    tag(out, number, 2);
    let start = out.len();
    fill(out);
    let length = out.len() - start;
    let mut prefix = Vec::with_capacity(4);
    varint(&mut prefix, length as u64);
    out.splice(start..start, prefix);
}

fn tag(out: &mut Vec<u8>, number: u32, wire: u8) {
    varint(out, u64::from(number) << 3 | u64::from(wire));
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn a_small_document_is_laid_out_as_gnostic_reads_it() {
        let document = json!({
            "swagger": "2.0",
            "definitions": {"a": {"type": "string", "x-k": [1]}},
            "security": [{"T": []}],
        });
        let mut want = b"\x0a\x032.0".to_vec();
        // definitions { 1: { name "a", value { type { "string" }, extension { "x-k", { yaml "- 1\n" } } } } }
        want.extend(b"\x4a\x22\x0a\x20\x0a\x01a\x12\x1b\xb2\x01\x08\x0a\x06string");
        want.extend(b"\xfa\x01\x0d\x0a\x03x-k\x12\x06\x12\x04- 1\n");
        want.extend(b"\x62\x07\x0a\x05\x0a\x01T\x12\x00");
        assert_eq!(encode(Dialect::V2, &document), want);
    }
}
