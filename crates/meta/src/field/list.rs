//! Errors of one object, bounded.
//!
//! An object of a megabyte can have a million faults, and each error holds the path to its field: without a bound the
//! errors would need far more memory than the object. Upstream tells all of them.

use json::{Number, Value};

use super::Error;

/// No more errors of one object are told.
pub const MAX_ERRORS: usize = 1_000;
/// Nor any after the texts have reached this size: the one that reaches it is the last.
pub const MAX_ERROR_BYTES: usize = 256 << 10;

/// Keeps the first errors and counts the others.
#[derive(Clone, Debug, Default)]
pub struct ErrorList {
    errors: Vec<Error>,
    bytes: usize,
    found: usize,
}

impl ErrorList {
    /// Whether further errors are only counted. What builds an error should not begin then.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS || self.bytes >= MAX_ERROR_BYTES
    }

    /// All errors, with those that were not kept.
    pub fn found(&self) -> usize {
        self.found
    }

    pub fn is_empty(&self) -> bool {
        self.found == 0
    }

    pub fn push(&mut self, error: Error) {
        self.push_with(|| error);
    }

    /// The error is built only if it is kept: its path may be as long as a key that a client has chosen.
    pub fn push_with(&mut self, error: impl FnOnce() -> Error) {
        self.found += 1;
        if self.is_full() {
            return;
        }
        let error = error();
        let left = MAX_ERROR_BYTES - self.bytes;
        self.bytes += error.field.len() + error.detail.len() + size(&error.value, left);
        self.errors.push(error);
    }

    /// Those of the other list that were not kept count.
    pub fn append(&mut self, other: Self) {
        let lost = other.found - other.errors.len();
        self.extend(other.errors);
        self.found += lost;
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&Error) -> bool) {
        let before = self.errors.len();
        self.errors.retain(|it| keep(it));
        self.found -= before - self.errors.len();
    }

    pub fn as_slice(&self) -> &[Error] {
        &self.errors
    }

    pub fn into_vec(self) -> Vec<Error> {
        self.errors
    }
}

impl Extend<Error> for ErrorList {
    fn extend<I: IntoIterator<Item = Error>>(&mut self, errors: I) {
        for error in errors {
            self.push(error);
        }
    }
}

/// About how many bytes a value takes in an error's text. Not looked at further than `most`.
fn size(value: &Value, most: usize) -> usize {
    let mut sum = 2usize;
    match value {
        Value::Null | Value::Bool(_) => sum += 4,
        Value::Number(Number::Int(_) | Number::Float(_)) => sum += 8,
        Value::String(it) => sum += it.len(),
        Value::Array(items) => {
            for item in items {
                if sum >= most {
                    break;
                }
                sum += size(item, most - sum);
            }
        }
        Value::Object(object) => {
            for (key, value) in object.iter() {
                if sum >= most {
                    break;
                }
                sum += key.len() + size(value, most.saturating_sub(sum));
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_are_kept() {
        let mut list = ErrorList::default();
        for _ in 0..MAX_ERRORS + 7 {
            list.push(Error::required("a", ""));
        }
        assert_eq!((list.found(), list.is_full()), (MAX_ERRORS + 7, true));
        let mut two = ErrorList::default();
        two.push(Error::required("b", ""));
        two.append(list);
        assert_eq!(two.found(), MAX_ERRORS + 8);
        assert_eq!(two.into_vec().len(), MAX_ERRORS);
    }

    #[test]
    fn one_long_error_is_kept_and_no_other() {
        let long = "k".repeat(MAX_ERROR_BYTES);
        let mut list = ErrorList::default();
        list.push(Error::required(&long, ""));
        let mut built = false;
        list.push_with(|| {
            built = true;
            Error::required("b", "")
        });
        assert!(!built);
        assert_eq!((list.found(), list.as_slice().len()), (2, 1));
    }
}
