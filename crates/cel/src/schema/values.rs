//! JSON to values by a schema.

use std::borrow::Cow;

use encoding::base64;
use json::{Number, Object};

use super::{Format, Kind, ListKind, Schema, escape, formats};
use crate::error::Error;
use crate::value::compare::{Work, equal};
use crate::value::{Blob, List, Map, Origin, Str, Timestamp, Value};

impl Schema {
    /// The value of JSON that this schema describes, or why it does not.
    pub fn value_of<'a>(&'a self, value: &'a json::Value) -> Result<Value<'a>, Error> {
        use json::Value as Json;
        let wrong = |wanted: &str| {
            Err(Error::new(format!(
                "invalid data, expected {wanted}, got {}",
                go_type(value)
            )))
        };
        if value.is_null() {
            return if self.nullable {
                Ok(Value::Null)
            } else {
                Err(Error::new(
                    "invalid data, got null for schema with nullable=false",
                ))
            };
        }
        match (self.kind, value) {
            (Kind::IntOrString, Json::String(it)) => Ok(Value::String(Str::Borrowed(it))),
            (Kind::IntOrString | Kind::Integer, Json::Number(Number::Int(it))) => {
                Ok(Value::Int(*it))
            }
            (Kind::IntOrString, _) => Err(Error::new(
                "invalid data, expected XIntOrString value to be either a string or integer",
            )),
            (Kind::Object, Json::Object(it)) => Ok(Value::Map(Map::Json(it, Origin::Schema(self)))),
            (Kind::Object, _) => Err(Error::new(
                "invalid data, expected a map for the provided schema with type=object",
            )),
            (Kind::Array, Json::Array(it)) if self.items.is_some() => {
                Ok(Value::List(List::Json(it, Origin::Schema(self))))
            }
            (Kind::Array, Json::Array(_)) => Err(Error::new(
                "invalid array type, expected Items with a non-empty Schema",
            )),
            (Kind::Array, _) => Err(Error::new(
                "invalid data, expected an array for the provided schema with type=array",
            )),
            (Kind::String, Json::String(it)) => self.text(it),
            (Kind::String, _) => wrong("string"),
            (Kind::Number, Json::Number(it)) => Ok(Value::Double(it.as_f64())),
            (Kind::Number, _) => wrong("float"),
            (Kind::Integer, _) => wrong("int"),
            (Kind::Boolean, Json::Bool(it)) => Ok(Value::Bool(*it)),
            (Kind::Boolean, _) => wrong("bool"),
            (Kind::None | Kind::Other, _) if self.preserve_unknown => Ok(Value::Unknown(value)),
            (Kind::None | Kind::Other, _) => Err(Error::new(
                "invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ",
            )),
        }
    }

