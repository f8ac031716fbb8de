//! Feature gates as the built-in kinds show them: which fields and enum values do not count because their gate is off.
//!
//! The table of fields is compiled once, at the start, into the nodes of the built-in types that lead to such a field. A kind
//! whose type leads to none has no [`Gates`] at all, and a write of any other kind looks at the places on the way alone.

mod compile;
mod owned;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use features::{GatedField, Settings};
use json::Text;
use schema::NodeId;

/// What is off, by the nodes of the built-in types.
#[derive(Debug, Default)]
pub struct Gates {
    /// The version that is emulated, as documents name it.
    release: String,
    /// The gates that are off and have rows.
    off: BTreeSet<&'static str>,
    nodes: Vec<Option<Box<GatedNode>>>,
}

/// A place from which fields or values can be reached whose gate is off.
#[derive(Debug, Default)]
struct GatedNode {
    /// Of an object: those of its fields that are off, or lead to what is.
    fields: Vec<GatedStep>,
    /// The items of a list, or the values of a map.
    inner: Option<NodeId>,
    /// Values of an enum that are off.
    values: Vec<&'static GatedField>,
}

#[derive(Debug)]
struct GatedStep {
    name: Text,
    /// The row that makes the field go.
    off: Option<&'static GatedField>,
    /// Whether the field is not published: what goes because of a field in it, is.
    hidden: bool,
    next: Option<NodeId>,
}

impl Gates {
    pub fn new(settings: &Settings<'_>) -> Self {
        let off = |row: &&GatedField| row.gate.is_some_and(|it| !settings.enabled(it));
        let off: Vec<&'static GatedField> = features::fields().iter().filter(off).collect();
        Self {
            release: settings.emulation().to_string(),
            off: off.iter().map(|it| it.gate_name).collect(),
            nodes: compile::nodes(&off),
        }
    }

    /// All gates off that are not locked: what any gate could be about.
    pub(crate) fn all() -> &'static Self {
        static ALL: LazyLock<Gates> = LazyLock::new(|| Gates::of(|_| true));
        &ALL
    }

    /// The gates for which this holds off, whatever is set.
    pub(crate) fn of(is_off: impl Fn(&str) -> bool) -> Self {
        let rows = features::fields().iter();
        let off: Vec<&'static GatedField> = rows
            .filter(|it| it.gate.is_some() && is_off(it.gate_name))
            .collect();
        Self {
            release: String::new(),
            off: off.iter().map(|it| it.gate_name).collect(),
            nodes: compile::nodes(&off),
        }
    }

    /// The version of Kubernetes that documents are of.
    pub(crate) fn release(&self) -> &str {
        &self.release
    }

    /// Whether a gate that has rows in the table is on.
    pub(crate) fn is_on(&self, gate: &str) -> bool {
        !self.off.contains(gate)
    }

    /// Whether anything in objects of this type may be off.
    pub(crate) fn concern(&self, root: NodeId) -> bool {
        self.node(root).is_some()
    }

    /// Whether a field of a type is not published.
    pub(crate) fn hide(&self, of: NodeId, field: &str) -> bool {
        let mut fields = self.node(of).into_iter().flat_map(|it| &it.fields);
        fields.any(|it| it.name == *field && it.hidden)
    }

    /// Whether a path, as errors name it, is that of a field that is off.
    pub(crate) fn hide_path(&self, root: NodeId, path: &str) -> bool {
        let mut at = Some(root);
        let mut parts = path
            .split(['.', '['])
            .filter(|it| !it.is_empty())
            .peekable();
        while let (Some(part), Some(node)) = (parts.next(), at.and_then(|it| self.node(it))) {
            if let Some(inner) = node.inner {
                at = Some(inner);
                continue;
            }
            let Some(step) = node.fields.iter().find(|it| it.name == *part) else {
                return false;
            };
            if parts.peek().is_none() {
                return step.hidden;
            }
            at = step.next;
        }
        false
    }

    /// Whether a value of an enum is not published.
    pub(crate) fn hide_value(&self, of: NodeId, value: &str) -> bool {
        let mut values = self.node(of).into_iter().flat_map(|it| &it.values);
        values.any(|it| it.field == value)
    }

    fn node(&self, id: NodeId) -> Option<&GatedNode> {
        self.nodes.get(id.0 as usize)?.as_deref()
    }
}
