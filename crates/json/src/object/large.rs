//! Many pairs, with an index from key to slot. Removing leaves an empty slot, and empty slots go once they are half.

use std::collections::HashMap;

use super::Pair;
use crate::{Text, Value};

#[derive(Clone, Default)]
pub(super) struct Large {
    slots: Vec<Option<Pair>>,
    /// Exactly the keys in `slots`. Hashed with a random seed: clients choose the keys.
    index: HashMap<Text, usize>,
}

impl Large {
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn slots(&self) -> &[Option<Pair>] {
        &self.slots
    }

    pub(super) fn slots_mut(&mut self) -> &mut [Option<Pair>] {
        &mut self.slots
    }

    pub(super) fn into_slots(self) -> Vec<Option<Pair>> {
        self.slots
    }

    pub(super) fn into_pairs(self) -> Vec<Pair> {
        self.slots.into_iter().flatten().collect()
    }

    pub(super) fn position(&self, key: &str) -> Option<usize> {
        self.index.get(key).copied()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let slot = self.slots.get(self.position(key)?)?;
        slot.as_ref().map(|(_, value)| value)
    }

    pub(super) fn value_mut(&mut self, at: usize) -> Option<&mut Value> {
        self.slots.get_mut(at)?.as_mut().map(|(_, value)| value)
    }

    /// The key is known not to be there.
    pub(super) fn push(&mut self, key: Text, value: Value) {
        self.index.insert(key.clone(), self.slots.len());
        self.slots.push(Some((key, value)));
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.index.remove(key)?;
        let (_, value) = self.slots.get_mut(at)?.take()?;
        if self.len() < self.slots.len() / 2 {
            self.compact();
        }
        Some(value)
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value) -> bool) {
        self.slots.retain_mut(|slot| {
            let Some((key, value)) = slot else {
                return false;
            };
            let keeps = keep(key, value);
            if !keeps {
                self.index.remove(&**key);
            }
            keeps
        });
        self.compact();
    }

    fn compact(&mut self) {
        self.slots.retain(Option::is_some);
        for (at, slot) in self.slots.iter().enumerate() {
            let key = slot.as_ref().map(|(key, _)| &**key);
            if let Some(place) = key.and_then(|key| self.index.get_mut(key)) {
                *place = at;
            }
        }
    }
}

/// Each key comes once.
impl FromIterator<Pair> for Large {
    fn from_iter<I: IntoIterator<Item = Pair>>(pairs: I) -> Self {
        let mut all = Self::default();
        for (key, value) in pairs {
            all.push(key, value);
        }
        all
    }
}
