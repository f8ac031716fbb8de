//! What is said of a span beside its name.

use super::arena::Held;
use super::wire;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Static(&'static str),
    Text(String),
    Int(i64),
    Bool(bool),
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Static(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// Takes attributes when a trace is exported: what is only borrowed is written without being copied first.
#[derive(Debug)]
pub struct Attributes<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) field: u32,
}

/// Of a span, in OTLP.
const OF_SPAN: u32 = 9;

impl<'a> Attributes<'a> {
    pub(super) fn of_span(out: &'a mut Vec<u8>) -> Self {
        let field = OF_SPAN;
        Self { out, field }
    }

    pub fn text(&mut self, key: &str, value: &str) {
        wire::text_attribute(self.out, self.field, key, cut(value));
    }

    /// Nothing if it is empty.
    pub fn some_text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.text(key, value);
        }
    }

    pub fn int(&mut self, key: &str, value: i64) {
        wire::attribute(self.out, self.field, key, |out| {
            wire::int(out, wire::INT_VALUE, value);
        });
    }

    pub fn bool(&mut self, key: &str, value: bool) {
        wire::attribute(self.out, self.field, key, |out| {
            wire::int(out, wire::BOOL_VALUE, i64::from(value));
        });
    }

    pub(super) fn held(&mut self, key: &str, value: &Held, text: &str) {
        match value {
            Held::Static(text) => self.text(key, text),
            Held::Text(range) => self.text(key, text.get(range.clone()).unwrap_or_default()),
            Held::Int(number) => self.int(key, *number),
            Held::Bool(value) => self.bool(key, *value),
        }
    }
}

/// What is longer says no more, and costs.
const LONGEST: usize = 4096;

pub(super) fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
