//! Label selectors: the texts of queries, and the objects in specs.

mod object;
mod parse;
mod requirement;

use std::fmt;

use json::{Object, Value};

use crate::field;
use crate::go::quote;

pub use requirement::{Operator, Requirement};

/// Why a text or an object is no selector, in upstream's words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseError {
    #[error("found '{found}', expected: {expected}")]
    Unexpected { found: String, expected: Expected },
    /// Upstream has no comma here.
    #[error("found '{0}' expected: '('")]
    NoParenthesis(String),
    #[error("{} is not a valid label selector operator", quote(.0))]
    Operator(String),
    #[error("{0}")]
    Key(field::Error),
    #[error("{}", field::aggregate(.0))]
    Invalid(Vec<field::Error>),
    #[error("unable to parse requirement: {0}")]
    Requirement(Box<ParseError>),
}

/// What may stand where another token was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Expected {
    #[error("!, identifier, or 'end of string'")]
    Requirement,
    #[error("identifier")]
    Identifier,
    #[error("identifier after ','")]
    IdentifierAfterComma,
    #[error("',' or 'end of string'")]
    CommaOrEnd,
    #[error("in, notin, =, ==, !=, gt, lt")]
    Operator,
    #[error("',', ')' or identifier")]
    FirstValue,
    #[error("',' or ')'")]
    CommaOrParenthesis,
    #[error("',', or identifier")]
    CommaOrIdentifier,
}

/// Requirements that all hold, ordered by key. None is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    nothing: bool,
    requirements: Vec<Requirement>,
}

impl LabelSelector {
    pub fn everything() -> Self {
        Self::default()
    }

    pub fn nothing() -> Self {
        Self {
            nothing: true,
            requirements: Vec::new(),
        }
    }

    pub fn new(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|a, b| a.key().cmp(b.key()));
        Self {
            nothing: false,
            requirements,
        }
    }

    /// Reads `x=a,y in (b,c),!z`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::parse(text).map(Self::new)
    }

    pub fn is_everything(&self) -> bool {
        !self.nothing && self.requirements.is_empty()
    }

    pub fn is_nothing(&self) -> bool {
        self.nothing
    }

    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether labels that are looked up by key are selected.
    pub fn matches_with<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing && (self.requirements.iter()).all(|it| it.matches(lookup(it.key())))
    }

    /// The same for `metadata.labels`.
    pub fn matches(&self, labels: Option<&Object>) -> bool {
        self.matches_with(|key| labels?.get(key).and_then(Value::as_str))
    }

    pub fn matches_pairs<S: AsRef<str>>(&self, labels: &[(S, S)]) -> bool {
        self.matches_with(|key| {
            let found = labels.iter().find(|(it, _)| it.as_ref() == key);
            found.map(|(_, value)| value.as_ref())
        })
    }

    /// The one value that a label must have, if the selector says so.
    pub fn exact_match(&self, label: &str) -> Option<&str> {
        let found = self.requirements.iter().find(|it| it.key() == label)?;
        match (found.operator(), found.values()) {
            (Operator::Equals | Operator::DoubleEquals | Operator::In, [one]) => Some(one),
            _ => None,
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
