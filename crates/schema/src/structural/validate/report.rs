//! What is told of a value, and where.

use std::collections::HashSet;

use json::Value;
use meta::field::{Error, ErrorList};
use meta::go::quote;

use super::Step;

/// The path of the walk, and the errors found on it. Both are bounded: see [`ErrorList`].
#[derive(Default)]
pub(super) struct Report {
    path: String,
    errors: ErrorList,
    /// Each text is told once.
    told: HashSet<String>,
}

pub(super) struct Problem {
    pub(super) text: String,
    pub(super) error: Error,
}

impl Report {
    pub(super) fn is_full(&self) -> bool {
        self.errors.is_full()
    }

    /// Gives the length of the path that [`Report::leave`] goes back to.
    pub(super) fn enter(&mut self, step: Step<'_>) -> usize {
        let length = self.path.len();
        step.write(&mut self.path);
        length
    }

    pub(super) fn leave(&mut self, length: usize) {
        self.path.truncate(length);
    }

    pub(super) fn add(&mut self, problem: impl FnOnce(&str) -> Problem) {
        if self.is_full() {
            return;
        }
        let Problem { text, error } = problem(&self.path);
        if self.told.insert(text) {
            self.errors.push(error);
        }
    }

    pub(super) fn into_errors(self) -> Vec<Error> {
        self.errors.into_vec()
    }
}

/// The name of a field in errors; the object itself has none.
pub(super) fn name(path: &str) -> String {
    match path.strip_prefix('.').unwrap_or(path) {
        "" => "<nil>".into(),
        path => path.into(),
    }
}

pub(super) fn invalid(path: &str, value: impl Into<Value>, what: &str) -> Problem {
    let text = format!("{path} in body {what}");
    Problem {
        error: Error::invalid(name(path), value, text.clone()),
        text,
    }
}

/// What is told of the whole object, whatever the path in the text.
pub(super) fn general(text: String) -> Problem {
    Problem {
        error: Error::invalid("<nil>", "", text.clone()),
        text,
    }
}

pub(super) fn wrong_type(path: &str, wanted: &str, found: &str) -> Problem {
    let text = format!("{path} in body must be of type {wanted}: {}", quote(found));
    Problem {
        error: Error::type_invalid(name(path), found, text.clone()),
        text,
    }
}
