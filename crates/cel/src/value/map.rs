//! Maps: JSON objects, and maps that expressions make.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::{Origin, Str, Value};
use crate::error::Error;

#[derive(Clone, Debug)]
pub enum Map<'a> {
    Json(&'a json::Object, Origin<'a>),
    Values(Arc<Entries<'a>>),
}

/// Keys and values in the order in which they were put in.
#[derive(Clone, Debug, Default)]
pub struct Entries<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    /// From the hash of a key to where it may be; only for maps that are not small.
    index: HashMap<u64, Vec<u32>>,
}

/// Smaller maps are searched from the begin.
const SMALL: usize = 8;

impl<'a> Entries<'a> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn position(&self, key: &Value) -> Option<usize> {
        if self.entries.len() <= SMALL {
            return self.entries.iter().position(|it| is_same_key(&it.0, key));
        }
        let places = self.index.get(&hash(key))?;
        let found = places
            .iter()
            .find(|it| is_same_key(&self.entries[**it as usize].0, key));
        found.map(|it| *it as usize)
    }

    /// Puts a value in, over one that has the same key. Tells whether there was one.
    pub(crate) fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> bool {
        if let Some(at) = self.position(&key) {
            self.entries[at].1 = value;
            return true;
        }
        self.entries.push((key, value));
        let count = self.entries.len();
        if count == SMALL + 1 {
            for at in 0..count {
                self.note(at);
            }
        } else if count > SMALL {
            self.note(count - 1);
        }
        false
    }

    fn note(&mut self, at: usize) {
        let hash = hash(&self.entries[at].0);
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.index.entry(hash).or_default().push(at);
    }

    pub(crate) fn remove(&mut self, key: &Value) {
        if let Some(at) = self.position(key) {
            self.entries.remove(at);
            self.index.clear();
            if self.entries.len() > SMALL {
                for at in 0..self.entries.len() {
                    self.note(at);
                }
            }
        }
    }
}

/// Keys are the same if their type is: `1` and `1u` are two keys.
fn is_same_key(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => **a == **b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        #[expect(clippy::float_cmp, reason = "keys are the same or not")]
        (Value::Double(a), Value::Double(b)) => a == b,
        (Value::Null, Value::Null) => true,
        _ => false,
    }
}

fn hash(key: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    match key {
        Value::String(it) => (**it).hash(&mut hasher),
        Value::Int(it) => it.hash(&mut hasher),
        Value::Uint(it) => it.hash(&mut hasher),
        Value::Bool(it) => it.hash(&mut hasher),
        Value::Double(it) => it.to_bits().hash(&mut hasher),
        _ => {}
    }
    hasher.finish()
}

impl<'a> Map<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Json(it, _) => it.len(),
            Self::Values(it) => it.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key. Numbers of another type are the same key if they are the same number.
    pub fn find(&self, key: &Value) -> Option<Result<Value<'a>, Error>> {
        match self {
            Self::Json(object, origin) => {
                let Value::String(name) = key else {
                    return match origin {
                        Origin::Plain => None,
                        Origin::Schema(_) => Some(Err(Error::no_such_overload())),
                        Origin::Struct => Some(Err(Error::new(format!(
                            "unsupported map key type: {}",
                            key.go_type()
                        )))),
                    };
                };
                find_json(object, *origin, name)
            }
            Self::Values(entries) => {
                let at = entries.position(key).or_else(|| {
                    alternatives(key)
                        .into_iter()
                        .flatten()
                        .find_map(|it| entries.position(&it))
                })?;
                Some(Ok(entries.entries[at].1.clone()))
            }
        }
    }

    /// The value of a string key.
    pub fn find_str(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        match self {
            Self::Json(object, origin) => find_json(object, *origin, name),
            Self::Values(_) => self.find(&Value::String(Str::Borrowed(name))),
        }
    }

    /// The keys, in order.
    pub fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Self::Json(object, origin) => object
                .iter()
                .filter_map(|(key, _)| match origin.schema() {
                    Some(schema) => schema.key_of(key),
                    None => Some(Value::String(Str::Borrowed(key))),
                })
                .collect(),
            Self::Values(entries) => entries.entries.iter().map(|it| it.0.clone()).collect(),
        }
    }

    /// Keys and values, in order.
    pub fn pairs(&self) -> Vec<(Value<'a>, Result<Value<'a>, Error>)> {
        self.keys()
            .into_iter()
            .filter_map(|key| {
                let value = self.find(&key)?;
                Some((key, value))
            })
            .collect()
    }
}

impl<'a> From<Entries<'a>> for Map<'a> {
    fn from(entries: Entries<'a>) -> Self {
        Self::Values(Arc::new(entries))
    }
}

fn find_json<'a>(
    object: &'a json::Object,
    origin: Origin<'a>,
    name: &str,
) -> Option<Result<Value<'a>, Error>> {
    match origin.schema() {
        None => object.get(name).map(|it| Ok(origin.value(it))),
        Some(schema) => schema.find(object, name),
    }
}

/// The same number in other types.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "checked by going back"
)]
fn alternatives(key: &Value) -> [Option<Value<'static>>; 2] {
    match key {
        Value::Double(it) => [
            (*it as i64 as f64 == *it).then_some(Value::Int(*it as i64)),
            (*it as u64 as f64 == *it).then_some(Value::Uint(*it as u64)),
        ],
        Value::Int(it) => [u64::try_from(*it).ok().map(Value::Uint), None],
        Value::Uint(it) => [i64::try_from(*it).ok().map(Value::Int), None],
        _ => [None, None],
    }
}
