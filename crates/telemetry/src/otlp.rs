//! Decodes spans from OTLP: for recent traces, and for tests.

mod json;
mod read;
mod spans;
mod tables;

use std::fmt;

pub use self::json::{from_json, to_json};
pub(crate) use self::read::{Field, each};
pub use self::read::{request, scope_spans};
pub(crate) use self::spans::{Glance, Spans, append, attributes, received};

/// What was sent is no OTLP.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the message ends within a field")]
    Short,
    #[error("field {0} has no length that fits")]
    Length(u64),
    #[error("wire type {0} is not used in OTLP")]
    Form(u64),
    #[error("a text is not UTF-8")]
    Text,
    #[error("values are nested too deeply")]
    Deep,
    #[error("more than {0} spans in one message")]
    Many(usize),
    #[error("{0} is not what OTLP has there")]
    Value(&'static str),
    #[error("{0}")]
    Json(String),
}

/// Spans, and the attributes of their resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceSpans {
    pub resource: Vec<(String, Value)>,
    pub spans: Vec<Span>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    pub scope: String,
    pub trace_id: Id<16>,
    pub span_id: Id<8>,
    /// All zeros for a root.
    pub parent: Id<8>,
    pub trace_state: String,
    pub name: String,
    pub kind: u64,
    /// In nanoseconds since 1970.
    pub start: u64,
    pub end: u64,
    pub attributes: Vec<(String, Value)>,
    pub events: Vec<Event>,
    pub links: Vec<Link>,
    pub is_error: bool,
    pub message: String,
    pub flags: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    pub time: u64,
    pub name: String,
    pub attributes: Vec<(String, Value)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    pub trace_id: Id<16>,
    pub span_id: Id<8>,
    pub trace_state: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    #[default]
    Empty,
    Text(String),
    Bool(bool),
    Int(i64),
    Double(f64),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    Bytes(Vec<u8>),
}

/// Bytes that are shown as digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id<const N: usize>(pub [u8; N]);

impl<const N: usize> Id<N> {
    pub fn is_none(&self) -> bool {
        self.0 == [0; N]
    }
}

impl<const N: usize> Default for Id<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> fmt::Display for Id<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encoding::hex::encode(&self.0))
    }
}

impl<const N: usize> fmt::Debug for Id<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Span {
    pub fn attribute(&self, key: &str) -> Option<&Value> {
        let found = self.attributes.iter().find(|it| it.0 == key);
        found.map(|it| &it.1)
    }

    /// Empty if there is none of that name, or it is no text.
    pub fn text(&self, key: &str) -> &str {
        match self.attribute(key) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }
}
