//! What is wrong with a field, in validation's words. The apiserver makes causes of a Status of them.

use std::fmt;

use json::Value;

use crate::quote::quote;

#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub field: String,
    pub kind: FaultKind,
    /// Null where none is shown.
    pub value: Value,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    Invalid,
    Required,
}

impl Fault {
    pub(crate) fn invalid(field: &str, value: impl Into<Value>, detail: &str) -> Self {
        Self::new(field, FaultKind::Invalid, value.into(), detail)
    }

    pub(crate) fn required(field: &str, detail: &str) -> Self {
        Self::new(field, FaultKind::Required, Value::Null, detail)
    }

    fn new(field: &str, kind: FaultKind, value: Value, detail: &str) -> Self {
        Self {
            field: field.to_owned(),
            kind,
            value,
            detail: detail.to_owned(),
        }
    }

    /// The reason of a cause.
    pub fn reason(&self) -> &'static str {
        match self.kind {
            FaultKind::Invalid => "FieldValueInvalid",
            FaultKind::Required => "FieldValueRequired",
        }
    }

    /// The message of a cause: all but the field.
    pub fn body(&self) -> String {
        let kind = match self.kind {
            FaultKind::Invalid => "Invalid value",
            FaultKind::Required => "Required value",
        };
        let mut text = match &self.value {
            _ if self.kind == FaultKind::Required => kind.to_owned(),
            Value::String(value) => format!("{kind}: {}", quote(value)),
            value => format!("{kind}: {value}"),
        };
        if !self.detail.is_empty() {
            text = format!("{text}: {}", self.detail);
        }
        text
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}