    fn text<'a>(&self, text: &'a str) -> Result<Value<'a>, Error> {
        let invalid = |what: &str, why: String| Error::new(format!("Invalid {what} {text}: {why}"));
        match self.format {
            Format::None => Ok(Value::String(Str::Borrowed(text))),
            Format::Duration => formats::duration(text)
                .map(Value::Duration)
                .ok_or_else(|| invalid("duration", format!("unable to parse {text} as duration"))),
            Format::Date => Timestamp::parse_date(text).map(Value::Timestamp).ok_or_else(|| {
                invalid(
                    "date formatted string",
                    format!("parsing time {text:?} as \"2006-01-02\": cannot parse {text:?} as \"2006\""),
                )
            }),
            Format::DateTime => formats::date_time(text)
                .map(Value::Timestamp)
                .map_err(|why| invalid("date-time formatted string", why)),
            Format::Byte => base64::decode(text)
                .map(|it| Value::Bytes(Blob::from(it)))
                .map_err(|why| invalid("byte formatted string", why.to_string())),
        }
    }

    /// The value of a field or key of an object of this schema, by its name in expressions.
    pub(crate) fn find<'a>(
        &'a self,
        object: &'a Object,
        name: &str,
    ) -> Option<Result<Value<'a>, Error>> {
        if self.properties.is_some() {
            let name: Cow<str> = escape::unescape(name)?;
            let value = object.get(&name)?;
            if value.is_null() {
                return None;
            }
            return Some(self.property(&name)?.value_of(value));
        }
        let schema = self.additional.as_deref()?;
        object.get(name).map(|it| schema.value_of(it))
    }

    /// How a key is called in expressions; nothing if they do not see it.
    pub(crate) fn key_of<'a>(&self, key: &'a str) -> Option<Value<'a>> {
        if self.properties.is_none() {
            return self
                .additional
                .as_ref()
                .map(|_| Value::String(Str::Borrowed(key)));
        }
        let property = self.find_property(key)?;
        Some(match &property.escaped {
            Some(escaped) if **escaped != *key => Value::String(Str::Shared(escaped.clone())),
            _ => Value::String(Str::Borrowed(key)),
        })
    }

    /// Whether an object of this schema equals another of the same size.
    pub(crate) fn equal(
        &self,
        object: &Object,
        other: &Map,
        work: &mut Work,
    ) -> Result<bool, Error> {
        for (key, value) in object.iter() {
            let is_known = match &self.properties {
                Some(_) => self.find_property(key).is_some(),
                None => self.additional.is_some(),
            };
            if is_known {
                match (self.find(object, key), other.find_str(key)) {
                    (Some(a), Some(b)) => {
                        if !equal(&a?, &b?, work)? {
                            return Ok(false);
                        }
                    }
                    (None, None) => {}
                    _ => return Ok(false),
                }
            } else {
                let Map::Json(other, Origin::Schema(_)) = other else {
                    return Err(Error::no_such_overload());
                };
                if other.get(key).is_some_and(|it| it != value) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether two elements of a list of this schema have the same keys.
    pub(crate) fn has_same_keys(
        &self,
        a: &Value,
        b: &Value,
        work: &mut Work,
    ) -> Result<bool, Error> {
        let (Value::Map(a), Value::Map(b)) = (a, b) else {
            return Ok(false);
        };
        for key in &self.list_keys {
            let name = escape::escape(key).unwrap_or(Cow::Borrowed(&**key));
            let same = match (a.find_str(&name), b.find_str(&name)) {
                (None, None) => true,
                (Some(Ok(a)), Some(Ok(b))) => equal(&a, &b, work)?,
                _ => false,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The sum of two lists, of which the first has this schema: sets and maps keep one of each element.
    pub(crate) fn add<'a>(
        &'a self,
        first: &List<'a>,
        second: &List<'a>,
        work: &mut Work,
    ) -> Result<List<'a>, Error> {
        let mut items = first.values()?;
        if self.list_kind == ListKind::Atomic {
            items.extend(second.values()?);
            return Ok(List::from(items));
        }
        let count = items.len();
        for it in second.iter() {
            let it = it?;
            work.take(items.len() as u64)?;
            let mut place = None;
            for (at, known) in items.iter().enumerate().rev() {
                let same = match self.list_kind {
                    ListKind::Map => at < count && self.has_same_keys(known, &it, work)?,
                    _ => equal(known, &it, work)?,
                };
                if same {
                    place = Some(at);
                    break;
                }
            }
            match (place, self.list_kind) {
                (Some(at), ListKind::Map) => items[at] = it,
                (Some(_), _) => {}
                (None, _) => items.push(it),
            }
        }
        Ok(List::Merged(std::sync::Arc::new(items), self))
    }
}

fn go_type(value: &json::Value) -> &'static str {
    match value {
        json::Value::Null => "<nil>",
        json::Value::Bool(_) => "bool",
        json::Value::Number(Number::Int(_)) => "int64",
        json::Value::Number(Number::Float(_)) => "float64",
        json::Value::String(_) => "string",
        json::Value::Array(_) => "[]interface {}",
        json::Value::Object(_) => "map[string]interface {}",
    }
}
