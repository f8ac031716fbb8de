//! A strict reader: UTF-8 only, bounded depth, and each duplicate key reported with its path.

mod duplicates;
mod error;
mod number;
mod parser;
mod scratch;
mod string;

use crate::Value;

pub use self::error::{ParseError, ParseErrorKind};
use self::parser::Parser;
pub(crate) use self::string::unquote;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many arrays and objects may lie in each other. Reading, writing and dropping recurse that deep: a thread
    /// needs about 1 kB of stack for each in a debug build.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 512 }
    }
}

/// A value with what a strict reader would not have taken.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    pub value: Value,
    /// Paths of keys that came more than once, as `spec.containers[0].name`, each once; no more than the first
    /// hundred. The last value won.
    pub duplicates: Vec<String>,
}

pub fn parse(text: &[u8]) -> Result<Value, ParseError> {
    let mut parser = Parser::new(text, Limits::default())?;
    let value = parser.document();
    parser.give_back();
    value
}

pub fn parse_with(text: &[u8], limits: Limits) -> Result<Parsed, ParseError> {
    let mut parser = Parser::new(text, limits)?;
    let value = parser.document();
    let has_duplicates = parser.has_duplicates();
    parser.give_back();
    let mut parsed = Parsed {
        value: value?,
        duplicates: Vec::new(),
    };
    if has_duplicates {
        parsed.duplicates = duplicates::paths(text, limits);
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests;
