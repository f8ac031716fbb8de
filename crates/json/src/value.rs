//! The tree.

use std::fmt;

use crate::{Number, Object, Text};

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(Text),
    Array(Vec<Value>),
    Object(Object),
}

impl Value {
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(it) => Some(*it),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<Number> {
        match self {
            Self::Number(it) => Some(*it),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(it) => Some(it),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&Vec<Value>> {
        match self {
            Self::Array(it) => Some(it),
            _ => None,
        }
    }

    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Self::Array(it) => Some(it),
            _ => None,
        }
    }

    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(it) => Some(it),
            _ => None,
        }
    }

    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Self::Object(it) => Some(it),
            _ => None,
        }
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_object_mut()?.get_mut(key)
    }

    /// The value below a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    pub fn at_mut(&mut self, path: &[&str]) -> Option<&mut Value> {
        path.iter().try_fold(self, |value, key| value.get_mut(key))
    }

    pub fn str_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.as_str()
    }

    /// Leaves null behind.
    #[must_use]
    pub fn take(&mut self) -> Value {
        std::mem::take(self)
    }

    /// Puts the pairs of all objects within it in the order of their keys' bytes, as Go writes maps.
    pub fn sort_keys(&mut self) {
        match self {
            Self::Object(object) => {
                object.sort_keys();
                object.values_mut().for_each(Self::sort_keys);
            }
            Self::Array(items) => items.iter_mut().for_each(Self::sort_keys),
            _ => {}
        }
    }

    /// What kind of value it is, in JSON's words.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(Number::Int(_)) => "integer",
            Self::Number(Number::Float(_)) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::to_string(self))
    }
}

macro_rules! from {
    ($($from:ty => $it:ident $to:expr;)*) => {$(
        impl From<$from> for Value {
            fn from($it: $from) -> Self {
                $to
            }
        }
    )*};
}

from! {
    bool => it Self::Bool(it);
    i64 => it Self::Number(Number::Int(it));
    i32 => it Self::Number(Number::Int(it.into()));
    u32 => it Self::Number(Number::Int(it.into()));
    Number => it Self::Number(it);
    &str => it Self::String(it.into());
    &String => it Self::String(it.into());
    String => it Self::String(it.into());
    Text => it Self::String(it);
    &Text => it Self::String(it.clone());
    Object => it Self::Object(it);
    Vec<Value> => it Self::Array(it);
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(it: Option<T>) -> Self {
        it.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

/// Writes a value as JSON text, with Rust expressions where values stand.
#[macro_export]
macro_rules! json {
    (null) => { $crate::Value::Null };
    ([]) => { $crate::Value::Array(Vec::new()) };
    ([ $($item:tt),* $(,)? ]) => { $crate::Value::Array(vec![ $($crate::json!($item)),* ]) };
    ({}) => { $crate::Value::Object($crate::Object::new()) };
    ({ $($key:literal : $value:tt),* $(,)? }) => {{
        let mut object = $crate::Object::new();
        $( object.insert($key, $crate::json!($value)); )*
        $crate::Value::Object(object)
    }};
    ($other:expr) => { $crate::Value::from($other) };
}
