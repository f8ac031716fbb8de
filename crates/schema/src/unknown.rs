//! Fields that no schema names: found for strict reading, dropped by pruning.
//!
//! Built-in types know their fields as Go's do. Structural schemas prune as upstream's algorithm does: below
//! `x-kubernetes-preserve-unknown-fields` unknown fields stay, and known ones are pruned again.

use std::fmt::Write as _;

use json::{Object, Value};
use meta::go::quote;

use crate::{Format, Place};

/// No more are reported, as upstream has it.
const MOST: usize = 100;
/// Nor any after the paths have reached this size: a path may be as long as the object.
const MOST_BYTES: usize = 1 << 16;

/// Paths of fields, bounded in number and size.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    list: Vec<String>,
    bytes: usize,
}

impl Paths {
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MOST || self.bytes >= MOST_BYTES
    }

    pub(crate) fn push_with(&mut self, path: impl FnOnce() -> String) {
        if !self.is_full() {
            let path = path();
            self.bytes += path.len();
            self.list.push(path);
        }
    }

    pub(crate) fn into_sorted(mut self) -> Vec<String> {
        self.list.sort_unstable();
        self.list
    }
}

/// A line for each unknown field: `unknown field "spec.foo"`.
pub fn unknown(place: Place<'_>, value: &Value) -> Vec<String> {
    let paths = unknown_paths(place, value);
    let lines = paths
        .iter()
        .map(|path| format!("unknown field {}", quote(path)));
    lines.collect()
}

/// The paths alone.
pub fn unknown_paths(place: Place<'_>, value: &Value) -> Vec<String> {
    let mut found = Found {
        path: String::new(),
        paths: Paths::default(),
    };
    found.value(place, value, true, false);
    if place.node().go.is_none() {
        return found.paths.into_sorted();
    }
    found.paths.list
}

/// Drops unknown fields. The value is an object of its own: it keeps apiVersion, kind and metadata.
pub fn prune(place: Place<'_>, value: &mut Value) {
    prune_value(place, value, true, false);
}

/// The same for a part of an object, which keeps only what the schema names.
pub(crate) fn prune_part(place: Place<'_>, value: &mut Value, is_object: bool) {
    prune_value(place, value, is_object, false);
}

enum Below<'a> {
    Known(Place<'a>),
    /// Kept as it is.
    Kept,
    Unknown,
}

/// Within a list whose unknown fields are kept, those of its items are.
fn below<'a>(place: Place<'a>, is_object: bool, kept: bool, key: &str) -> Below<'a> {
    let node = place.node();
    let is_meta = matches!(key, "apiVersion" | "kind" | "metadata");
    if is_meta && (is_object || node.embedded) && node.go.is_none() {
        return Below::Kept;
    }
    match place.field(key) {
        Some(place) => Below::Known(place),
        None if kept || node.preserve_unknown || opaque(place) => Below::Kept,
        None => Below::Unknown,
    }
}

/// A built-in type that reads itself.
fn opaque(place: Place<'_>) -> bool {
    place.node().format != Format::None
}

fn prune_value(place: Place<'_>, value: &mut Value, is_object: bool, kept: bool) {
    match value {
        Value::Object(object) => {
            object.retain(|key, value| match below(place, is_object, kept, key) {
                Below::Known(place) => {
                    prune_value(place, value, false, false);
                    true
                }
                Below::Kept => true,
                Below::Unknown => false,
            });
        }
        Value::Array(items) => {
            let kept = kept || place.node().preserve_unknown || opaque(place);
            for item in items {
                match place.items() {
                    Some(place) => prune_value(place, item, false, kept),
                    None if kept => {}
                    None => strip(item),
                }
            }
        }
        _ => {}
    }
}

/// Where there is no schema at all, nothing is known.
fn strip(value: &mut Value) {
    match value {
        Value::Object(object) => *object = Object::new(),
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

struct Found {
    path: String,
    paths: Paths,
}

impl Found {
    fn value(&mut self, place: Place<'_>, value: &Value, is_object: bool, kept: bool) {
        let length = self.path.len();
        match value {
            Value::Object(object) => {
                for (key, value) in object.iter() {
                    if self.paths.is_full() {
                        return;
                    }
                    if length > 0 {
                        self.path.push('.');
                    }
                    self.path.push_str(key);
                    match below(place, is_object, kept, key) {
                        Below::Known(place) => self.value(place, value, false, false),
                        Below::Kept => {}
                        Below::Unknown => self.report(),
                    }
                    self.path.truncate(length);
                }
            }
            Value::Array(items) => {
                let kept = kept || place.node().preserve_unknown || opaque(place);
                for (index, item) in items.iter().enumerate() {
                    if self.paths.is_full() {
                        return;
                    }
                    let _ = write!(self.path, "[{index}]");
                    match place.items() {
                        Some(place) => self.value(place, item, false, kept),
                        // Go's decoder tells a list that should be none by its type, not by its fields.
                        None if kept || place.node().go.is_some() => {}
                        None => self.all(item),
                    }
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// Without a schema, nothing is known.
    fn all(&mut self, value: &Value) {
        let length = self.path.len();
        match value {
            Value::Object(object) => {
                for key in object.keys() {
                    if self.paths.is_full() {
                        return;
                    }
                    let _ = write!(self.path, ".{key}");
                    self.report();
                    self.path.truncate(length);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let _ = write!(self.path, "[{index}]");
                    self.all(item);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn report(&mut self) {
        self.paths.push_with(|| self.path.clone());
    }
}
