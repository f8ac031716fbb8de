//! The parts of a schema that are looked up by what an object has: properties by name, listed values by value.
//!
//! Both sides may be long, so that neither is searched from the front for each of the other.

use std::collections::{HashMap, HashSet};

use json::{Number, Text, Value};

use crate::NodeId;

/// More than this are indexed.
const FEW: usize = 16;

/// `properties`, in the order of the schema.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    list: Vec<(Text, NodeId)>,
    index: HashMap<Text, usize>,
}

impl Properties {
    /// The place in the order, and the schema.
    pub fn find(&self, name: &str) -> Option<(usize, NodeId)> {
        let at = if self.index.is_empty() {
            self.list.iter().position(|it| it.0 == *name)?
        } else {
            *self.index.get(name)?
        };
        Some((at, self.list[at].1))
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, (Text, NodeId)> {
        self.list.iter()
    }
}

/// Each name comes once.
impl FromIterator<(Text, NodeId)> for Properties {
    fn from_iter<I: IntoIterator<Item = (Text, NodeId)>>(properties: I) -> Self {
        let list: Vec<_> = properties.into_iter().collect();
        let mut index = HashMap::new();
        if list.len() > FEW {
            let names = list.iter().enumerate();
            index.extend(names.map(|(at, (name, _))| (name.clone(), at)));
        }
        Self { list, index }
    }
}

impl<'a> IntoIterator for &'a Properties {
    type Item = &'a (Text, NodeId);
    type IntoIter = std::slice::Iter<'a, (Text, NodeId)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// `enum`
#[derive(Clone, Debug, Default)]
pub struct Values {
    list: Vec<Value>,
    texts: HashSet<Text>,
}

impl Values {
    pub fn as_slice(&self) -> &[Value] {
        &self.list
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A number becomes what the listed one is before they are compared: upstream finds 1 in 1.5. A long search is
    /// charged.
    pub(super) fn contains(&self, value: &Value, charge: impl FnOnce(usize)) -> bool {
        if let (Value::String(text), false) = (value, self.texts.is_empty()) {
            return self.texts.contains(text);
        }
        charge(self.list.len() / FEW);
        let same = |it: &Value| match (it, value) {
            (Value::Number(a @ Number::Int(_)), Value::Number(b)) => {
                a.as_f64().total_cmp(&b.as_f64().trunc()).is_eq()
            }
            (Value::Number(a), Value::Number(b)) => a.as_f64().total_cmp(&b.as_f64()).is_eq(),
            _ => it == value && !value.is_null(),
        };
        self.list.iter().any(same)
    }
}

impl From<Vec<Value>> for Values {
    fn from(list: Vec<Value>) -> Self {
        let mut texts = HashSet::new();
        if list.len() > FEW {
            texts.extend(list.iter().filter_map(|it| match it {
                Value::String(text) => Some(text.clone()),
                _ => None,
            }));
        }
        Self { list, texts }
    }
}
