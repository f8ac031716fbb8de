//! Whether a value can be what its type says, in the words of Go's decoder.

use encoding::base64;
use json::{Number, Value};
use meta::quantity::Quantity;
use meta::time::Time;

use crate::{Format, Go, Node, Place, Shape};

/// Why a value is not of its type: `json: cannot unmarshal string into Go struct field ... of type int32`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub String);

/// The first mismatch, if there is one.
pub fn check_types(place: Place<'_>, value: &Value) -> Result<(), DecodeError> {
    let mut check = Check::default();
    check.value(place, value)?;
    check.first.map_or(Ok(()), Err)
}

#[derive(Default)]
struct Check<'a> {
    /// Name of the innermost struct.
    within: Option<&'a str>,
    path: Vec<&'a str>,
    /// A type that does not match is told at the end; what reads itself stops the reading.
    first: Option<DecodeError>,
}

impl<'a> Check<'a> {
    fn value(&mut self, place: Place<'a>, value: &Value) -> Result<(), DecodeError> {
        let node = place.node();
        match (&node.shape, value) {
            (_, Value::Null) => {}
            (_, _) if node.format != Format::None => return self.format(place, node.format, value),
            (Shape::Any, _)
            | (Shape::String | Shape::IntOrString, Value::String(_))
            | (Shape::Boolean, Value::Bool(_)) => {}
            (Shape::IntOrString, Value::Number(Number::Int(it))) if i32::try_from(*it).is_ok() => {}
            (Shape::IntOrString, _) => return Err(self.error(&written(value, true), "int32")),
            (Shape::Object { fields, .. }, Value::Object(object)) => {
                let go = node.go.as_deref();
                let outer = self.within;
                let depth = self.path.len();
                for (key, value) in object.iter() {
                    let Some(at) = fields.position(key) else {
                        continue;
                    };
                    self.within = go.map(short_name);
                    let through = go.and_then(|go| go.fields.get(at)?.through.as_deref());
                    self.path.extend(through);
                    self.path.push(&fields[at].name);
                    self.value(place.at(fields[at].node), value)?;
                    self.path.truncate(depth);
                    self.within = outer;
                }
            }
            (Shape::Map { values, .. }, Value::Object(object)) => {
                for value in object.values() {
                    self.value(place.at(*values), value)?;
                }
            }
            (Shape::List { items, .. }, Value::Array(all)) => {
                for item in all {
                    self.value(place.at(*items), item)?;
                }
            }
            _ => self.mismatch(place, &written(value, false)),
        }
        Ok(())
    }

    fn format(
        &mut self,
        place: Place<'a>,
        format: Format,
        value: &Value,
    ) -> Result<(), DecodeError> {
        match (format, value) {
            (Format::Int32, Value::Number(Number::Int(it))) if i32::try_from(*it).is_ok() => {}
            (Format::Int64, Value::Number(Number::Int(_)))
            | (Format::Double, Value::Number(_))
            | (Format::Duration, Value::String(_))
            | (Format::SchemaOrBool(_), Value::Bool(_))
            | (Format::RawExtension | Format::FieldsV1 | Format::Json, _) => {}
            (Format::Int32 | Format::Int64, _) => self.mismatch(place, &written(value, true)),
            (Format::Byte, Value::String(text)) => {
                if let Err(error) = base64::decode(text) {
                    self.first.get_or_insert(DecodeError(error.to_string()));
                }
            }
            (Format::Double | Format::Byte, _) => self.mismatch(place, &written(value, false)),
            (Format::Quantity, _) => {
                Quantity::from_value(value).map_err(|it| DecodeError(it.to_string()))?;
            }
            (Format::Time | Format::MicroTime, Value::String(text)) => {
                let read = if format == Format::Time {
                    Time::parse
                } else {
                    Time::parse_micro
                };
                read(text).map_err(|it| DecodeError(it.to_string()))?;
            }
            (Format::Time | Format::MicroTime | Format::Duration, _) => {
                return Err(self.error(&written(value, false), "string"));
            }
            (
                Format::SchemaOrArray(id) | Format::SchemaOrBool(id) | Format::SchemaOrStrings(id),
                Value::Object(_),
            ) => self.itself(place.at(id), value)?,
            (Format::SchemaOrArray(id), Value::Array(items)) => {
                items
                    .iter()
                    .try_for_each(|it| self.itself(place.at(id), it))?;
            }
            (Format::SchemaOrBool(_), _) => {
                return Err(DecodeError("boolean or JSON schema expected".into()));
            }
            (Format::SchemaOrStrings(_), Value::Array(items)) => {
                if let Some(item) = items
                    .iter()
                    .find(|it| !it.is_null() && it.as_str().is_none())
                {
                    return Err(self.error(&written(item, false), "string"));
                }
            }
            (Format::None | Format::SchemaOrArray(_) | Format::SchemaOrStrings(_), _) => {}
        }
        Ok(())
    }

    /// A type that reads itself: its first mismatch ends the reading.
    fn itself(&mut self, place: Place<'a>, value: &Value) -> Result<(), DecodeError> {
        let before = self.first.take();
        self.value(place, value)?;
        match std::mem::replace(&mut self.first, before) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn mismatch(&mut self, place: Place<'a>, written: &str) {
        if self.first.is_none() {
            self.first = Some(self.error(written, &go_type(place)));
        }
    }

    fn error(&self, written: &str, ty: &str) -> DecodeError {
        DecodeError(match self.within {
            Some(within) => format!(
                "json: cannot unmarshal {written} into Go struct field {within}.{} of type {ty}",
                self.path.join(".")
            ),
            None => format!("json: cannot unmarshal {written} into Go value of type {ty}"),
        })
    }
}

/// A value as the decoder names it. The digits of a number are told where its size or form is what is wrong.
fn written(value: &Value, digits: bool) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "bool".into(),
        Value::Number(_) if digits => format!("number {value}"),
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
        Value::Array(_) => "array".into(),
        Value::Object(_) => "object".into(),
    }
}

fn short_name(go: &Go) -> &str {
    go.name.rsplit('.').next().unwrap_or_default()
}

/// A type as Go prints it.
fn go_type(place: Place<'_>) -> String {
    let node: &Node = place.node();
    if let Some(go) = &node.go {
        return go.name.to_string();
    }
    match (&node.shape, node.format) {
        (Shape::Boolean, _) => "bool".into(),
        (Shape::Integer, Format::Int32) => "int32".into(),
        (Shape::Integer, _) => "int64".into(),
        (Shape::Number, _) => "float64".into(),
        (Shape::String, Format::Byte) => "[]uint8".into(),
        (Shape::String, _) => "string".into(),
        (Shape::List { items, .. }, _) => format!("[]{}", go_type(place.at(*items))),
        (Shape::Map { values, .. }, _) => format!("map[string]{}", go_type(place.at(*values))),
        _ => "interface {}".into(),
    }
}
