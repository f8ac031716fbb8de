//! Documents as protobuf: the messages of gnostic, which client-go asks for. The messages are tables.

mod v2;
mod v3;

use encoding::protobuf;
use json::{Number, Object, Value};

use super::dialect::Dialect;

pub(super) fn encode(dialect: Dialect, document: &Value) -> Vec<u8> {
    let mut out = protobuf::Message::default();
    let of = match dialect {
        Dialect::V2 => &v2::DOCUMENT,
        Dialect::V3 => &v3::DOCUMENT,
    };
    message(&mut out, of, document);
    out.0
}

/// One pair of a map of the document of version 2, such as a path.
pub(super) fn entry(section: &str, key: &str, value: &Value) -> Vec<u8> {
    let mut out = protobuf::Message::default();
    if let Some((_, inside, of)) = section_of(section) {
        pair(&mut out, inside, of, key, value);
    }
    out.0
}

/// What stands before the pairs of a map, which have this length.
pub(super) fn head(section: &str, length: usize) -> Vec<u8> {
    let mut out = protobuf::Message::default();
    if let Some((number, ..)) = section_of(section) {
        out.length(number, length);
    }
    out.0
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

fn message(out: &mut protobuf::Message, of: &Message, value: &Value) {
    for (key, value) in value.as_object().into_iter().flat_map(Object::iter) {
        if let Some((_, number, what)) = of.fields.iter().find(|it| it.0 == &**key) {
            field(out, *number, what, value);
        } else if key.starts_with("x-") {
            out.message(of.extensions, |out| {
                out.text(1, key);
                out.message(2, |out| any(out, value));
            });
        }
    }
}

fn field(out: &mut protobuf::Message, number: u32, what: &What, value: &Value) {
    let items = || value.as_array().into_iter().flatten();
    match what {
        What::Text => out.text(number, value.as_str().unwrap_or_default()),
        What::Texts => items().for_each(|it| out.text(number, it.as_str().unwrap_or_default())),
        What::Bool => out.number(number, u64::from(value.as_bool() == Some(true))),
        What::Int => out.number(number, value.as_i64().unwrap_or_default().cast_unsigned()),
        What::Double => double(out, number, value.as_number()),
        What::Anys => items().for_each(|it| out.message(number, |out| any(out, it))),
        What::One(of) => out.message(number, |out| message(out, of, value)),
        What::Each(of) => items().for_each(|it| field(out, number, of, it)),
        What::Map(inside, of) => out.message(number, |out| map(out, *inside, of, value)),
        What::Within(inside, of) => {
            out.message(number, |out| field(out, *inside, of, value));
        }
        What::OrReference(of) => out.message(number, |out| match value.str_at(&["$ref"]) {
            Some(target) => out.message(2, |out| out.text(1, target)),
            None => out.message(1, |out| message(out, of, value)),
        }),
        What::Additional(of) => out.message(number, |out| match value.as_bool() {
            Some(allowed) => out.number(2, u64::from(allowed)),
            None => field(out, 1, of, value),
        }),
        What::Default => default(out, number, value),
        What::ParameterOrReference => out.message(number, |out| match value.str_at(&["$ref"]) {
            Some(target) => out.message(2, |out| out.text(1, target)),
            None => out.message(1, |out| parameter(out, value)),
        }),
        What::Parameter => out.message(number, |out| parameter(out, value)),
        What::Requirements => {
            // Each names a scheme, and scopes that ours have none of.
            for (scheme, _) in items().filter_map(Value::as_object).flat_map(Object::iter) {
                out.message(number, |out| {
                    out.message(1, |out| {
                        out.text(1, scheme);
                        out.message(2, |_| {});
                    });
                });
            }
        }
    }
}

/// Pairs of a name and a value.
fn map(out: &mut protobuf::Message, inside: u32, of: &What, value: &Value) {
    for (key, value) in value.as_object().into_iter().flat_map(Object::iter) {
        pair(out, inside, of, key, value);
    }
}

fn pair(out: &mut protobuf::Message, inside: u32, of: &What, key: &str, value: &Value) {
    out.message(inside, |out| {
        out.text(1, key);
        field(out, 2, of, value);
    });
}

fn default(out: &mut protobuf::Message, number: u32, value: &Value) {
    match value {
        Value::Number(it) => out.message(number, |out| double(out, 1, Some(*it))),
        Value::Bool(it) => out.message(number, |out| out.number(2, u64::from(*it))),
        Value::String(it) => out.message(number, |out| out.text(3, it)),
        _ => out.message(number, |_| {}),
    }
}

fn double(out: &mut protobuf::Message, number: u32, value: Option<Number>) {
    out.double(number, value.map_or(0.0, Number::as_f64));
}

fn parameter(out: &mut protobuf::Message, value: &Value) {
    match value.str_at(&["in"]) {
        Some("body") => out.message(1, |out| message(out, &v2::PARAMETER_BODY, value)),
        Some("path") => out.message(2, |out| {
            out.message(4, |out| message(out, &v2::PARAMETER_PATH, value));
        }),
        _ => out.message(2, |out| {
            out.message(3, |out| message(out, &v2::PARAMETER_QUERY, value));
        }),
    }
}

/// Any value is YAML in text.
fn any(out: &mut protobuf::Message, value: &Value) {
    out.text(2, &yaml::value_to_string(value));
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
