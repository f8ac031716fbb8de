//! Bytes to values, as upstream's generated `Unmarshal` reads them and `encoding/json` would then write them.

use std::collections::BTreeMap;

use encoding::base64;
use json::{Number, Object, Text, Value};
use meta::quantity::Quantity;
use meta::time::Time;

use super::wire::{FIXED64, LENGTH, Reader, VARINT};
use super::{DEPTH, Error, MAGIC, MESSAGES};
use crate::canonical::{ZERO_TIME, written_time};
use crate::{Format, Inside, NodeId, Place, Shape};

/// The message of a built-in type as its canonical value.
pub fn decode(place: Place<'_>, bytes: &[u8]) -> Result<Value, Error> {
    let mut decoder = Decoder { left: MESSAGES };
    let mut value = decoder.message(place, bytes, 0)?;
    crate::canonical(place, &mut value);
    Ok(value)
}

struct Decoder {
    /// How many messages may still come.
    left: usize,
}

/// What has been read of one field.
enum Slot {
    Empty,
    One(Value),
    Items(Vec<Value>),
    Entries(BTreeMap<Text, Value>),
}

impl Decoder {
    fn message(&mut self, place: Place<'_>, bytes: &[u8], depth: usize) -> Result<Value, Error> {
        self.count(depth)?;
        let node = place.node();
        Ok(match (&node.shape, node.format) {
            (Shape::Object { .. }, _) => Value::Object(self.object(place, bytes, depth)?),
            (Shape::List { items, .. }, _) => self.wrapped(place.at(*items), bytes, depth)?,
            (Shape::IntOrString, _) => int_or_string(bytes)?,
            (_, Format::Quantity) => {
                let text = first_string(bytes)?.unwrap_or_else(|| "0".to_owned());
                let quantity = Quantity::parse(&text).map_err(Error::Quantity)?;
                quantity.to_string().into()
            }
            (_, Format::Time) => written_time(instant(bytes)?.truncated(), false),
            (_, Format::MicroTime) => written_time(instant(bytes)?, true),
            (_, Format::SchemaOrArray(id) | Format::SchemaOrStrings(id)) => {
                self.schema_or(place, bytes, depth, 1, id)?
            }
            (_, Format::SchemaOrBool(id)) => self.schema_or(place, bytes, depth, 2, id)?,
            (_, Format::FieldsV1) => fields(bytes)?,
            _ => raw(bytes)?,
        })
    }

    fn count(&mut self, depth: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(1).ok_or(Error::TooLarge)?;
        if depth > DEPTH {
            Err(Error::TooLarge)
        } else {
            Ok(())
        }
    }

    fn object(&mut self, place: Place<'_>, bytes: &[u8], depth: usize) -> Result<Object, Error> {
        let (Shape::Object { fields, .. }, Some(go)) = (place.shape(), &place.node().go) else {
            return Ok(Object::new());
        };
        let mut slots: Vec<Slot> = fields.iter().map(|_| Slot::Empty).collect();
        let mut reader = Reader::new(bytes);
        while let Some((number, wire)) = reader.tag()? {
            let Ok(at) = go.members.binary_search_by_key(&number, |it| it.number) else {
                reader.skip(wire)?;
                continue;
            };
            match go.members[at].what {
                Inside::Field(index) => {
                    let (index, field) = (usize::from(index), &fields[usize::from(index)]);
                    self.field(
                        place.at(field.node),
                        &field.name,
                        &mut slots[index],
                        wire,
                        &mut reader,
                        depth,
                    )?;
                }
                Inside::Inlined(id) => {
                    self.count(depth)?;
                    let inner = self.object(place.at(id), reader.bytes(wire, "")?, depth + 1)?;
                    for (key, value) in inner {
                        if let Some(index) = fields.iter().position(|it| it.name == key) {
                            slots[index] = Slot::One(value);
                        }
                    }
                }
            }
        }
        let mut object = Object::with_capacity(slots.len());
        for (field, slot) in fields.iter().zip(slots) {
            let value = match slot {
                Slot::Empty => continue,
                Slot::One(value) => value,
                Slot::Items(items) => Value::Array(items),
                Slot::Entries(entries) => {
                    let mut object = Object::with_capacity(entries.len());
                    for (key, value) in entries {
                        object.push(key, value);
                    }
                    Value::Object(object)
                }
            };
            object.push(field.name.clone(), value);
        }
        Ok(object)
    }

