//! One node in several places. Upstream puts one and the same node wherever it adds a label; who changes it in one place
//! changes it in all. Here each place has a copy, marked with a group, and changes are carried over afterwards.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use super::source::DETAILED;
use super::{Data, Node, Style};

/// In place of a column: the line is the group.
const SHARED: u16 = u16::MAX;
/// The same, and this copy has changed.
pub(super) const CHANGED: u16 = u16::MAX - 1;

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

    /// The group, if it has one, and whether this copy has changed.
    fn group(&self) -> Option<(u32, bool)> {
        match self.column {
            SHARED => Some((self.line, false)),
            CHANGED => Some((self.line, true)),
            DETAILED => {
                let detail = self.detail();
                (detail.group != 0).then_some((detail.group, detail.changed))
            }
            _ => None,
        }
    }

    fn set_changed(&mut self, changed: bool) {
        if self.column == DETAILED {
            let mut detail = self.detail();
            detail.changed = changed;
            self.set_detail(detail);
        } else {
            self.column = if changed { CHANGED } else { SHARED };
        }
    }

    pub(crate) fn mark_changed(&mut self) {
        if self.group().is_some() {
            self.set_changed(true);
            ANY_CHANGED.set(true);
        }
    }

    /// A copy that stands on its own: changes of others do not reach it.
    pub(crate) fn detached(&self) -> Self {
        let mut copy = self.clone();
        copy.leave_groups();
        copy
    }

    fn leave_groups(&mut self) {
        match self.column {
            SHARED | CHANGED => (self.line, self.column) = (0, 0),
            DETAILED if self.group().is_some() => {
                let mut detail = self.detail();
                (detail.group, detail.changed) = (0, false);
                self.set_detail(detail);
            }
            _ => {}
        }
        match &mut self.data {
            Data::Scalar(_) => {}
            Data::Map(pairs) => pairs.iter_mut().for_each(|(_, value)| value.leave_groups()),
            Data::Seq(items) => items.iter_mut().for_each(Self::leave_groups),
        }
    }

    /// Gives all copies below this node a style.
    pub(crate) fn restyle_group(&mut self, group: u32, style: Style) {
        if self.group().is_some_and(|(own, _)| own == group) {
            self.style = style;
        }
        match &mut self.data {
            Data::Scalar(_) => {}
            Data::Map(pairs) => pairs
                .iter_mut()
                .for_each(|(_, value)| value.restyle_group(group, style)),
            Data::Seq(items) => items
                .iter_mut()
                .for_each(|item| item.restyle_group(group, style)),
        }
    }

    /// Becomes another node in the same place.
    pub(crate) fn overwrite(&mut self, new: Node) {
        let group = self.group();
        *self = new;
        let Some((group, _)) = group else {
            return;
        };
        if self.line == 0 && self.column == 0 {
            (self.line, self.column) = (group, CHANGED);
        } else {
            let mut detail = self.detail();
            (detail.group, detail.changed) = (group, true);
            self.set_detail(detail);
        }
        ANY_CHANGED.set(true);
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
    if let Some((group, true)) = node.group() {
        let mut copy = node.clone();
        copy.set_changed(false);
        changed.retain(|(it, _)| *it != group);
        changed.push((group, copy));
    }
    match &node.data {
        Data::Scalar(_) => {}
        Data::Map(pairs) => pairs.iter().for_each(|(_, value)| collect(value, changed)),
        Data::Seq(items) => items.iter().for_each(|item| collect(item, changed)),
    }
}

fn update(node: &mut Node, changed: &[(u32, Node)]) {
    if let Some((own, _)) = node.group()
        && let Some((_, new)) = changed.iter().find(|(group, _)| *group == own)
    {
        *node = new.clone();
    }
    match &mut node.data {
        Data::Scalar(_) => {}
        Data::Map(pairs) => pairs
            .iter_mut()
            .for_each(|(_, value)| update(value, changed)),
        Data::Seq(items) => items.iter_mut().for_each(|item| update(item, changed)),
    }
}
