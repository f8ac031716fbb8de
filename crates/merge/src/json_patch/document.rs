//! A document while a patch edits it. What no operation goes through stays a [`Value`]; objects on the way are opened,
//! and long arrays become a [`Sequence`], so that an operation costs what it changes and not the size of the list.

use std::collections::BTreeMap;

use json::{Object, Text, Value};

use super::sequence::Sequence;
use super::{IndexError, MISSING, index};

#[derive(Debug)]
pub(super) enum Node {
    /// Nothing within it is open.
    Whole(Value),
    Object(Box<Fields>),
    Array(Box<Sequence<Node>>),
}

/// An object of which some fields are open: in the object itself they are null.
#[derive(Debug)]
pub(super) struct Fields {
    object: Object,
    open: BTreeMap<Text, Node>,
}

impl Default for Node {
    fn default() -> Self {
        Self::Whole(Value::Null)
    }
}

impl Node {
    pub(super) fn is_container(&self) -> bool {
        !matches!(
            self,
            Self::Whole(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))
        )
    }

    /// The number of items, if this is an array.
    fn items(&self) -> Option<usize> {
        match self {
            Self::Whole(Value::Array(items)) => Some(items.len()),
            Self::Array(items) => Some(items.len()),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Result<Option<Found<'_>>, String> {
        Ok(match self {
            Self::Whole(Value::Object(object)) => object.get(key).map(Found::Value),
            Self::Whole(Value::Array(items)) => {
                items.get(index(key, items.len())?).map(Found::Value)
            }
            Self::Object(fields) => match fields.open.get(key) {
                Some(node) => Some(Found::Node(node)),
                None => fields.object.get(key).map(Found::Value),
            },
            Self::Array(items) => items.get(index(key, items.len())?).map(Found::Node),
            Self::Whole(_) => None,
        })
    }

    /// What is below a key, opened.
    pub(super) fn child_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.open();
        match self {
            Self::Object(fields) => {
                if !fields.open.contains_key(key) {
                    let value = fields.object.get_mut(key)?.take();
                    fields.open.insert(key.into(), Self::Whole(value));
                }
                fields.open.get_mut(key)
            }
            Self::Array(items) => {
                let at = index(key, items.len()).ok()?;
                items.get_mut(at)
            }
            Self::Whole(_) => None,
        }
    }

    fn open(&mut self) {
        if !matches!(self, Self::Whole(Value::Object(_) | Value::Array(_))) {
            return;
        }
        *self = match std::mem::take(self) {
            Self::Whole(Value::Object(object)) => Self::Object(Box::new(Fields {
                object,
                open: BTreeMap::new(),
            })),
            Self::Whole(Value::Array(items)) => {
                let nodes: Vec<Self> = items.into_iter().map(Self::Whole).collect();
                Self::Array(Box::new(nodes.into()))
            }
            other => other,
        };
    }

    /// Opens a long array before an edit that would move many items.
    fn open_long(&mut self) {
        if self.items().is_some_and(|it| it > Sequence::<Node>::SHORT) {
            self.open();
        }
    }

    /// Sets a field, or inserts an item.
    pub(super) fn put(&mut self, key: &str, value: Node) -> Result<(), String> {
        if !matches!(value, Self::Whole(_)) {
            // What is open stays so: it may be large.
            self.open();
        }
        if let Some(length) = self.items() {
            let at = if key == "-" {
                length
            } else {
                index(key, length + 1).map_err(|error| match error {
                    IndexError::NoNumber(why) => {
                        format!("value was not a proper array index: '{key}': {why}")
                    }
                    error @ IndexError::OutOfBounds(_) => error.to_string(),
                })?
            };
            if at + 1 < length {
                self.open_long();
            }
            match (self, value) {
                (Self::Whole(Value::Array(items)), value) => items.insert(at, value.into_value()),
                (Self::Array(items), value) => items.insert(at, value),
                _ => {}
            }
            return Ok(());
        }
        match self {
            Self::Whole(Value::Object(object)) => {
                object.insert(key, value.into_value());
            }
            Self::Object(fields) => fields.set(key, value),
            Self::Whole(_) | Self::Array(_) => {}
        }
        Ok(())
    }

    /// Replaces an item, or sets a field.
    pub(super) fn replace(&mut self, key: &str, value: Value) -> Result<(), String> {
        match self {
            Self::Whole(Value::Object(object)) => {
                object.insert(key, value);
            }
            Self::Object(fields) => fields.set(key, Self::Whole(value)),
            Self::Whole(Value::Array(items)) => {
                let at = index(key, items.len())?;
                items[at] = value;
            }
            Self::Array(items) => {
                let at = index(key, items.len())?;
                if let Some(item) = items.get_mut(at) {
                    *item = Self::Whole(value);
                }
            }
            Self::Whole(_) => {}
        }
        Ok(())
    }

    pub(super) fn cut(&mut self, key: &str) -> Result<Node, String> {
        let missing = || format!("Unable to remove nonexistent key: {key}: {MISSING}");
        if let Some(length) = self.items() {
            let at = index(key, length)?;
            if at + 1 < length {
                self.open_long();
            }
            return Ok(match self {
                Self::Whole(Value::Array(items)) => Self::Whole(items.remove(at)),
                Self::Array(items) => items.remove(at).unwrap_or_default(),
                _ => Self::default(),
            });
        }
        match self {
            Self::Whole(Value::Object(object)) => {
                object.remove(key).map(Self::Whole).ok_or_else(missing)
            }
            Self::Object(fields) => {
                let value = fields.object.remove(key).ok_or_else(missing)?;
                Ok(fields.open.remove(key).unwrap_or(Self::Whole(value)))
            }
            Self::Whole(_) | Self::Array(_) => Ok(Self::default()),
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Whole(value) => value,
            Self::Object(fields) => {
                let mut object = fields.object;
                for (key, node) in fields.open {
                    object.insert(key, node.into_value());
                }
                object.into()
            }
            Self::Array(items) => {
                let items = items.into_vec().into_iter();
                items.map(Self::into_value).collect()
            }
        }
    }

    /// A copy.
    fn to_value(&self) -> Value {
        match self {
            Self::Whole(value) => value.clone(),
            Self::Object(fields) => {
                let mut object = fields.object.clone();
                for (key, node) in &fields.open {
                    object.insert(key, node.to_value());
                }
                object.into()
            }
            Self::Array(items) => {
                let mut all = Vec::with_capacity(items.len());
                items.for_each(|it| all.push(it.to_value()));
                all.into()
            }
        }
    }

    /// Looks at no more than there is in `other`.
    fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Self::Whole(value), other) => value == other,
            (Self::Object(fields), Value::Object(other)) => {
                let same = |(key, value): (&Text, &Value)| match fields.open.get(key) {
                    Some(node) => node.equals(value),
                    None => fields.object.get(key) == Some(value),
                };
                fields.object.len() == other.len() && other.iter().all(same)
            }
            (Self::Array(items), Value::Array(other)) => {
                items.len() == other.len()
                    && (other.iter().enumerate())
                        .all(|(at, value)| items.get(at).is_some_and(|it| it.equals(value)))
            }
            _ => false,
        }
    }

    /// How many arrays and objects lie in each other, and how many values there are in all.
    pub(super) fn measure(&self) -> (usize, usize) {
        match self {
            Self::Whole(value) => measure(value),
            Self::Object(fields) => {
                let (mut depth, mut count) = measure_object(&fields.object);
                for node in fields.open.values() {
                    let (below, more) = node.measure();
                    depth = depth.max(below + 1);
                    count += more;
                }
                (depth, count)
            }
            Self::Array(items) => {
                let (mut depth, mut count) = (1, 1);
                items.for_each(|it| {
                    let (below, more) = it.measure();
                    depth = depth.max(below + 1);
                    count += more;
                });
                (depth, count)
            }
        }
    }
}

