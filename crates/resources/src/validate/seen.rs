//! What came before in a list, found without going back through it: lists may have as many items as a client likes.

use std::collections::HashSet;
use std::hash::Hash;

use json::Value;

/// Up to this many are compared one by one, which needs no hashing.
const FEW: usize = 16;

#[derive(Debug)]
pub(crate) struct Seen<K> {
    few: Vec<K>,
    many: HashSet<K>,
}

impl<K: Eq + Hash> Seen<K> {
    /// Whether it is new.
    pub(crate) fn insert(&mut self, key: K) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(key);
        }
        if self.few.contains(&key) {
            return false;
        }
        self.few.push(key);
        if self.few.len() > FEW {
            self.many.extend(self.few.drain(..));
        }
        true
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.few.contains(key) || self.many.contains(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &K> {
        self.few.iter().chain(&self.many)
    }
}

impl<K> Default for Seen<K> {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            many: HashSet::new(),
        }
    }
}

impl<K: Eq + Hash> FromIterator<K> for Seen<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut seen = Self::default();
        for key in keys {
            seen.insert(key);
        }
        seen
    }
}

/// A value as a key: equal values, however their maps are ordered, are equal keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key<'a> {
    Text(&'a str),
    Other(String),
}

impl<'a> From<&'a Value> for Key<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            Value::Array(_) | Value::Object(_) => {
                let mut sorted = value.clone();
                sorted.sort_keys();
                Self::Other(json::to_string(&sorted))
            }
            other => Self::Other(json::to_string(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn few_and_many() {
        let mut seen = Seen::default();
        for number in 0..100 {
            assert!(seen.insert(number) && !seen.insert(number), "{number}");
            assert!(seen.contains(&number) && !seen.contains(&(number + 1)));
        }
        assert_eq!(seen.iter().count(), 100);
    }

    #[test]
    fn keys_are_equal_as_values_are() {
        let (a, b) = (json!({"x": 1, "y": [2]}), json!({"y": [2], "x": 1}));
        assert_eq!(Key::from(&a), Key::from(&b));
        assert_ne!(Key::from(&json!("1")), Key::from(&json!(1)));
    }
}
