//! What does not fit a schema, and where. Paths are written only when they are told: each error shares the path of those
//! beside it, so that all errors of an object need no more memory than the object.

use std::fmt;

/// At most so many errors of one object are kept.
const MAX_ERRORS: usize = 1_000;
/// Nor any after the texts have reached this size.
const MAX_ERROR_BYTES: usize = 256 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    found: Vec<Found>,
    /// Of messages in all of `found`. Upstream has no bound on it.
    count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Message(String),
    Below(String, Vec<Found>),
}

impl Errors {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            found: vec![Found::Message(message.into())],
            count: 1,
        }
    }

    pub(super) fn below(self, element: impl fmt::Display) -> Self {
        Self {
            found: vec![Found::Below(element.to_string(), self.found)],
            count: self.count,
        }
    }

    /// Drops what would be more than is told.
    pub(super) fn add(&mut self, more: Self) {
        if self.count < MAX_ERRORS {
            self.count += more.count;
            self.found.extend(more.found);
        }
    }

    pub(super) fn result(self) -> Result<(), Self> {
        if self.count == 0 { Ok(()) } else { Err(self) }
    }
}

/// Writes messages with their paths, as long as there is room.
struct Teller<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    path: String,
    is_only: bool,
    count: usize,
    bytes: usize,
}

impl Teller<'_, '_> {
    fn tell(&mut self, found: &[Found]) -> fmt::Result {
        for each in found {
            if self.count >= MAX_ERRORS || self.bytes >= MAX_ERROR_BYTES {
                return Ok(());
            }
            match each {
                Found::Message(message) => self.line(message)?,
                Found::Below(element, found) => {
                    let length = self.path.len();
                    self.path.push_str(element);
                    self.tell(found)?;
                    self.path.truncate(length);
                }
            }
        }
        Ok(())
    }

    fn line(&mut self, message: &str) -> fmt::Result {
        self.count += 1;
        self.bytes += self.path.len() + message.len();
        if !self.is_only {
            self.out.write_str("\n  ")?;
        }
        if !self.path.is_empty() {
            self.out.write_str(&self.path)?;
            self.out.write_str(": ")?;
        }
        self.out.write_str(message)
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_only = self.count == 1;
        if !is_only {
            f.write_str("errors:")?;
        }
        let mut teller = Teller {
            out: f,
            path: String::new(),
            is_only,
            count: 0,
            bytes: 0,
        };
        teller.tell(&self.found)
    }
}

impl std::error::Error for Errors {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stand_before_messages() {
        let mut errors = Errors::new("a").below(".x");
        assert_eq!(errors.clone().below(".y").to_string(), ".y.x: a");
        errors.add(Errors::new("b"));
        assert_eq!(errors.clone().to_string(), "errors:\n  .x: a\n  b");
        assert_eq!(
            errors.below(".y").to_string(),
            "errors:\n  .y.x: a\n  .y: b"
        );
    }

    #[test]
    fn many_errors_below_a_long_key_need_little() {
        let key = ".k".repeat(50_000);
        let mut errors = Errors::default();
        for _ in 0..2 * MAX_ERRORS {
            errors.add(Errors::new("no").below(".a"));
        }
        assert_eq!(errors.count, MAX_ERRORS);
        let told = errors.below(&key).to_string();
        assert_eq!(told.matches(": no").count(), 3);
        assert!(told.len() < MAX_ERROR_BYTES + 2 * key.len());
    }
}
