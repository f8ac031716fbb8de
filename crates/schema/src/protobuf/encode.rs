//! Values to bytes, as upstream's generated `Marshal` writes them: fields by number, map entries by key, and what is no
//! pointer in Go always, even if it is zero.

use encoding::base64;
use encoding::protobuf::Message;
use json::{Object, Value};
use meta::quantity::Quantity;
use meta::time::Time;

use super::Error;
use super::decode::is_wrapped;
use crate::canonical::ZERO_TIME;
use crate::{Format, Inside, NodeId, Place, Shape};

/// The message of a built-in type. Fields that are not there are zero.
pub fn encode(place: Place<'_>, value: &Value) -> Result<Vec<u8>, Error> {
    let mut writer = Message::with_capacity(512);
    payload(&mut writer, place, value)?;
    Ok(writer.0)
}

fn payload(writer: &mut Message, place: Place<'_>, value: &Value) -> Result<(), Error> {
    let node = place.node();
    match (&node.shape, node.format, value) {
        (Shape::Object { .. }, _, Value::Object(object)) => return fields(writer, place, object),
        (Shape::Object { .. }, _, Value::Null) => return fields(writer, place, &Object::new()),
        (Shape::List { items, .. }, _, Value::Array(all)) => {
            return all
                .iter()
                .try_for_each(|item| one(writer, 1, place.at(*items), item));
        }
        (Shape::IntOrString, _, _) => {
            writer.int(1, i64::from(value.as_str().is_some()));
            writer.int(2, value.as_i64().unwrap_or_default());
            writer.bytes(3, value.as_str().unwrap_or_default().as_bytes());
        }
        (_, Format::Quantity, _) => {
            let text =
                Quantity::from_value(value).map_err(|why| wrong("a quantity", why.to_string()))?;
            writer.bytes(1, text.to_string().as_bytes());
        }
        (
            _,
            Format::Time
            | Format::MicroTime
            | Format::RawExtension
            | Format::FieldsV1
            | Format::Json,
            Value::Null,
        ) => {}
        (_, Format::Time | Format::MicroTime, _) => {
            let micro = node.format == Format::MicroTime;
            let read = if micro {
                Time::parse_micro
            } else {
                Time::parse
            };
            let time = read(value.as_str().unwrap_or_default())
                .map_err(|why| wrong("a time", why.to_string()))?;
            let nanos = if micro {
                time.unix_nanos().rem_euclid(1_000_000_000) / 1000 * 1000
            } else {
                0
            };
            if time.unix_seconds() != ZERO_TIME || nanos != 0 {
                writer.int(1, time.unix_seconds());
                writer.int(2, i64::try_from(nanos).unwrap_or_default());
            }
        }
        (
            _,
            Format::SchemaOrArray(id) | Format::SchemaOrBool(id) | Format::SchemaOrStrings(id),
            _,
        ) => {
            return schema_or(writer, place, id, value);
        }
        (_, Format::RawExtension | Format::FieldsV1 | Format::Json, _) => {
            writer.bytes(1, &json::to_vec(value));
        }
        _ => {
            return Err(wrong(
                "a message",
                format!("it is of type {}", value.type_name()),
            ));
        }
    }
    Ok(())
}

fn fields(writer: &mut Message, place: Place<'_>, object: &Object) -> Result<(), Error> {
    let (Shape::Object { fields, .. }, Some(go)) = (place.shape(), &place.node().go) else {
        return Ok(());
    };
    for member in &go.members {
        let index = match member.what {
            Inside::Field(index) => usize::from(index),
            Inside::Inlined(id) => {
                writer.message(member.number, |writer| {
                    self::fields(writer, place.at(id), object)
                })?;
                continue;
            }
        };
        let place = place.at(fields[index].node);
        let value = object.get(&fields[index].name).filter(|it| !it.is_null());
        field(
            writer,
            member.number,
            place,
            value,
            go.fields[index].pointer,
        )
        .map_err(|error| match error {
            Error::Value { field, why } => wrong(format!("{}.{field}", fields[index].name), why),
            other => other,
        })?;
    }
    Ok(())
}

fn field(
    writer: &mut Message,
    number: u32,
    place: Place<'_>,
    value: Option<&Value>,
    pointer: bool,
) -> Result<(), Error> {
    match (place.shape(), value) {
        (Shape::List { items, .. }, Some(Value::Array(all))) if !is_wrapped(place) => all
            .iter()
            .try_for_each(|item| one(writer, number, place.at(*items), item)),
        (Shape::Map { values, .. }, Some(Value::Object(object))) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            entries.into_iter().try_for_each(|(key, value)| {
                writer.message(number, |writer| {
                    writer.bytes(1, key.as_bytes());
                    one(writer, 2, place.at(*values), value)
                })
            })
        }
        (Shape::List { .. } | Shape::Map { .. }, None) => Ok(()),
        (_, None) if pointer || place.node().format == Format::Byte => Ok(()),
        _ => one(writer, number, place, value.unwrap_or(&Value::Null)),
    }
}

/// A value that is written as one field. Null is the type's zero value.
fn one(writer: &mut Message, number: u32, place: Place<'_>, value: &Value) -> Result<(), Error> {
    let node = place.node();
    match (&node.shape, node.format, value) {
        (Shape::Boolean | Shape::Integer, _, Value::Null) => writer.int(number, 0),
        (Shape::Boolean, _, Value::Bool(it)) => writer.int(number, i64::from(*it)),
        (Shape::Integer, _, Value::Number(json::Number::Int(it))) => writer.int(number, *it),
        (Shape::Number, _, Value::Null) => writer.double(number, 0.0),
        (Shape::Number, _, Value::Number(it)) => writer.double(number, it.as_f64()),
        (Shape::String, Format::None | Format::Byte, Value::Null)
        | (Shape::List { .. }, _, Value::Null) => {
            writer.bytes(number, b"");
        }
        (Shape::String, Format::None, Value::String(text)) => writer.bytes(number, text.as_bytes()),
        (Shape::String, Format::Byte, Value::String(text)) => {
            let bytes = base64::decode(text).map_err(|why| wrong("bytes", why.to_string()))?;
            writer.bytes(number, &bytes);
        }
        (Shape::Boolean | Shape::Integer | Shape::Number, _, _)
        | (Shape::String, Format::None | Format::Byte, _) => {
            return Err(wrong(
                "a value",
                format!("it is of type {}", value.type_name()),
            ));
        }
        _ => return writer.message(number, |writer| payload(writer, place, value)),
    }
    Ok(())
}

fn schema_or(
    writer: &mut Message,
    place: Place<'_>,
    id: NodeId,
    value: &Value,
) -> Result<(), Error> {
    let format = place.node().format;
    if let Format::SchemaOrBool(_) = format {
        writer.int(
            1,
            i64::from(*value == Value::Bool(true) || value.as_object().is_some()),
        );
    }
    match (format, value) {
        (Format::SchemaOrBool(_), Value::Object(_)) => one(writer, 2, place.at(id), value),
        (_, Value::Object(_)) => one(writer, 1, place.at(id), value),
        (Format::SchemaOrArray(_), Value::Array(all)) => all
            .iter()
            .try_for_each(|item| one(writer, 2, place.at(id), item)),
        (_, Value::Array(all)) => {
            for item in all {
                writer.bytes(2, item.as_str().unwrap_or_default().as_bytes());
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn wrong(field: impl Into<String>, why: impl Into<String>) -> Error {
    Error::Value {
        field: field.into(),
        why: why.into(),
    }
}
