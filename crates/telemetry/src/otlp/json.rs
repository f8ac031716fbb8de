//! Protobuf to JSON and back, as OTLP maps them: ids in hexadecimal, numbers of 64 bits as texts, enums as numbers, names in
//! lowerCamelCase. What is not in the tables is left out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use encoding::hex;
use json::{Number, Object, Value};

use super::Error;
use super::read::{DEPTH, Field, each};
use super::tables::{ANY_VALUE, Entry, Kind, REQUEST};
use crate::protobuf::Message;

/// An `ExportTraceServiceRequest` in JSON.
pub fn to_json(request: &[u8]) -> Result<Value, Error> {
    message_to_json(&REQUEST, request, DEPTH)
}

/// An `ExportTraceServiceRequest` in protobuf.
pub fn from_json(request: &Value) -> Result<Vec<u8>, Error> {
    let mut out = Message::default();
    message_from_json(&REQUEST, request, &mut out, DEPTH)?;
    Ok(out.0)
}

/// Whether [`to_json`] can write it.
pub(super) fn check(request: &[u8]) -> Result<(), Error> {
    check_message(&REQUEST, request, DEPTH)
}

fn entry(entries: &'static [Entry], number: u64) -> Option<usize> {
    entries.iter().position(|it| it.number == number)
}

fn deeper(depth: usize) -> Result<usize, Error> {
    depth.checked_sub(1).ok_or(Error::Deep)
}

fn utf8(field: Field<'_>) -> Result<&str, Error> {
    std::str::from_utf8(field.bytes()).map_err(|_| Error::Text)
}

fn check_message(entries: &'static [Entry], bytes: &[u8], depth: usize) -> Result<(), Error> {
    each(bytes, |number, field| {
        let Some(at) = entry(entries, number) else {
            return Ok(());
        };
        match &entries[at].kind {
            Kind::Text => utf8(field).map(drop),
            Kind::Message(entries) => check_message(entries, field.bytes(), depth),
            Kind::Value => check_message(&ANY_VALUE, field.bytes(), deeper(depth)?),
            _ => Ok(()),
        }
    })
}

fn message_to_json(entries: &'static [Entry], bytes: &[u8], depth: usize) -> Result<Value, Error> {
    let mut found: Vec<Option<Value>> = Vec::new();
    found.resize_with(entries.len(), || None);
    each(bytes, |number, field| {
        let Some(at) = entry(entries, number) else {
            return Ok(());
        };
        let value = field_to_json(&entries[at].kind, field, depth)?;
        let place = &mut found[at];
        match place {
            Some(Value::Array(list)) if entries[at].repeated => list.push(value),
            _ if entries[at].repeated => *place = Some(Value::Array(vec![value])),
            _ => *place = Some(value),
        }
        Ok(())
    })?;
    let mut object = Object::new();
    for (entry, value) in entries.iter().zip(found) {
        if let Some(value) = value {
            object.push(entry.name, value);
        }
    }
    Ok(object.into())
}

fn field_to_json(kind: &'static Kind, field: Field<'_>, depth: usize) -> Result<Value, Error> {
    Ok(match kind {
        Kind::Text => utf8(field)?.into(),
        Kind::Bool => (field.number() != 0).into(),
        Kind::Double => double(f64::from_bits(field.number())),
        Kind::Hex => hex::encode(field.bytes()).into(),
        Kind::Base64 => STANDARD.encode(field.bytes()).into(),
        Kind::Fixed64 => field.number().to_string().into(),
        Kind::Int64 => field.number().cast_signed().to_string().into(),
        // Of 32 bits: what has more is nobody's count.
        Kind::Int32 | Kind::Fixed32 | Kind::Enum(_) => {
            i64::from(u32::try_from(field.number()).unwrap_or(u32::MAX)).into()
        }
        Kind::Message(entries) => message_to_json(entries, field.bytes(), depth)?,
        Kind::Value => message_to_json(&ANY_VALUE, field.bytes(), deeper(depth)?)?,
    })
}

/// JSON has no number for some.
fn double(value: f64) -> Value {
    if value.is_finite() {
        Value::Number(Number::Float(value))
    } else if value.is_nan() {
        "NaN".into()
    } else if value > 0.0 {
        "Infinity".into()
    } else {
        "-Infinity".into()
    }
}

fn message_from_json(
    entries: &'static [Entry],
    value: &Value,
    out: &mut Message,
    depth: usize,
) -> Result<(), Error> {
    let object = value.as_object().ok_or(Error::Json(format!(
        "an object with {} is expected, not {}",
        entries[0].name,
        value.type_name()
    )))?;
    for entry in entries {
        match object.get(entry.name) {
            None | Some(Value::Null) => {}
            Some(Value::Array(list)) if entry.repeated => {
                for value in list {
                    field_from_json(entry, value, out, depth)?;
                }
            }
            Some(_) if entry.repeated => return Err(Error::Value(entry.name)),
            Some(value) => field_from_json(entry, value, out, depth)?,
        }
    }
    Ok(())
}

fn field_from_json(
    entry: &'static Entry,
    value: &Value,
    out: &mut Message,
    depth: usize,
) -> Result<(), Error> {
    let wrong = || Error::Value(entry.name);
    let field = u32::try_from(entry.number).map_err(|_| wrong())?;
    let text = || value.as_str().ok_or_else(wrong);
    match &entry.kind {
        Kind::Text => out.text(field, text()?),
        Kind::Bool => out.number(field, value.as_bool().ok_or_else(wrong)?.into()),
        Kind::Double => out.double(field, float(value).ok_or_else(wrong)?),
        Kind::Hex => out.bytes(field, &hex::decode(text()?).ok_or_else(wrong)?),
        Kind::Base64 => out.bytes(field, &STANDARD.decode(text()?).map_err(|_| wrong())?),
        Kind::Fixed64 => out.fixed64(field, unsigned(value).ok_or_else(wrong)?),
        Kind::Int64 => {
            let number = match value {
                Value::String(text) => text.as_str().parse().ok(),
                value => value.as_i64(),
            };
            out.number(field, number.ok_or_else(wrong)?.cast_unsigned());
        }
        Kind::Int32 | Kind::Fixed32 => {
            let number = unsigned(value).and_then(|it| u32::try_from(it).ok());
            let number = number.ok_or_else(wrong)?;
            match entry.kind {
                Kind::Fixed32 => out.fixed32(field, number),
                _ => out.number(field, number.into()),
            }
        }
        Kind::Enum(names) => {
            let named = value.as_str();
            let named = named.and_then(|name| names.iter().position(|it| *it == name));
            let number = named.map_or_else(|| unsigned(value), |it| Some(it as u64));
            let number = number.filter(|it| *it < 1 << 31);
            out.number(field, number.ok_or_else(wrong)?);
        }
        Kind::Message(entries) => {
            let mut inner = Message::default();
            message_from_json(entries, value, &mut inner, depth)?;
            out.bytes(field, &inner.0);
        }
        Kind::Value => {
            let mut inner = Message::default();
            message_from_json(&ANY_VALUE, value, &mut inner, deeper(depth)?)?;
            out.bytes(field, &inner.0);
        }
    }
    Ok(())
}

/// As a text or as a number.
fn unsigned(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.as_str().parse().ok(),
        value => value.as_i64().and_then(|it| u64::try_from(it).ok()),
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.as_f64()),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            text => text.parse().ok(),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;