    fn field(
        &mut self,
        place: Place<'_>,
        name: &str,
        slot: &mut Slot,
        wire: u8,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<(), Error> {
        match place.shape() {
            Shape::List { items, .. } if !is_wrapped(place) => {
                let items = place.at(*items);
                if !matches!(slot, Slot::Items(_)) {
                    *slot = Slot::Items(Vec::new());
                }
                let Slot::Items(all) = slot else {
                    return Ok(());
                };
                if wire == LENGTH && scalar_wire(items) != LENGTH {
                    let mut packed = Reader::new(reader.bytes(wire, name)?);
                    while !packed.is_empty() {
                        self.count(depth)?;
                        all.push(self.value(
                            items,
                            name,
                            scalar_wire(items),
                            &mut packed,
                            depth,
                        )?);
                    }
                } else {
                    self.count(depth)?;
                    all.push(self.value(items, name, wire, reader, depth)?);
                }
            }
            Shape::Map { values, .. } => {
                if !matches!(slot, Slot::Entries(_)) {
                    *slot = Slot::Entries(BTreeMap::new());
                }
                let Slot::Entries(all) = slot else {
                    return Ok(());
                };
                let (key, value) =
                    self.entry(place.at(*values), name, reader.bytes(wire, name)?, depth)?;
                all.insert(key, value);
            }
            _ => {
                let value = self.value(place, name, wire, reader, depth)?;
                match (&mut *slot, value) {
                    // A message that comes in parts is one message.
                    (Slot::One(Value::Object(old)), Value::Object(new)) => {
                        for (key, value) in new {
                            old.insert(key, value);
                        }
                    }
                    (_, value) => *slot = Slot::One(value),
                }
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        place: Place<'_>,
        name: &str,
        bytes: &[u8],
        depth: usize,
    ) -> Result<(Text, Value), Error> {
        self.count(depth)?;
        let (mut key, mut value) = (Text::default(), None);
        let mut reader = Reader::new(bytes);
        while let Some((number, wire)) = reader.tag()? {
            match number {
                1 => key = reader.string(wire, name)?.into(),
                2 => value = Some(self.value(place, name, wire, &mut reader, depth)?),
                _ => reader.skip(wire)?,
            }
        }
        // A value that was not sent is zero, not nothing.
        let value = match (value, place.shape()) {
            (Some(value), _) => value,
            (None, Shape::Boolean) => false.into(),
            (None, Shape::Integer | Shape::Number) => 0.into(),
            (None, Shape::String) if !matches!(place.node().format, Format::Quantity) => "".into(),
            (None, _) => self.message(place, b"", depth + 1)?,
        };
        Ok((key, value))
    }

    fn value(
        &mut self,
        place: Place<'_>,
        name: &str,
        wire: u8,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Value, Error> {
        let node = place.node();
        Ok(match (&node.shape, node.format) {
            (Shape::Boolean, _) => (reader.number(wire, name)? != 0).into(),
            (Shape::Integer, Format::Int32) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "an int32 is sent as 64 bits"
                )]
                let number = reader.number(wire, name)? as i32;
                number.into()
            }
            (Shape::Integer, _) => reader.number(wire, name)?.into(),
            (Shape::Number, _) => {
                let number = f64::from_bits(reader.fixed64(wire, name)?);
                // JSON has no other numbers.
                if number.is_finite() {
                    number_of(number)
                } else {
                    Value::Null
                }
            }
            (Shape::String, Format::None) => reader.string(wire, name)?.into(),
            (Shape::String, Format::Byte) => base64::encode(reader.bytes(wire, name)?).into(),
            _ => self.message(place, reader.bytes(wire, name)?, depth + 1)?,
        })
    }

    /// A list that is a message of its own: where it is, it is not nil.
    fn wrapped(&mut self, items: Place<'_>, bytes: &[u8], depth: usize) -> Result<Value, Error> {
        let mut all = Vec::new();
        let mut reader = Reader::new(bytes);
        while let Some((number, wire)) = reader.tag()? {
            match number {
                1 => {
                    self.count(depth)?;
                    all.push(self.value(items, "items", wire, &mut reader, depth)?);
                }
                _ => reader.skip(wire)?,
            }
        }
        Ok(Value::Array(all))
    }

    /// A schema in field `schema`, or what else may stand for one in the other of the fields 1 and 2.
    fn schema_or(
        &mut self,
        place: Place<'_>,
        bytes: &[u8],
        depth: usize,
        schema: u32,
        id: NodeId,
    ) -> Result<Value, Error> {
        let mut found = Value::Null;
        let mut others: Vec<Value> = Vec::new();
        let mut reader = Reader::new(bytes);
        while let Some((number, wire)) = reader.tag()? {
            match (number, place.node().format) {
                (1 | 2, _) if number == schema => {
                    found = self.message(place.at(id), reader.bytes(wire, "schema")?, depth + 1)?;
                }
                (1, Format::SchemaOrBool(_)) => {
                    others.push((reader.number(wire, "allows")? != 0).into());
                }
                (2, Format::SchemaOrArray(_)) => {
                    others.push(self.message(
                        place.at(id),
                        reader.bytes(wire, "schemas")?,
                        depth + 1,
                    )?);
                }
                (2, _) => {
                    self.count(depth)?;
                    others.push(reader.string(wire, "property")?.into());
                }
                _ => reader.skip(wire)?,
            }
        }
        Ok(match place.node().format {
            _ if !found.is_null() && others.is_empty() => found,
            Format::SchemaOrBool(_) if found.is_null() => others.pop().unwrap_or(false.into()),
            Format::SchemaOrBool(_) => found,
            _ if others.is_empty() => Value::Null,
            _ => Value::Array(others),
        })
    }
}

pub(super) fn is_wrapped(place: Place<'_>) -> bool {
    place.node().go.as_ref().is_some_and(|it| it.wrapped)
}

fn scalar_wire(place: Place<'_>) -> u8 {
    match place.shape() {
        Shape::Boolean | Shape::Integer => VARINT,
        Shape::Number => FIXED64,
        _ => LENGTH,
    }
}

/// A float that is whole is written without a point, and read as an integer.
fn number_of(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
        return (number as i64).into();
    }
    Value::Number(Number::Float(number))
}

