//! What was found wrong, in upstream's order.

use std::collections::HashSet;

use json::Value;
use meta::field::{Error, ErrorList};
use schema::{Schema, Typed};

use super::Options;
use super::field::Field;
use super::go_form::go_form;
use crate::equality::equal;

/// Upstream appends what its declarative rules say to what its handwritten rules say, and drops the handwritten twin:
/// such errors go to `late`.
///
/// Both lists are bounded: an error is built only while there is room for it.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    list: ErrorList,
    late: ErrorList,
    pub(crate) options: Options,
    /// Of objects that are compared.
    schema: Option<Schema>,
}

impl Errors {
    pub(crate) fn with(options: Options) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Of an object of this group, version and kind that takes the place of another.
    pub(crate) fn of_update(kind: (&str, &str, &str), options: Options) -> Self {
        Self {
            schema: schema::builtin().kind(kind.0, kind.1, kind.2),
            ..Self::with(options)
        }
    }

    /// Whether the values of two fields are equal, by the type of the first.
    pub(crate) fn same(&self, new: &Field, old: &Field) -> bool {
        self.same_at(new, new.value, old.value)
    }

    /// Whether two values are equal, by the type of a field.
    pub(crate) fn same_at(&self, at: &Field, a: &Value, b: &Value) -> bool {
        let root = self.schema.as_ref().map(|it| Typed::new(it.place()));
        equal(root.and_then(|it| at.path.walk(it, down)), a, b)
    }

    pub(crate) fn into_list(mut self) -> Vec<Error> {
        self.list.append(self.late);
        self.list.into_vec()
    }

    /// What handwritten rules say twice in the same words is said once, where upstream looks for twins at all: for all
    /// kinds that have declarative rules.
    pub(crate) fn into_told_once(mut self) -> Vec<Error> {
        if self.list.as_slice().len() > 1 {
            let mut told = HashSet::new();
            self.list.retain(|it| told.insert(it.to_string()));
        }
        self.into_list()
    }

    /// With those that are not reported.
    pub(crate) fn len(&self) -> usize {
        self.list.found() + self.late.found()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No more errors are kept. Loops that build values for errors stop then.
    pub(crate) fn is_full(&self) -> bool {
        self.list.is_full()
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.list.append(other.list);
        self.late.append(other.late);
    }

    /// What the rules find goes to the end of all errors.
    pub(crate) fn late(&mut self, rules: impl FnOnce(&mut Self)) {
        let mut found = Self::default();
        rules(&mut found);
        self.late.append(found.list);
        self.late.append(found.late);
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.list.push(error);
    }

    pub(crate) fn push_with(&mut self, error: impl FnOnce() -> Error) {
        self.list.push_with(error);
    }

    pub(crate) fn push_all(&mut self, errors: Vec<Error>) {
        self.list.extend(errors);
    }

    pub(crate) fn required(&mut self, at: &Field, detail: &str) {
        self.push_with(|| Error::required(at.path, detail));
    }

    pub(crate) fn forbidden(&mut self, at: &Field, detail: &str) {
        self.push_with(|| Error::forbidden(at.path, detail));
    }

    /// The field's own value is wrong.
    pub(crate) fn invalid(&mut self, at: &Field, detail: &str) {
        self.push_with(|| Error::invalid(at.path, shown(at.value), detail));
    }

    pub(crate) fn invalid_value(&mut self, at: &Field, value: impl Into<Value>, detail: &str) {
        self.push_with(|| Error::invalid(at.path, value, detail));
    }

    /// The value as upstream's internal type of that name prints it.
    pub(crate) fn invalid_as(&mut self, kind: &str, at: &Field, detail: &str) {
        self.push_with(|| Error::invalid(at.path, go_form(kind, at.value), detail));
    }

    /// One error for each sentence.
    pub(crate) fn invalid_all(&mut self, at: &Field, details: Vec<String>) {
        for detail in details {
            self.push_with(|| Error::invalid(at.path, shown(at.value), detail));
        }
    }

    pub(crate) fn not_supported(&mut self, at: &Field, supported: &[&str]) {
        self.push_with(|| Error::not_supported(at.path, shown(at.value), supported));
    }

    pub(crate) fn duplicate(&mut self, at: &Field) {
        self.push_with(|| Error::duplicate(at.path, shown(at.value)));
    }

    pub(crate) fn duplicate_value(&mut self, at: &Field, value: impl Into<Value>) {
        self.push_with(|| Error::duplicate(at.path, value));
    }

    pub(crate) fn not_found(&mut self, at: &Field) {
        self.push_with(|| Error::not_found(at.path, shown(at.value)));
    }

    pub(crate) fn too_long(&mut self, at: &Field, max: usize) {
        self.push_with(|| Error::too_long(at.path, max));
    }

    pub(crate) fn too_many(&mut self, at: &Field, max: usize) {
        self.push_with(|| Error::too_many(at.path, Some(at.len()), max));
    }
}

/// Nothing reads as an empty text; maps print in the order of their keys, as Go prints them.
fn shown(value: &Value) -> Value {
    match value {
        Value::Null => "".into(),
        other => {
            let mut other = other.clone();
            sort(&mut other);
            other
        }
    }
}

fn sort(value: &mut Value) {
    if let Value::Object(object) = value {
        object.sort_keys();
        // A label selector is no map: its two fields stand in Go's order.
        object.sort_by_rank(|key| usize::from(key == "matchExpressions"));
    }
}

/// The type below a name, or of the items of a list or map.
fn down<'a>(typed: Typed<'a>, name: Option<&str>) -> Option<Typed<'a>> {
    match name {
        Some(name) => typed.field(name),
        None => typed.items().or_else(|| typed.field("")),
    }
}
