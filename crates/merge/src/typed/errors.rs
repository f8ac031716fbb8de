//! What does not fit a schema, and where.

use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors(Vec<(String, String)>);

impl Errors {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(vec![(String::new(), message.into())])
    }

    pub(super) fn below(mut self, element: impl fmt::Display) -> Self {
        let prefix = element.to_string();
        for (path, _) in &mut self.0 {
            path.insert_str(0, &prefix);
        }
        self
    }

    pub(super) fn add(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(super) fn result(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, path: &str, message: &str| match path {
            "" => f.write_str(message),
            path => write!(f, "{path}: {message}"),
        };
        if let [(path, message)] = self.0.as_slice() {
            return line(f, path, message);
        }
        f.write_str("errors:")?;
        for (path, message) in &self.0 {
            f.write_str("\n  ")?;
            line(f, path, message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}
