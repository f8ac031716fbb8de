//! A value and where it is: what every rule looks at.
//!
//! Hot path. Going down costs a look into an object and no allocation.

use json::{Number, Object, Value};
use meta::field::Path;

static NULL: Value = Value::Null;

/// What is not there reads as Go's zero value: no text, 0, false, no items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: Path<'a>,
}

impl<'a> Field<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        let path = Path::root();
        Self { value, path }
    }

    pub(crate) fn child(&'a self, name: &'a str) -> Field<'a> {
        Field {
            value: self.value.get(name).unwrap_or(&NULL),
            path: self.path.child(name),
        }
    }

    /// Several names down at once.
    pub(crate) fn children(&'a self, names: &'a [&'a str]) -> Field<'a> {
        Field {
            value: self.value.at(names).unwrap_or(&NULL),
            path: self.path.children(names),
        }
    }

    /// A child that is reported under another name than it has.
    pub(crate) fn child_as(&'a self, name: &str, reported: &'a str) -> Field<'a> {
        Field {
            value: self.value.get(name).unwrap_or(&NULL),
            path: self.path.child(reported),
        }
    }

    /// This value, reported below itself.
    pub(crate) fn below(&'a self, reported: &'a str) -> Field<'a> {
        Field {
            value: self.value,
            path: self.path.child(reported),
        }
    }

    /// Another value in the place of this.
    pub(crate) fn with(&self, value: &'a Value) -> Field<'a> {
        Field {
            value,
            path: self.path,
        }
    }

    pub(crate) fn item(&'a self, index: usize) -> Field<'a> {
        let items = self.value.as_array();
        Field {
            value: items.and_then(|it| it.get(index)).unwrap_or(&NULL),
            path: self.path.index(index),
        }
    }

    pub(crate) fn items(
        &'a self,
    ) -> impl DoubleEndedIterator<Item = Field<'a>> + ExactSizeIterator {
        let all = self.list().iter().enumerate();
        all.map(|(index, value)| Field {
            value,
            path: self.path.index(index),
        })
    }

    /// The pairs of a map, each reported as `path[key]`.
    pub(crate) fn entries(&'a self) -> impl Iterator<Item = (&'a str, Field<'a>)> {
        self.pairs().map(|(key, value)| {
            let path = self.path.key(key);
            (key, Field { value, path })
        })
    }

    pub(crate) fn entry(&'a self, key: &'a str) -> Field<'a> {
        Field {
            value: self.value.get(key).unwrap_or(&NULL),
            path: self.path.key(key),
        }
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
        let object: Option<&'a Object> = self.value.as_object();
        let pairs = object.into_iter().flat_map(Object::iter);
        pairs.map(|(key, value)| (key.as_str(), value))
    }

    pub(crate) fn list(&self) -> &'a [Value] {
        self.value.as_array().map_or(&[], Vec::as_slice)
    }

    /// The texts of a list.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.list().iter().filter_map(Value::as_str)
    }

    /// Where Go has a pointer, a slice or a map that is not nil.
    pub(crate) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.value.get(name).is_some_and(|it| !it.is_null())
    }

    /// Nothing in it: no text, no items, no pairs.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes, items or pairs.
    pub(crate) fn len(&self) -> usize {
        match self.value {
            Value::String(it) => it.len(),
            Value::Array(it) => it.len(),
            Value::Object(it) => it.len(),
            _ => 0,
        }
    }

    pub(crate) fn str(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    pub(crate) fn opt_str(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    pub(crate) fn int(&self) -> i64 {
        self.opt_int().unwrap_or_default()
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole float is meant as an integer"
    )]
    pub(crate) fn opt_int(&self) -> Option<i64> {
        match self.value.as_number()? {
            Number::Int(it) => Some(it),
            Number::Float(it) => Some(it as i64),
        }
    }

    pub(crate) fn opt_bool(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// The text of a child.
    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.value
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.value
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str) -> i64 {
        self.value
            .get(name)
            .and_then(Value::as_i64)
            .unwrap_or_default()
    }
}

/// The text of a key, where no path is needed.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn int(value: &Value, name: &str) -> i64 {
    value.get(name).and_then(Value::as_i64).unwrap_or_default()
}
