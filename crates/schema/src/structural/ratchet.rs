//! Which old value a new one comes from.

use std::collections::HashMap;

use json::{Text, Value};

use crate::{ListType, Place, Shape};

/// An old value, and its place in the structure of the schema.
#[derive(Clone, Copy)]
pub(super) struct Old<'a> {
    pub(super) place: Place<'a>,
    pub(super) value: &'a Value,
    pub(super) is_root: bool,
}

impl<'a> Old<'a> {
    /// The old value of a field. The type of the whole object is not seen to change: both are of the new one.
    pub(super) fn field(self, name: &str) -> Option<Old<'a>> {
        if self.is_root && matches!(name, "apiVersion" | "kind") {
            return None;
        }
        self.child(name)
    }

    fn child(self, name: &str) -> Option<Old<'a>> {
        let rules = self.place.node().rules.as_ref()?;
        let property = rules.properties.find(name);
        Some(Old {
            place: self.place.at(property.map(|it| it.1).or(rules.additional)?),
            value: self.value.get(name)?,
            is_root: false,
        })
    }

    /// Only items of a list that is a map can be told from each other.
    pub(super) fn items(self) -> Option<Items<'a>> {
        let Shape::List {
            items,
            list_type: ListType::Map(keys),
        } = self.place.shape()
        else {
            return None;
        };
        Some(Items {
            place: self.place.at(*items),
            keys,
            known: by_keys(keys, self.value.as_array()?),
        })
    }

    /// Unchanged. A field that the schema does not know counts as changed. What was found is kept by the address of the
    /// new value, so that each is compared once, however many levels above it ask.
    pub(super) fn is(self, new: &Value, known: &mut HashMap<usize, bool>) -> bool {
        if !matches!(new, Value::Array(_) | Value::Object(_)) {
            return self.value == new;
        }
        let address = std::ptr::from_ref(new).addr();
        if let Some(known) = known.get(&address) {
            return *known;
        }
        let found = self.is_same(new, known);
        known.insert(address, found);
        found
    }

    fn is_same(self, new: &Value, known: &mut HashMap<usize, bool>) -> bool {
        match (self.value, new) {
            (Value::Array(old), Value::Array(new)) => {
                if old.len() != new.len() {
                    return false;
                }
                let Some(items) = self.items() else {
                    return old == new;
                };
                new.iter()
                    .all(|it| items.find(it).is_some_and(|old| old.is(it, known)))
            }
            (Value::Object(old), Value::Object(new)) => {
                let same = |(key, value): (&Text, &Value)| {
                    self.child(key).is_some_and(|old| old.is(value, known))
                };
                old.len() == new.len() && new.iter().all(same)
            }
            _ => false,
        }
    }
}

/// The old items of a list, by their keys.
pub(super) struct Items<'a> {
    place: Place<'a>,
    keys: &'a [Text],
    known: HashMap<String, &'a Value>,
}

impl<'a> Items<'a> {
    pub(super) fn find(&self, new: &Value) -> Option<Old<'a>> {
        let value = self.known.get(&key(self.keys, new)?)?;
        Some(Old {
            place: self.place,
            value,
            is_root: false,
        })
    }
}

/// The first item of each key.
pub(super) fn by_keys<'a>(keys: &[Text], items: &'a [Value]) -> HashMap<String, &'a Value> {
    let mut known = HashMap::new();
    for item in items {
        if let Some(key) = key(keys, item) {
            known.entry(key).or_insert(item);
        }
    }
    known
}

/// Of an item that has all keys, each of them a scalar.
pub(super) fn key(keys: &[Text], item: &Value) -> Option<String> {
    let mut out = String::new();
    for key in keys {
        match item.get(key)? {
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
            scalar => out.push_str(&scalar.to_string()),
        }
        out.push('\0');
    }
    Some(out)
}
