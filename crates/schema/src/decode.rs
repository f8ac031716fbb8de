//! Whether a value can be what its type says, in the words of Go's decoder.

use std::fmt;

use encoding::base64::{self, CorruptInput};
use json::{Number, Value};
use meta::quantity::{Quantity, QuantityError};
use meta::time::{Time, TimeError};

use crate::{Format, Go, Node, Place, Shape};

/// Why a value is not of its type.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecodeError {
    #[error("{0}")]
    Type(TypeError),
    #[error("{0}")]
    Base64(CorruptInput),
    #[error("{0}")]
    Quantity(QuantityError),
    #[error("{0}")]
    Time(TimeError),
    #[error("boolean or JSON schema expected")]
    NoSchemaOrBool,
}

/// `json: cannot unmarshal string into Go struct field PodSpec.replicas of type int32`
#[derive(Clone, Debug, PartialEq)]
pub struct TypeError {
    pub found: Found,
    /// Struct and field, where there is a struct.
    pub field: Option<String>,
    /// Go's name of the type.
    pub wanted: String,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "json: cannot unmarshal {} into Go ", self.found)?;
        match &self.field {
            Some(field) => write!(f, "struct field {field}")?,
            None => f.write_str("value")?,
        }
        write!(f, " of type {}", self.wanted)
    }
}

/// A value as `encoding/json` names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    Null,
    Bool,
    /// With its digits where its size or form is what is wrong.
    Number(Option<Number>),
    String,
    Array,
    Object,
}

impl Found {
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(_) => Self::Number(None),
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    fn with_digits(value: &Value) -> Self {
        match value {
            Value::Number(number) => Self::Number(Some(*number)),
            other => Self::of(other),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Number(Some(digits)) => return write!(f, "number {}", Value::from(*digits)),
            Self::Number(None) => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        })
    }
}

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
            (Shape::IntOrString, _) => return Err(self.error(Found::with_digits(value), "int32")),
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
            _ => self.mismatch(place, Found::of(value)),
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
            (Format::Int32 | Format::Int64, _) => self.mismatch(place, Found::with_digits(value)),
            (Format::Byte, Value::String(text)) => {
                if let Err(error) = base64::decode(text) {
                    self.first.get_or_insert(DecodeError::Base64(error));
                }
            }
            (Format::Double | Format::Byte, _) => self.mismatch(place, Found::of(value)),
            (Format::Quantity, _) => {
                Quantity::from_value(value).map_err(DecodeError::Quantity)?;
            }
            (Format::Time | Format::MicroTime, Value::String(text)) => {
                let read = if format == Format::Time {
                    Time::parse
                } else {
                    Time::parse_micro
                };
                read(text).map_err(DecodeError::Time)?;
            }
            (Format::Time | Format::MicroTime | Format::Duration, _) => {
                return Err(self.error(Found::of(value), "string"));
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
                return Err(DecodeError::NoSchemaOrBool);
            }
            (Format::SchemaOrStrings(_), Value::Array(items)) => {
                if let Some(item) = items
                    .iter()
                    .find(|it| !it.is_null() && it.as_str().is_none())
                {
                    return Err(self.error(Found::of(item), "string"));
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

    fn mismatch(&mut self, place: Place<'a>, found: Found) {
        if self.first.is_none() {
            self.first = Some(self.error(found, &go_type(place)));
        }
    }

    fn error(&self, found: Found, wanted: &str) -> DecodeError {
        let field = self.within;
        DecodeError::Type(TypeError {
            found,
            field: field.map(|it| format!("{it}.{}", self.path.join("."))),
            wanted: wanted.to_owned(),
        })
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
