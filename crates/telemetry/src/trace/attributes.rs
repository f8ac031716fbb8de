//! Hot path. What is said of a span.

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

/// Takes attributes when a trace is encoded: what is only borrowed is written without being copied first.
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

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is short where the key is known")]
    pub fn text(&mut self, key: &str, value: &str) {
        wire::text_attribute(self.out, self.field, key, cut(value));
    }

    /// Nothing if it is empty.
    #[inline]
    pub fn some_text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.text(key, value);
        }
    }

    /// A text that is in several pieces.
    pub fn pieces(&mut self, key: &str, pieces: &[&str]) {
        let size = pieces.iter().map(|it| it.len()).sum::<usize>();
        if size > LONGEST {
            return self.text(key, &pieces.concat());
        }
        wire::attribute(self.out, self.field, key, |out| {
            wire::open(out, wire::STRING_VALUE, size);
            for piece in pieces {
                out.extend_from_slice(piece.as_bytes());
            }
        });
    }

    #[inline]
    pub fn int(&mut self, key: &str, value: i64) {
        wire::int_attribute(self.out, self.field, key, value);
    }

    pub fn bool(&mut self, key: &str, value: bool) {
        wire::attribute(self.out, self.field, key, |out| {
            wire::int(out, wire::BOOL_VALUE, i64::from(value));
        });
    }

    /// What was encoded before.
    #[inline]
    pub fn encoded(&mut self, Encoded(bytes): &Encoded) {
        self.out.extend_from_slice(bytes);
    }

    pub(super) fn held(&mut self, key: &str, value: &Held, text: &str) {
        match value {
            Held::Static(text) => self.text(key, text),
            Held::Text { start, end } => {
                let range = *start as usize..*end as usize;
                self.text(key, text.get(range).unwrap_or_default());
            }
            Held::Int(number) => self.int(key, *number),
            Held::Bool(value) => self.bool(key, *value),
        }
    }
}

/// Attributes of a span, encoded once for all spans that have them.
#[derive(Debug, PartialEq, Eq)]
pub struct Encoded(Box<[u8]>);

impl Encoded {
    pub fn new(write: impl FnOnce(&mut Attributes<'_>)) -> Self {
        let mut out = Vec::new();
        write(&mut Attributes::of_span(&mut out));
        Self(out.into())
    }

    /// In bytes.
    pub fn size(&self) -> usize {
        self.0.len()
    }
}

/// Takes the name of a span, piece by piece.
#[derive(Debug)]
pub struct Name<'a> {
    pub(super) out: &'a mut Vec<u8>,
}

impl Name<'_> {
    #[inline]
    pub fn push(&mut self, piece: &str) {
        self.out.extend_from_slice(piece.as_bytes());
    }
}

/// What is longer says no more, and costs.
const LONGEST: usize = 4096;

#[inline]
pub(super) fn cut(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
