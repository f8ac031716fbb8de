//! An object: pairs in the order they came, each key once.
//!
//! Up to `SMALL` pairs lie in one block and are searched from the front, which beats hashing at that size. Beyond it
//! an index is kept, so that no operation is linear in the size of an object that a client can choose.
//! Clones share the pairs until one of them changes.

mod large;
mod pairs;

use std::fmt;
use std::sync::Arc;

use ecow::EcoVec;

use self::large::Large;
use self::pairs::{Live, Pairs};
use crate::{Text, Value};

type Pair = (Text, Value);

#[derive(Clone)]
pub struct Object(Repr);

#[derive(Clone)]
enum Repr {
    Small(EcoVec<Pair>),
    Large(Arc<Large>),
}

impl Object {
    /// More pairs than this are indexed.
    pub(crate) const SMALL: usize = 64;

    pub const fn new() -> Self {
        Self(Repr::Small(EcoVec::new()))
    }

    pub fn with_capacity(capacity: usize) -> Self {
        Self(Repr::Small(EcoVec::with_capacity(
            capacity.min(Self::SMALL),
        )))
    }

    /// Takes pairs as they are: the caller knows that no two keys are equal.
    pub fn from_distinct(pairs: Vec<(Text, Value)>) -> Self {
        let mut all = Self::with_capacity(pairs.len());
        for (key, value) in pairs {
            all.push(key, value);
        }
        all
    }

