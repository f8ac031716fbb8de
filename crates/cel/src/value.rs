//! Values at run time. Data is borrowed where it comes from: reading a field or an element of JSON copies nothing.

pub(crate) mod compare;
mod convert;
pub(crate) mod list;
pub(crate) mod map;
pub(crate) mod opaque;
pub(crate) mod text;
pub(crate) mod time;

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::schema::Schema;
use crate::types::Type;
pub use convert::JsonLimits;
pub use list::List;
pub use map::Map;
pub use opaque::Opaque;
pub use text::{Blob, Str};
pub use time::Timestamp;

/// Where lists and maps of JSON come from, which decides how they compare with values of other types.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// Data without types.
    Plain,
    /// Go structs: comparing them with a value that is no list or map is an error, not false.
    Struct,
    /// Data that a schema describes.
    Schema(&'a Schema),
}

impl<'a> Origin<'a> {
    #[inline]
    pub(crate) fn schema(self) -> Option<&'a Schema> {
        match self {
            Self::Schema(schema) => Some(schema),
            Self::Plain | Self::Struct => None,
        }
    }

    /// The value of JSON that has no schema of its own.
    #[inline]
    pub(crate) fn value(self, value: &'a json::Value) -> Value<'a> {
        match self {
            Self::Struct => Value::from_struct(value),
            Self::Plain | Self::Schema(_) => Value::from_json(value),
        }
    }
}

/// A value. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Str<'a>),
    Bytes(Blob<'a>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    List(List<'a>),
    Map(Map<'a>),
    Type(Arc<Type>),
    Optional(Option<Arc<Value<'a>>>),
    /// A value of a library: an address, a quantity, a URL, ...
    Opaque(Opaque<'a>),
    /// An object that an expression has made.
    Struct(Arc<Struct<'a>>),
    /// An object whose fields are computed when they are read.
    Lazy(LazyObject<'a>),
    /// Data of a schema that says nothing of it.
    Unknown(&'a json::Value),
}

/// An object that an expression has made, such as `Object{...}` or `JSONPatch{...}`.
#[derive(Clone, Debug)]
pub struct Struct<'a> {
    pub name: Arc<str>,
    pub fields: Vec<(Arc<str>, Value<'a>)>,
}

impl<'a> Struct<'a> {
    pub fn field(&self, name: &str) -> Option<&Value<'a>> {
        let found = self.fields.iter().find(|it| &*it.0 == name);
        found.map(|it| &it.1)
    }
}

/// Fields that are computed when they are read, such as the variables of a policy.
pub trait Lazy: Send + Sync {
    /// The value of a field; nothing if there is no such field.
    fn field<'s>(&'s self, name: &str) -> Option<Result<Value<'s>, Error>>;
}

#[derive(Clone, Copy)]
pub struct LazyObject<'a>(pub &'a dyn Lazy);

impl fmt::Debug for LazyObject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lazy")
    }
}

impl<'a> Value<'a> {
    pub fn string(text: impl Into<Str<'a>>) -> Self {
        Self::String(text.into())
    }

    pub fn list(items: Vec<Value<'a>>) -> Self {
        Self::List(List::from(items))
    }

