//! Hot path. What an object uses although its gate is off, and how it goes.

use std::fmt::Write as _;

use features::{GatedField, Rule};
use json::{Object, Value};
use schema::NodeId;

use super::{GatedStep, Gates};

/// At most so many are reported, and none after their texts have reached this size: as with unknown fields.
const MOST: usize = 100;
const MOST_BYTES: usize = 1 << 16;

/// A field or value that was used although its gate is off.
#[derive(Debug)]
pub(crate) struct Disabled {
    pub path: String,
    pub row: &'static GatedField,
}

impl Disabled {
    /// As strict decoding and warnings report it.
    pub(crate) fn text(&self) -> String {
        let path = meta::go::quote(&self.path);
        let gate = self.row.gate_name;
        if self.row.is_value {
            let value = meta::go::quote(self.row.field);
            return format!("disabled value {value} of field {path} (feature gate {gate} is off)");
        }
        format!("disabled field {path} (feature gate {gate} is off)")
    }
}

impl Gates {
    /// Drops fields whose gate is off, but for those that the stored object uses already. Gives back what was dropped, and
    /// what stays for validation to refuse.
    pub(crate) fn drop_disabled(
        &self,
        root: NodeId,
        object: &mut Value,
        live: Option<&Value>,
    ) -> Vec<Disabled> {
        let off = self.newly_used(root, object, live);
        if off.is_empty() {
            return Vec::new();
        }
        let mut dropping = Dropping {
            gates: self,
            off: &off,
            path: String::new(),
            found: Vec::new(),
            bytes: 0,
            strips: false,
        };
        dropping.value(root, object);
        dropping.found
    }

    /// Removes the fields that are off, also those that a client's write is refused for. Values of enums stay.
    pub(crate) fn strip(&self, root: NodeId, object: &mut Value) {
        let off = self.newly_used(root, object, None);
        let mut dropping = Dropping {
            gates: self,
            off: &off,
            path: String::new(),
            found: Vec::new(),
            bytes: 0,
            strips: true,
        };
        dropping.value(root, object);
    }

    /// Fields that are refused, not dropped.
    pub(crate) fn forbidden(
        &self,
        root: NodeId,
        object: &Value,
        live: Option<&Value>,
    ) -> Vec<Disabled> {
        let is_forbidden = |row: &GatedField| row.rule == Rule::Forbidden;
        let off = self.newly_used(root, object, live);
        if !off.iter().any(|it| is_forbidden(it)) {
            return Vec::new();
        }
        // Rare: the walk that knows paths is the one that drops.
        let mut found = self.drop_disabled(root, &mut object.clone(), live);
        found.retain(|it| is_forbidden(it.row));
        found
    }

    /// Rows that the object uses and the stored one does not.
    fn newly_used(
        &self,
        root: NodeId,
        object: &Value,
        live: Option<&Value>,
    ) -> Vec<&'static GatedField> {
        let mut used = Vec::new();
        self.collect(root, object, false, &mut used);
        if let (false, Some(live)) = (used.is_empty(), live) {
            let mut before = Vec::new();
            self.collect(root, live, true, &mut before);
            used.retain(|row| {
                !before.iter().any(|was| match row.rule {
                    Rule::Gate | Rule::Member | Rule::Forbidden => was.gate_name == row.gate_name,
                    Rule::Field | Rule::Holder => std::ptr::eq(*was, *row),
                })
            });
        }
        used
    }

    pub(super) fn collect(
        &self,
        at: NodeId,
        value: &Value,
        is_stored: bool,
        used: &mut Vec<&'static GatedField>,
    ) {
        let Some(node) = self.node(at) else {
            return;
        };
        match value {
            Value::Object(object) => {
                if let Some(inner) = node.inner {
                    for value in object.values() {
                        self.collect(inner, value, is_stored, used);
                    }
                }
                for step in &node.fields {
                    let Some(value) = object.get(&step.name) else {
                        continue;
                    };
                    if let Some(row) = step.off.filter(|_| step.uses(value, is_stored))
                        && !used.iter().any(|it| std::ptr::eq(*it, row))
                    {
                        used.push(row);
                    }
                    if let Some(next) = step.next {
                        self.collect(next, value, is_stored, used);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(inner) = node.inner {
                    for item in items {
                        self.collect(inner, item, is_stored, used);
                    }
                }
            }
            Value::String(text) => {
                let found = node.values.iter().find(|it| it.field == &**text);
                used.extend(found);
            }
            _ => {}
        }
    }
}

impl GatedStep {
    /// Whether the value at this step is a use of what is off. An empty list says as much as none.
    fn uses(&self, value: &Value, is_stored: bool) -> bool {
        let is_set = |it: &Value| !it.is_null() && it.as_array().is_none_or(|it| !it.is_empty());
        match self.off {
            // A holder that is stored is kept, whether or not it has the field.
            Some(row) if row.rule == Rule::Holder && !is_stored => {
                let field = value.get(row.field);
                field.is_some_and(|it| is_set(it) && it.as_str() != Some(""))
            }
            _ => is_set(value),
        }
    }
}

struct Dropping<'a> {
    gates: &'a Gates,
    off: &'a [&'static GatedField],
    path: String,
    found: Vec<Disabled>,
    bytes: usize,
    /// Fields go that are refused otherwise.
    strips: bool,
}

impl Dropping<'_> {
    /// Whether the value itself is to go, for nothing is left in it.
    fn value(&mut self, at: NodeId, value: &mut Value) -> bool {
        let Some(node) = self.gates.node(at) else {
            return false;
        };
        let length = self.path.len();
        let mut lost_member = false;
        match value {
            Value::Object(object) => {
                if let Some(inner) = node.inner {
                    for (key, value) in object.iter_mut() {
                        self.push(key);
                        self.value(inner, value);
                        self.path.truncate(length);
                    }
                }
                for step in &node.fields {
                    let Some(value) = object.get_mut(&step.name) else {
                        continue;
                    };
                    self.push(&step.name);
                    let row = step.off.filter(|row| {
                        step.uses(value, false) && self.off.iter().any(|it| std::ptr::eq(*it, *row))
                    });
                    match row {
                        Some(row) if row.rule == Rule::Forbidden && !self.strips => {
                            self.report(row);
                        }
                        Some(row) => {
                            lost_member |= row.rule == Rule::Member;
                            object.remove(&step.name);
                            self.report(row);
                        }
                        None => {
                            if let Some(next) = step.next
                                && self.value(next, value)
                            {
                                object.remove(&step.name);
                            }
                        }
                    }
                    self.path.truncate(length);
                }
            }
            Value::Array(items) => {
                if let Some(inner) = node.inner {
                    for (index, item) in items.iter_mut().enumerate() {
                        let _ = write!(self.path, "[{index}]");
                        self.value(inner, item);
                        self.path.truncate(length);
                    }
                }
            }
            Value::String(text) => {
                let mut values = node.values.iter();
                if let Some(row) = values.find(|it| it.field == &**text)
                    && self.off.iter().any(|it| std::ptr::eq(*it, *row))
                {
                    self.report(row);
                }
            }
            _ => {}
        }
        lost_member && value.as_object().is_some_and(Object::is_empty)
    }

    fn push(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
    }

    /// A holder goes because of a field in it: that is the one to name.
    fn report(&mut self, row: &'static GatedField) {
        if self.found.len() >= MOST || self.bytes >= MOST_BYTES {
            return;
        }
        let mut path = self.path.clone();
        if row.rule == Rule::Holder {
            path.push('.');
            path.push_str(row.field);
        }
        self.bytes += path.len();
        self.found.push(Disabled { path, row });
    }
}
