//! Which old value belongs to a new one: what `oldSelf` is, and what a failure is excused by.

use std::collections::HashMap;

use json::Value;

use crate::structural::ratchet::{self, Items, Old};

/// The old value of a value, for ratcheting (KEP-4008), and that of the nearest value above it that has one.
#[derive(Clone, Copy, Default)]
pub(super) struct Correlation<'a> {
    current: Option<Old<'a>>,
    nearest: Option<(Old<'a>, &'a Value)>,
}

impl<'a> Correlation<'a> {
    pub(super) fn root(old: Option<Old<'a>>) -> Self {
        Self {
            current: old,
            nearest: None,
        }
    }

    /// Of the value at a key of `value`.
    pub(super) fn key(self, value: &'a Value, key: &str) -> Self {
        match self.current {
            None => self,
            // The old object was converted to the new one's version.
            Some(old) if old.is_root && matches!(key, "apiVersion" | "kind") => Self::default(),
            Some(old) => Self {
                current: old.field(key),
                nearest: Some((old, value)),
            },
        }
    }

    /// The old items of a list, to be found for each new one.
    pub(super) fn items(self) -> Option<Items<'a>> {
        self.current?.items()
    }

    pub(super) fn item(self, value: &'a Value, old: Option<&Items<'a>>, item: &Value) -> Self {
        match self.current {
            None => self,
            Some(list) => Self {
                current: old.and_then(|it| it.find(item)),
                nearest: Some((list, value)),
            },
        }
    }

    /// What clauses find is never excused by the value itself.
    pub(super) fn clause(self) -> Self {
        Self {
            current: None,
            nearest: self.nearest,
        }
    }

    /// Whether nothing has changed here, or around what cannot be told from its neighbours.
    pub(super) fn is_unchanged(self, value: &Value, known: &mut HashMap<usize, bool>) -> bool {
        match (self.current, self.nearest) {
            (Some(old), _) => old.is(value, known),
            (None, Some((old, above))) => old.is(above, known),
            (None, None) => false,
        }
    }
}

/// The items of an old list by their keys.
pub(super) struct OldItems<'k, 'a> {
    keys: &'k [json::Text],
    known: HashMap<String, &'a Value>,
}

impl<'k, 'a> OldItems<'k, 'a> {
    pub(super) fn new(keys: &'k [json::Text], old: &'a Value) -> Option<Self> {
        let known = ratchet::by_keys(keys, old.as_array()?);
        Some(Self { keys, known })
    }

    pub(super) fn find(&self, item: &Value) -> Option<&'a Value> {
        self.known.get(&ratchet::key(self.keys, item)?).copied()
    }
}