    pub fn some(value: Value<'a>) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    pub const NONE: Self = Self::Optional(None);

    /// JSON as it is, without a schema.
    #[inline]
    pub fn from_json(value: &'a json::Value) -> Self {
        match value {
            json::Value::Null => Self::Null,
            json::Value::Bool(it) => Self::Bool(*it),
            json::Value::Number(json::Number::Int(it)) => Self::Int(*it),
            json::Value::Number(json::Number::Float(it)) => Self::Double(*it),
            json::Value::String(it) => Self::String(Str::Borrowed(it)),
            json::Value::Array(it) => Self::List(List::Json(it, Origin::Plain)),
            json::Value::Object(it) => Self::Map(Map::Json(it, Origin::Plain)),
        }
    }

    /// JSON of an object that is a Go struct in kube-apiserver: an object of a built-in kind, the request of admission.
    pub fn from_struct(value: &'a json::Value) -> Self {
        match value {
            json::Value::Array(it) => Self::List(List::Json(it, Origin::Struct)),
            json::Value::Object(it) => Self::Map(Map::Json(it, Origin::Struct)),
            other => Self::from_json(other),
        }
    }

    /// The same value, which borrows what this one shares.
    #[inline]
    pub(crate) fn borrowed(&'a self) -> Self {
        match self {
            Self::String(it) => Self::String(Str::Borrowed(it)),
            Self::Bytes(it) => Self::Bytes(Blob::Borrowed(it)),
            other => other.clone(),
        }
    }

    /// JSON as a schema describes it.
    pub fn typed(value: &'a json::Value, schema: &'a Schema) -> Result<Self, Error> {
        schema.value_of(value)
    }

    /// The type of the value, without parameters.
    pub fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::Duration(_) => Type::Duration,
            Self::Timestamp(_) => Type::Timestamp,
            Self::List(_) => Type::list(Type::Dyn),
            Self::Map(_) | Self::Lazy(_) => Type::map(Type::Dyn, Type::Dyn),
            Self::Type(_) => Type::Type(None),
            Self::Optional(_) => Type::optional(Type::Dyn),
            Self::Opaque(it) => it.type_of(),
            Self::Struct(it) => Type::Struct(it.name.clone()),
            Self::Unknown(_) => Type::Struct(Arc::from("unknown")),
        }
    }

    /// The name of its type, as errors write it.
    pub(crate) fn type_name(&self) -> String {
        match self {
            Self::Lazy(_) => "map".to_owned(),
            other => other.type_of().name().to_owned(),
        }
    }

    /// The name of the Go type that cel-go has for it.
    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "types.Null",
            Self::Bool(_) => "types.Bool",
            Self::Int(_) => "types.Int",
            Self::Uint(_) => "types.Uint",
            Self::Double(_) => "types.Double",
            Self::String(_) => "types.String",
            Self::Bytes(_) => "types.Bytes",
            Self::Duration(_) => "types.Duration",
            Self::Timestamp(_) => "types.Timestamp",
            Self::List(_) => "*types.baseList",
            Self::Map(_) | Self::Lazy(_) => "*types.baseMap",
            Self::Type(_) => "*types.Type",
            Self::Optional(_) => "*types.Optional",
            Self::Opaque(it) => it.go_type(),
            Self::Struct(_) => "*dynamic.ObjectVal",
            Self::Unknown(_) => "*common.unknownPreserved",
        }
    }

    /// As many characters, bytes, elements or entries as it has; 1 for all that has no size.
    pub(crate) fn size(&self) -> u64 {
        let size = match self {
            Self::String(it) => it.char_count(),
            Self::Bytes(it) => it.len(),
            Self::List(it) => it.len(),
            Self::Map(it) => it.len(),
            Self::Opaque(it) => return it.size(),
            _ => return 1,
        };
        size as u64
    }

    /// As [`Self::size`], of what an optional holds.
    pub(crate) fn actual_size(&self) -> u64 {
        match self {
            Self::Optional(Some(it)) => it.actual_size(),
            other => other.size(),
        }
    }

    /// Whether it is the empty or zero value of its type.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(it) => !it,
            Self::Int(it) | Self::Duration(it) => *it == 0,
            Self::Uint(it) => *it == 0,
            Self::Double(it) => *it == 0.0,
            Self::String(it) => it.is_empty(),
            Self::Bytes(it) => it.is_empty(),
            Self::Timestamp(it) => it.is_zero(),
            Self::List(it) => it.is_empty(),
            Self::Map(it) => it.is_empty(),
            Self::Struct(it) => it.fields.is_empty(),
            _ => false,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(it) => Some(*it),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(it) => Some(it),
            _ => None,
        }
    }
}

/// As Go prints the value with `%v`, for keys and indices in errors.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(it) => write!(f, "{it}"),
            Self::Int(it) => write!(f, "{it}"),
            Self::Uint(it) => write!(f, "{it}"),
            Self::Double(it) => f.write_str(&encoding::go::float(*it)),
            Self::String(it) => f.write_str(it),
            Self::Bytes(it) => f.write_str(&String::from_utf8_lossy(it)),
            Self::Duration(it) => f.write_str(&encoding::duration::format(*it)),
            Self::Timestamp(it) => f.write_str(&it.to_rfc3339()),
            Self::Type(it) => f.write_str(it.name()),
            Self::Opaque(it) => write!(f, "{it}"),
            other => f.write_str(&other.type_name()),
        }
    }
}