/// The same of a value.
pub(super) fn measure(value: &Value) -> (usize, usize) {
    match value {
        Value::Object(object) => measure_object(object),
        Value::Array(items) => measure_all(items.iter()),
        _ => (0, 1),
    }
}

fn measure_object(object: &Object) -> (usize, usize) {
    measure_all(object.values())
}

fn measure_all<'a>(values: impl Iterator<Item = &'a Value>) -> (usize, usize) {
    values.map(measure).fold((1, 1), |(depth, count), it| {
        (depth.max(it.0 + 1), count + it.1)
    })
}

impl Fields {
    fn set(&mut self, key: &str, value: Node) {
        if let Some(node) = self.open.get_mut(key) {
            *node = value;
        } else if let Node::Whole(value) = value {
            self.object.insert(key, value);
        } else {
            self.object.insert(key, Value::Null);
            self.open.insert(key.into(), value);
        }
    }
}

/// What is found below a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a> {
    Value(&'a Value),
    Node(&'a Node),
}

impl Found<'_> {
    pub(super) fn to_value(self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Node(node) => node.to_value(),
        }
    }

    pub(super) fn equals(self, other: &Value) -> bool {
        match self {
            Self::Value(value) => value == other,
            Self::Node(node) => node.equals(other),
        }
    }
}
