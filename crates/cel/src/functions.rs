//! What functions do. Types are looked at when a function is called: expressions on dynamic values are only checked
//! then.

mod aggregates;
pub(crate) mod authz;
mod conversions;
mod extensions;
pub(crate) mod formats;
pub(crate) mod formatting;
mod kubernetes;
mod math;
pub(crate) mod net;
mod operators;
mod optionals;
pub(crate) mod quantity;
mod regexes;
pub(crate) mod semver;
mod strings;
mod times;
pub(crate) mod url;

use std::fmt;

use crate::ast::operator;
use crate::error::Error;
use crate::regexp::Regexp;
use crate::types::Type;
use crate::value::Value;
use crate::value::compare::Work;

pub(crate) use authz::Authz;

/// What a function needs besides its arguments.
pub(crate) struct Context<'c> {
    pub(crate) work: &'c mut Work,
    /// The name it was called by.
    pub(crate) name: &'c str,
    /// Its overload, if that is known.
    pub(crate) overload: &'c str,
    /// Its regular expression, if that is a constant.
    pub(crate) regex: Option<&'c Regexp>,
    /// Which version of the extension for strings.
    pub(crate) strings: u8,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A function: from the values of all arguments, the receiver first, to the value of the call.
pub(crate) type Function = for<'a> fn(&mut Context<'_>, &[Value<'a>]) -> Result<Value<'a>>;

impl Context<'_> {
    /// The error of a function that does not take such arguments.
    pub(crate) fn mismatch(&self, args: &[Value]) -> Error {
        let types: Vec<String> = args.iter().map(Value::type_name).collect();
        Error::no_such_overload_of(format_args!("{}({})", self.name, types.join(", ")))
    }
}

/// What stands for a function that was declared and that nobody has written.
pub(crate) const UNKNOWN: Function = |context, _| Err(Error::no_such_overload_of(context.name));

/// The function of a name.
pub(crate) fn find(name: &str) -> Option<Function> {
    operators::find(name)
        .or_else(|| conversions::find(name))
        .or_else(|| strings::find(name))
        .or_else(|| aggregates::find(name))
        .or_else(|| times::find(name))
        .or_else(|| optionals::find(name))
        .or_else(|| regexes::find(name))
        .or_else(|| kubernetes::find(name))
        .or_else(|| authz::find(name))
        .or_else(|| math::find(name))
        .or_else(|| extensions::find(name))
}

/// Functions with one implementation for all of their overloads.
pub(crate) fn is_singleton(name: &str) -> bool {
    name.starts_with('_')
        || matches!(name, operator::NOT | operator::NEGATE | operator::IN)
        || matches!(
            name,
            "size"
                | "contains"
                | "endsWith"
                | "startsWith"
                | "matches"
                | "type"
                | "sort"
                | "@sortByAssociatedKeys"
        )
}

/// Conversions of constants are done when a program is made.
pub(crate) fn is_conversion(name: &str) -> bool {
    matches!(
        name,
        "bool"
            | "bytes"
            | "double"
            | "duration"
            | "dyn"
            | "int"
            | "string"
            | "timestamp"
            | "type"
            | "uint"
    )
}

/// Whether a value can be a key or an index.
pub(crate) fn is_key(value: &Value) -> bool {
    matches!(
        value,
        Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_)
    )
}

pub(crate) fn invalid_key(value: &Value) -> Error {
    Error::new(format!("invalid qualifier type: {}", value.go_type()))
}

/// A key as the index of a list.
pub(crate) fn index(key: &Value) -> Result<i64> {
    let unsupported = |key: &Value| Error::new(format!("unsupported index value {key} in list"));
    match key {
        Value::Int(it) => Ok(*it),
        Value::Uint(it) => i64::try_from(*it).map_err(|_| unsupported(key)),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::float_cmp,
            reason = "checked by going back"
        )]
        Value::Double(it) => {
            if (*it as i64) as f64 == *it {
                Ok(*it as i64)
            } else {
                Err(unsupported(key))
            }
        }
        other => Err(Error::new(format!(
            "unsupported index type '{}' in list",
            other.type_name()
        ))),
    }
}

pub(crate) fn not_optional_element(value: &Value) -> Error {
    Error::new(format!(
        "cannot initialize optional list element from non-optional value {value}"
    ))
}

pub(crate) fn not_optional_entry(key: impl fmt::Display, value: &Value) -> Error {
    Error::new(format!(
        "cannot initialize optional entry '{key}' from non-optional value {value}"
    ))
}

/// A type by its name, for expressions that were not checked.
pub(crate) fn type_named(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "type" => Type::Type(None),
        "google.protobuf.Timestamp" => Type::Timestamp,
        "google.protobuf.Duration" => Type::Duration,
        _ => return None,
    })
}
