//! Fields of a gate in what is stored: which there are, and who owns them.

use std::collections::{BTreeMap, BTreeSet};

use features::GatedField;
use json::{Object, Value};
use schema::NodeId;

use super::Gates;

impl Gates {
    /// The gates of what can be off in objects of this type: whether these are fields, and whether values of enums.
    pub(crate) fn gates_below(&self, root: NodeId) -> BTreeMap<&'static str, (bool, bool)> {
        let mut found: BTreeMap<&'static str, (bool, bool)> = BTreeMap::new();
        self.visit(root, &mut |node| {
            for row in node.fields.iter().filter_map(|it| it.off) {
                found.entry(row.gate_name).or_default().0 = true;
            }
            for row in &node.values {
                found.entry(row.gate_name).or_default().1 = true;
            }
        });
        found
    }

    /// The names of all that can be off in objects of this type, as JSON has them.
    pub(crate) fn names_below(&self, root: NodeId) -> Vec<String> {
        let mut names = BTreeSet::new();
        self.visit(root, &mut |node| {
            let fields = node.fields.iter().filter(|it| it.off.is_some());
            names.extend(fields.map(|it| format!("\"{}\"", it.name)));
            names.extend(node.values.iter().map(|it| format!("\"{}\"", it.field)));
        });
        names.into_iter().collect()
    }

    /// Each place that can be reached, once.
    fn visit(&self, root: NodeId, each: &mut dyn FnMut(&super::GatedNode)) {
        let mut seen = BTreeSet::new();
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            let Some(node) = self.node(at).filter(|_| seen.insert(at.0)) else {
                continue;
            };
            each(node);
            open.extend(node.inner);
            open.extend(node.fields.iter().filter_map(|it| it.next));
        }
    }

    /// Rows that a stored object uses.
    pub(crate) fn used(&self, root: NodeId, object: &Value) -> Vec<&'static GatedField> {
        let mut used = Vec::new();
        self.collect(root, object, false, &mut used);
        // One gate is used once, whatever the number of its fields.
        let mut gates = BTreeSet::new();
        used.retain(|it| gates.insert(it.gate_name));
        used
    }

    /// Where the first use of a gate is.
    pub(crate) fn path_of(&self, root: NodeId, object: &Value, row: &GatedField) -> String {
        let found = self.drop_disabled(root, &mut object.clone(), None);
        let found = found
            .into_iter()
            .find(|it| it.row.gate_name == row.gate_name);
        found.map_or(String::new(), |it| it.path)
    }
}

impl Gates {
    /// Removes the fields that are off from `metadata.managedFields`. An entry that owns nothing else goes, too.
    pub(crate) fn disown(&self, root: NodeId, object: &mut Value) {
        let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
        let Some(metadata) = metadata else { return };
        let Some(Value::Array(entries)) = metadata.get_mut("managedFields") else {
            return;
        };
        entries.retain_mut(|entry| {
            let fields = entry.get_mut("fieldsV1").and_then(Value::as_object_mut);
            fields.is_none_or(|fields| {
                let had_some = !fields.is_empty();
                self.disown_fields(root, fields);
                !(had_some && fields.is_empty())
            })
        });
        if entries.is_empty() {
            metadata.remove("managedFields");
        }
    }

    fn disown_fields(&self, at: NodeId, fields: &mut Object) {
        let Some(node) = self.node(at) else { return };
        let mut gone = Vec::new();
        for (key, below) in fields.iter_mut() {
            let Some(below) = below.as_object_mut() else {
                continue;
            };
            let next = match key.strip_prefix("f:") {
                // Of an object; a map has its values behind `inner`.
                Some(name) if node.inner.is_none() => {
                    let step = node.fields.iter().find(|it| it.name == *name);
                    let Some(step) = step else { continue };
                    if step.off.is_some() {
                        gone.push(key.clone());
                        continue;
                    }
                    step.next
                }
                _ => node.inner,
            };
            let Some(next) = next else { continue };
            let had_some = !below.is_empty();
            self.disown_fields(next, below);
            if had_some && below.is_empty() {
                gone.push(key.clone());
            } else if below.len() == 1 && below.contains_key(".") {
                // As a field set writes a path that is owned without anything below it.
                below.remove(".");
            }
        }
        for key in gone {
            fields.remove(&key);
        }
    }
}