    /// Whether both share their pairs: one is a clone of the other and neither was touched since. May be false for
    /// equal objects, never true for different ones.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Small(one), Repr::Small(two)) => {
                std::ptr::eq(one.as_ptr(), two.as_ptr()) && one.len() == two.len()
            }
            (Repr::Large(one), Repr::Large(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }

    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Small(pairs) => pairs.len(),
            Repr::Large(large) => large.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.0 {
            Repr::Small(pairs) => pairs
                .iter()
                .find(|(it, _)| *it == *key)
                .map(|(_, value)| value),
            Repr::Large(large) => large.get(key),
        }
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match &mut self.0 {
            Repr::Small(pairs) => {
                let at = position(pairs, key)?;
                Some(&mut pairs.make_mut()[at].1)
            }
            Repr::Large(large) => {
                let at = large.position(key)?;
                Arc::make_mut(large).value_mut(at)
            }
        }
    }

    /// The value of the key, which is appended as null if it is not there.
    pub fn get_or_insert(&mut self, key: &str) -> &mut Value {
        if !self.contains_key(key) {
            self.push(key, Value::Null);
        }
        self.get_mut(key).expect("it is there by now")
    }

    /// Replaces in place, or appends. Gives back what was there.
    pub fn insert(&mut self, key: impl Into<Text>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        if let Some(found) = self.get_mut(&key) {
            return Some(std::mem::replace(found, value));
        }
        self.push(key, value);
        None
    }

    /// The others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        match &mut self.0 {
            Repr::Small(pairs) => {
                let at = position(pairs, key)?;
                Some(pairs.remove(at).1)
            }
            Repr::Large(large) => {
                large.position(key)?;
                Arc::make_mut(large).remove(key)
            }
        }
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value) -> bool) {
        match &mut self.0 {
            Repr::Small(pairs) => pairs.retain(|(key, value)| keep(key, value)),
            Repr::Large(large) => Arc::make_mut(large).retain(keep),
        }
    }

    pub fn clear(&mut self) {
        *self = Self::new();
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Text, &Value)> + DoubleEndedIterator {
        match &self.0 {
            Repr::Small(pairs) => Pairs::Small(pairs.iter()),
            Repr::Large(large) => Pairs::Large(Live::new(large.slots().iter(), large.len())),
        }
        .map(|(key, value)| (key, value))
    }

    pub fn iter_mut(
        &mut self,
    ) -> impl ExactSizeIterator<Item = (&Text, &mut Value)> + DoubleEndedIterator {
        match &mut self.0 {
            Repr::Small(pairs) => Pairs::Small(pairs.make_mut().iter_mut()),
            Repr::Large(large) => {
                let large = Arc::make_mut(large);
                let length = large.len();
                Pairs::Large(Live::new(large.slots_mut().iter_mut(), length))
            }
        }
        .map(|(key, value)| (&*key, value))
    }

    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Text> + DoubleEndedIterator {
        self.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        self.iter().map(|(_, value)| value)
    }

    pub fn values_mut(
        &mut self,
    ) -> impl ExactSizeIterator<Item = &mut Value> + DoubleEndedIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Puts the pairs in the order of their keys' bytes.
    pub fn sort_keys(&mut self) {
        if !self.keys().is_sorted() {
            self.reorder(|pairs| pairs.sort_unstable_by(|(a, _), (b, _)| a.cmp(b)));
        }
    }

    /// Puts the pairs in the order of a rank; equal ranks keep their order.
    pub fn sort_by_rank(&mut self, mut rank: impl FnMut(&str) -> usize) {
        self.reorder(|pairs| pairs.sort_by_cached_key(|(key, _)| rank(key)));
    }

    fn reorder(&mut self, order: impl FnOnce(&mut [Pair])) {
        match &mut self.0 {
            Repr::Small(pairs) => order(pairs.make_mut()),
            Repr::Large(large) => {
                let mut pairs = std::mem::take(Arc::make_mut(large)).into_pairs();
                order(&mut pairs);
                *large = Arc::new(pairs.into_iter().collect());
            }
        }
    }

    /// Of pairs whose keys are known to differ, no more than `SMALL`.
    #[inline]
    pub(crate) fn of_few(pairs: Vec<(Text, Value)>) -> Self {
        Self(Repr::Small(pairs.into()))
    }

    /// Appends a key that the caller knows not to be there.
    pub fn push(&mut self, key: impl Into<Text>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        match &mut self.0 {
            Repr::Small(pairs) if pairs.len() < Self::SMALL => pairs.push((key, value)),
            Repr::Small(pairs) => {
                let mut large: Large = std::mem::take(pairs).into_iter().collect();
                large.push(key, value);
                self.0 = Repr::Large(Arc::new(large));
            }
            Repr::Large(large) => Arc::make_mut(large).push(key, value),
        }
    }

    fn shares_with(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => std::ptr::eq(a.as_slice(), b.as_slice()),
            (Repr::Large(a), Repr::Large(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

fn position(pairs: &[Pair], key: &str) -> Option<usize> {
    pairs.iter().position(|(it, _)| *it == *key)
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The order of pairs does not matter.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        if self.shares_with(other) {
            return true;
        }
        // Mostly the order is the same, and then nothing has to be looked up.
        let mut others = other.iter();
        self.iter().all(|(key, value)| {
            let beside = others.next().filter(|(other, _)| *other == key);
            beside
                .map(|(_, value)| value)
                .or_else(|| other.get(key))
                .is_some_and(|other| other == value)
        })
    }
}

impl<K: Into<Text>, V: Into<Value>> FromIterator<(K, V)> for Object {
    /// The last of equal keys wins.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut all = Self::new();
        all.extend(pairs);
        all
    }
}

impl<K: Into<Text>, V: Into<Value>> Extend<(K, V)> for Object {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, pairs: I) {
        for (key, value) in pairs {
            self.insert(key, value);
        }
    }
}

impl IntoIterator for Object {
    type Item = (Text, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(match self.0 {
            Repr::Small(pairs) => Pairs::Small(pairs.into_iter()),
            Repr::Large(large) => {
                let large = Arc::unwrap_or_clone(large);
                let length = large.len();
                Pairs::Large(Live::new(large.into_slots().into_iter(), length))
            }
        })
    }
}

/// The pairs of an object that was taken apart.
#[derive(Debug)]
pub struct IntoIter(Pairs<ecow::vec::IntoIter<Pair>, Live<std::vec::IntoIter<Option<Pair>>>>);

impl Iterator for IntoIter {
    type Item = (Text, Value);

    fn next(&mut self) -> Option<(Text, Value)> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for IntoIter {
    fn next_back(&mut self) -> Option<(Text, Value)> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for IntoIter {}

#[cfg(test)]
mod tests;
