//! Hot path. All entries at one revision. Taking one is O(1), holding one keeps only what has changed since.

use std::sync::{Arc, Weak};

use crate::tree::{Iter, Tree};
use crate::{Entry, Revision};

#[derive(Clone, Debug)]
pub struct Snapshot(Arc<State>);

/// Tells one state of one store from all others, and keeps nothing of it.
#[derive(Clone, Debug)]
pub struct Mark(Weak<State>);

#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) revision: Revision,
    pub(crate) tree: Tree,
}

/// One page of a range.
#[derive(Clone, Debug)]
pub struct Page {
    pub entries: Vec<Arc<Entry>>,
    /// Entries of the range beyond this page; a next page starts after the last key of this one.
    pub remaining: usize,
}

impl Snapshot {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self(state)
    }

    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    pub fn mark(&self) -> Mark {
        Mark(Arc::downgrade(&self.0))
    }

    pub fn len(&self) -> usize {
        self.0.tree.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, key: &[u8]) -> Option<&Arc<Entry>> {
        self.0.tree.get(key)
    }

    /// See [`Tree::warm`].
    pub(crate) fn warm(&self, key: &[u8]) {
        std::hint::black_box(self.0.tree.warm(key));
    }

    /// Entries whose key begins with `prefix`, in key order. The empty prefix is everything.
    pub fn range<'a>(&'a self, prefix: &'a [u8]) -> Range<'a> {
        Range {
            inner: self.0.tree.iter_from(prefix),
            prefix,
        }
    }

    /// How many keys begin with `prefix`, without walking them.
    pub fn count(&self, prefix: &[u8]) -> usize {
        self.end_rank(prefix) - self.0.tree.rank(prefix)
    }

    /// At most `limit` entries of `prefix` with keys after `after`.
    pub fn page(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Page {
        let mut start = prefix.to_vec();
        if let Some(after) = after
            && after >= prefix
        {
            // The smallest key above `after`.
            start = [after, &[0]].concat();
        }
        let range = Range {
            inner: self.0.tree.iter_from(&start),
            prefix,
        };
        let entries: Vec<_> = range.take(limit).cloned().collect();
        let remaining = self
            .end_rank(prefix)
            .saturating_sub(self.0.tree.rank(&start) + entries.len());
        Page { entries, remaining }
    }

    fn end_rank(&self, prefix: &[u8]) -> usize {
        prefix_end(prefix).map_or(self.len(), |end| self.0.tree.rank(&end))
    }
}

impl Mark {
    /// The snapshot has no users any more, and cannot be requested again.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl PartialEq for Mark {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

/// The smallest key above every key with this prefix; `None` when there is no such key (empty or all 0xff).
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

#[derive(Clone, Debug)]
pub struct Range<'a> {
    inner: Iter<'a>,
    prefix: &'a [u8],
}

impl<'a> Iterator for Range<'a> {
    type Item = &'a Arc<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.inner
            .next()
            .filter(|entry| entry.key.starts_with(self.prefix))
    }
}
