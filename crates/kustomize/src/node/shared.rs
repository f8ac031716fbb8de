//! One node in several places. Upstream puts one and the same node wherever it adds a label; who changes it in one place
//! changes it in all. Here each place has a copy, marked with a group, and changes are carried over afterwards.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Data, Node};

/// In place of a column: the line is the group.
const SHARED: u16 = u16::MAX;
/// The same, and this copy has changed.
const CHANGED: u16 = u16::MAX - 1;
/// No real column is this large.
pub(super) const MAX_COLUMN: u16 = u16::MAX - 2;

thread_local! {
    /// Whether any copy has changed since this was last asked.
    static ANY_CHANGED: Cell<bool> = const { Cell::new(false) };
}

/// Tells whether there is something to settle, and forgets it.
pub(crate) fn take_changed() -> bool {
    ANY_CHANGED.take()
}

static GROUPS: AtomicU32 = AtomicU32::new(1);

/// A group of its own; copies are told apart within a resource only.
pub(crate) fn next_group() -> u32 {
    GROUPS.fetch_add(1, Ordering::Relaxed)
}

impl Node {
    pub(crate) fn in_group(mut self, group: u32) -> Self {
        self.line = group;
        self.column = SHARED;
        self
    }

    fn is_shared(&self) -> bool {
        self.column >= CHANGED
    }

    /// Line and column, none for nodes that were made.
    pub(crate) fn position(&self) -> (u32, u16) {
        if self.is_shared() {
            (0, 0)
        } else {
            (self.line, self.column)
        }
    }

    pub(crate) fn mark_changed(&mut self) {
        if self.is_shared() {
            self.column = CHANGED;
            ANY_CHANGED.set(true);
        }
    }

    /// Becomes another node in the same place.
    pub(crate) fn overwrite(&mut self, new: Node) {
        let (line, shared) = (self.line, self.is_shared());
        *self = new;
        if shared {
            self.line = line;
            self.column = CHANGED;
            ANY_CHANGED.set(true);
        }
    }
}

/// Carries changes over to all copies.
pub(crate) fn settle(root: &mut Node) {
    let mut changed: Vec<(u32, Node)> = Vec::new();
    collect(root, &mut changed);
    if !changed.is_empty() {
        update(root, &changed);
    }
}

fn collect(node: &Node, changed: &mut Vec<(u32, Node)>) {
    if node.column == CHANGED {
        changed.retain(|(group, _)| *group != node.line);
        changed.push((node.line, node.clone()));
    }
    match &node.data {
        Data::Scalar(_) => {}
        Data::Map(pairs) => pairs.iter().for_each(|(_, value)| collect(value, changed)),
        Data::Seq(items) => items.iter().for_each(|item| collect(item, changed)),
    }
}

fn update(node: &mut Node, changed: &[(u32, Node)]) {
    if node.is_shared()
        && let Some((group, new)) = changed.iter().find(|(group, _)| *group == node.line)
    {
        *node = new.clone().in_group(*group);
    }
    match &mut node.data {
        Data::Scalar(_) => {}
        Data::Map(pairs) => pairs
            .iter_mut()
            .for_each(|(_, value)| update(value, changed)),
        Data::Seq(items) => items.iter_mut().for_each(|item| update(item, changed)),
    }
}
