//! The messages of protobuf that cel-go knows in every environment. Each of them becomes a value of the language.

use std::sync::Arc;

use crate::error::Error;
use crate::types::Type;
use crate::value::map::Entries;
use crate::value::{Map, Timestamp, Value};

/// The type that an expression of a message has.
pub(crate) fn type_of(name: &str) -> Option<Type> {
    let wrapper = |of| Some(Type::Wrapper(Arc::new(of)));
    match name.strip_prefix("google.protobuf.")? {
        "Duration" => Some(Type::Duration),
        "Timestamp" => Some(Type::Timestamp),
        "BoolValue" => wrapper(Type::Bool),
        "BytesValue" => wrapper(Type::Bytes),
        "DoubleValue" | "FloatValue" => wrapper(Type::Double),
        "Int32Value" | "Int64Value" => wrapper(Type::Int),
        "StringValue" => wrapper(Type::String),
        "UInt32Value" | "UInt64Value" => wrapper(Type::Uint),
        "Struct" => Some(Type::map(Type::String, Type::Dyn)),
        "ListValue" => Some(Type::list(Type::Dyn)),
        "Value" => Some(Type::Dyn),
        "Any" => Some(Type::Any),
        _ => None,
    }
}

/// The type of a field of a message.
pub(crate) fn field(message: &str, field: &str) -> Option<Type> {
    let of = type_of(message)?;
    let name = message.strip_prefix("google.protobuf.")?;
    match (name, field, of) {
        ("Duration" | "Timestamp", "seconds" | "nanos", _) | ("Value", "null_value", _) => {
            Some(Type::Int)
        }
        (_, "value", Type::Wrapper(of)) => Some((*of).clone()),
        ("Struct", "fields", of) | ("ListValue", "values", of) => Some(of),
        ("Value", "number_value", _) => Some(Type::Double),
        ("Value", "string_value", _) | ("Any", "type_url", _) => Some(Type::String),
        ("Value", "bool_value", _) => Some(Type::Bool),
        ("Value", "struct_value", _) => type_of("google.protobuf.Struct"),
        ("Value", "list_value", _) => type_of("google.protobuf.ListValue"),
        ("Any", "value", _) => Some(Type::Bytes),
        _ => None,
    }
}

/// The value of a message with these fields.
pub(crate) fn value<'a>(
    message: &str,
    fields: &[(Arc<str>, Value<'a>)],
) -> Option<Result<Value<'a>, Error>> {
    let of = type_of(message)?;
    let first = || fields.last().map(|it| it.1.clone());
    let number = |name: &str| {
        let found = fields.iter().rev().find(|it| &*it.0 == name);
        match found.map(|it| &it.1) {
            Some(Value::Int(it)) => *it,
            _ => 0,
        }
    };
    let overflow = |what: &str| Error::new(format!("{what} overflow"));
    Some(match (message, of) {
        (_, Type::Duration) => number("seconds")
            .checked_mul(1_000_000_000)
            .and_then(|it| it.checked_add(number("nanos")))
            .map(Value::Duration)
            .ok_or_else(|| overflow("duration")),
        (_, Type::Timestamp) => {
            let nanos = number("nanos");
            Timestamp::from_unix(number("seconds"))
                .and_then(|it| it.add(nanos))
                .map(Value::Timestamp)
        }
        ("google.protobuf.Int32Value", _) if i32::try_from(number("value")).is_err() => {
            Err(overflow("integer"))
        }
        (_, Type::Wrapper(of)) => Ok(first().unwrap_or_else(|| zero(&of))),
        (_, Type::Map(_)) => {
            Ok(first().unwrap_or_else(|| Value::Map(Map::from(Entries::default()))))
        }
        (_, Type::List(_)) => Ok(first().unwrap_or_else(|| Value::list(Vec::new()))),
        (_, Type::Dyn) => Ok(match fields.last() {
            Some((name, value)) if &**name != "null_value" => value.clone(),
            _ => Value::Null,
        }),
        _ => Err(Error::new(format!("conversion error: {message}"))),
    })
}

fn zero<'a>(of: &Type) -> Value<'a> {
    match of {
        Type::Bool => Value::Bool(false),
        Type::Bytes => Value::Bytes(Vec::new().into()),
        Type::Double => Value::Double(0.0),
        Type::Int => Value::Int(0),
        Type::Uint => Value::Uint(0),
        _ => Value::string(""),
    }
}