fn first_string(bytes: &[u8]) -> Result<Option<String>, Error> {
    let mut found = None;
    let mut reader = Reader::new(bytes);
    while let Some((number, wire)) = reader.tag()? {
        match number {
            1 => found = Some(reader.string(wire, "string")?),
            _ => reader.skip(wire)?,
        }
    }
    Ok(found)
}

/// A set of fields that cannot be read does not stand in the way of its object: as a text, it is no set.
fn fields(bytes: &[u8]) -> Result<Value, Error> {
    let found = first_bytes(bytes)?;
    if found.is_empty() {
        return Ok(Value::Null);
    }
    let text = || String::from_utf8_lossy(found).into_owned().into();
    Ok(json::parse(found).unwrap_or_else(|_| text()))
}

/// A raw value: JSON, or an object in its envelope.
fn raw(bytes: &[u8]) -> Result<Value, Error> {
    let found = first_bytes(bytes)?;
    if found.is_empty() {
        return Ok(Value::Null);
    }
    if found.starts_with(&MAGIC) {
        return nested(found);
    }
    json::parse(found).map_err(Error::Raw)
}

fn first_bytes(bytes: &[u8]) -> Result<&[u8], Error> {
    let mut found: &[u8] = b"";
    let mut reader = Reader::new(bytes);
    while let Some((number, wire)) = reader.tag()? {
        match number {
            1 => found = reader.bytes(wire, "raw")?,
            _ => reader.skip(wire)?,
        }
    }
    Ok(found)
}

/// An object in an object; one in that again is no one's.
fn nested(bytes: &[u8]) -> Result<Value, Error> {
    if super::open(bytes)?.raw.windows(4).any(|it| it == MAGIC) {
        return Err(Error::TooLarge);
    }
    super::decode_object(bytes)
}

fn int_or_string(bytes: &[u8]) -> Result<Value, Error> {
    let (mut is_string, mut number, mut text) = (false, 0, String::new());
    let mut reader = Reader::new(bytes);
    while let Some((field, wire)) = reader.tag()? {
        match field {
            1 => is_string = reader.number(wire, "type")? != 0,
            2 => number = reader.number(wire, "intVal")?,
            3 => text = reader.string(wire, "strVal")?,
            _ => reader.skip(wire)?,
        }
    }
    Ok(if is_string {
        text.into()
    } else {
        number.into()
    })
}

/// An empty message is the zero time.
fn instant(bytes: &[u8]) -> Result<Time, Error> {
    let (mut seconds, mut nanos) = (if bytes.is_empty() { ZERO_TIME } else { 0 }, 0);
    let mut reader = Reader::new(bytes);
    while let Some((number, wire)) = reader.tag()? {
        match number {
            1 => seconds = reader.number(wire, "seconds")?,
            2 => nanos = u32::try_from(reader.number(wire, "nanos")?).unwrap_or_default(),
            _ => reader.skip(wire)?,
        }
    }
    // From year 1 to 9999: no text can hold more.
    Ok(Time::from_unix(
        seconds.clamp(ZERO_TIME, 253_402_300_799),
        nanos.min(999_999_999),
    ))
}
