use std::collections::HashSet;
use std::fmt;

use json::{Number, Value};

use crate::go;

/// What is wrong with a field. `Display` is the sentence's beginning, `reason` the word in a Status cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    NotFound,
    Required,
    Duplicate,
    Invalid,
    NotSupported,
    Forbidden,
    TooLong,
    TooShort,
    TooMany,
    TooFew,
    TypeInvalid,
    Internal,
}

/// Stands for a value that is not shown.
const OMITTED: &str = "<value omitted>";

impl ErrorKind {
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooShort => "FieldValueTooShort",
            Self::TooMany => "FieldValueTooMany",
            Self::TooFew => "FieldValueTooFew",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Internal => "InternalError",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooShort => "Too short",
            Self::TooMany => "Too many",
            Self::TooFew => "Too few",
            Self::Internal => "Internal error",
        })
    }
}

/// One thing wrong with one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub kind: ErrorKind,
    pub field: String,
    /// Printed as it is: an object of a map type should have its keys sorted, as Go prints maps.
    pub value: Value,
    pub detail: String,
}

/// All constructors take a [`Path`](super::Path), or its text.
impl Error {
    /// The same, of what is below `path`; what was told of the whole is told of that.
    #[must_use]
    pub fn below(mut self, path: &str) -> Self {
        self.field = match &*self.field {
            "" | "<nil>" => path.to_owned(),
            field => format!("{path}.{field}"),
        };
        self
    }

    fn new(kind: ErrorKind, field: impl fmt::Display, value: Value, detail: String) -> Self {
        Self {
            kind,
            field: field.to_string(),
            value,
            detail,
        }
    }

    pub fn required(field: impl fmt::Display, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Required, field, "".into(), detail.into())
    }

    pub fn invalid(
        field: impl fmt::Display,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Invalid, field, value.into(), detail.into())
    }

    /// An invalid value that says nothing, or too much, to be shown.
    pub fn invalid_omitted(field: impl fmt::Display, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, field, OMITTED.into(), detail.into())
    }

    pub fn type_invalid(
        field: impl fmt::Display,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::TypeInvalid, field, value.into(), detail.into())
    }

    pub fn duplicate(field: impl fmt::Display, value: impl Into<Value>) -> Self {
        Self::new(ErrorKind::Duplicate, field, value.into(), String::new())
    }

    pub fn not_found(field: impl fmt::Display, value: impl Into<Value>) -> Self {
        Self::new(ErrorKind::NotFound, field, value.into(), String::new())
    }

    /// The supported values are named in the order given.
    pub fn not_supported<S: AsRef<str>>(
        field: impl fmt::Display,
        value: impl Into<Value>,
        supported: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut detail = go::quote_all(supported);
        if !detail.is_empty() {
            detail.insert_str(0, "supported values: ");
        }
        Self::new(ErrorKind::NotSupported, field, value.into(), detail)
    }

    pub fn forbidden(field: impl fmt::Display, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, field, "".into(), detail.into())
    }

    pub fn too_long(field: impl fmt::Display, max_bytes: usize) -> Self {
        let detail = format!("may not be more than {}", count(max_bytes, "byte"));
        Self::new(ErrorKind::TooLong, field, OMITTED.into(), detail)
    }

    pub fn too_long_characters(field: impl fmt::Display, max: usize) -> Self {
        let detail = format!("may not be more than {}", count(max, "character"));
        Self::new(ErrorKind::TooLong, field, OMITTED.into(), detail)
    }

    pub fn too_short(field: impl fmt::Display, value: impl Into<Value>, min: usize) -> Self {
        let detail = format!("must be at least {}", count(min, "character"));
        Self::new(ErrorKind::TooShort, field, value.into(), detail)
    }

    /// `None` leaves the actual number out of the text.
    pub fn too_many(field: impl fmt::Display, actual: Option<usize>, max: usize) -> Self {
        let detail = format!("must have at most {}", count(max, "item"));
        Self::new(ErrorKind::TooMany, field, number(actual), detail)
    }

    pub fn too_few(field: impl fmt::Display, actual: usize, min: usize) -> Self {
        let detail = format!("must have at least {}", count(min, "item"));
        Self::new(ErrorKind::TooFew, field, number(Some(actual)), detail)
    }

    pub fn internal(field: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, field, Value::Null, error.to_string())
    }

    /// The sentence without the field, as a Status cause has it.
    pub fn body(&self) -> String {
        let mut out = self.kind.to_string();
        if self.shows_value() {
            out.push_str(": ");
            match &self.value {
                Value::String(it) => out.push_str(&go::quote(it)),
                Value::Number(Number::Float(it)) => out.push_str(&go::float(*it)),
                other => out.push_str(&json::to_string(other)),
            }
        }
        if !self.detail.is_empty() {
            out.push_str(": ");
            out.push_str(&self.detail);
        }
        out
    }

    fn shows_value(&self) -> bool {
        match self.kind {
            ErrorKind::Required
            | ErrorKind::Forbidden
            | ErrorKind::TooLong
            | ErrorKind::TooShort
            | ErrorKind::Internal => false,
            ErrorKind::TooMany => !self.value.is_null(),
            _ => self.value.as_str() != Some(OMITTED),
        }
    }
}

fn count(n: usize, unit: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {unit}{s}")
}

fn number(n: Option<usize>) -> Value {
    n.map(|it| i64::try_from(it).unwrap_or(i64::MAX)).into()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for Error {}

/// The texts of a list of errors as one: the text itself if there is one, `[a, b]` if there are several, each once.
pub fn aggregate(errors: &[Error]) -> String {
    join(errors.iter().map(Error::to_string))
}

/// The same for any texts; nothing for none.
pub fn join(texts: impl IntoIterator<Item = String>) -> String {
    let mut all: Vec<String> = texts.into_iter().collect();
    if let [_] = &all[..] {
        return all.pop().unwrap_or_default();
    }
    let mut seen = HashSet::new();
    let once: Vec<&str> = (all.iter().map(String::as_str))
        .filter(|text| seen.insert(*text))
        .collect();
    match once.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        several => {
            let length = several.iter().map(|it| it.len() + 2).sum();
            let mut joined = String::with_capacity(length);
            for text in several {
                joined.push_str(if joined.is_empty() { "[" } else { ", " });
                joined.push_str(text);
            }
            joined.push(']');
            joined
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;
    use crate::field::Path;

    #[test]
    fn prints_as_upstream() {
        let at = Path::new("f");
        let none: [&str; 0] = [];
        let table = [
            (Error::required(at, ""), "f: Required value"),
            (Error::required(at, "why"), "f: Required value: why"),
            (
                Error::invalid(at, -1, "must be greater than or equal to 0"),
                "f: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                Error::invalid(at, "a\"b\n", "d"),
                "f: Invalid value: \"a\\\"b\\n\": d",
            ),
            (
                Error::invalid(at, Number::Float(1e6), "d"),
                "f: Invalid value: 1e+06: d",
            ),
            (
                Error::invalid(at, json!(null), "d"),
                "f: Invalid value: null: d",
            ),
            (
                Error::invalid(at, json!({"a": [1, "x"]}), "d"),
                "f: Invalid value: {\"a\":[1,\"x\"]}: d",
            ),
            (Error::invalid_omitted(at, "d"), "f: Invalid value: d"),
            (
                Error::type_invalid(at, true, "d"),
                "f: Invalid value: true: d",
            ),
            (Error::duplicate(at, "x"), "f: Duplicate value: \"x\""),
            (Error::not_found(at, "x"), "f: Not found: \"x\""),
            (
                Error::not_supported(at, "x", ["a", "b"]),
                "f: Unsupported value: \"x\": supported values: \"a\", \"b\"",
            ),
            (
                Error::not_supported(at, "x", none),
                "f: Unsupported value: \"x\"",
            ),
            (Error::forbidden(at, "no"), "f: Forbidden: no"),
            (
                Error::too_long(at, 1),
                "f: Too long: may not be more than 1 byte",
            ),
            (
                Error::too_long(at, 63),
                "f: Too long: may not be more than 63 bytes",
            ),
            (
                Error::too_long_characters(at, 2),
                "f: Too long: may not be more than 2 characters",
            ),
            (
                Error::too_short(at, "x", 2),
                "f: Too short: must be at least 2 characters",
            ),
            (
                Error::too_many(at, Some(3), 1),
                "f: Too many: 3: must have at most 1 item",
            ),
            (
                Error::too_many(at, None, 2),
                "f: Too many: must have at most 2 items",
            ),
            (
                Error::too_few(at, 0, 1),
                "f: Too few: 0: must have at least 1 item",
            ),
            (Error::internal(at, "oops"), "f: Internal error: oops"),
        ];
        for (error, want) in table {
            assert_eq!(error.to_string(), want);
        }
    }

    #[test]
    fn aggregates_say_each_thing_once() {
        let (a, b) = (Error::required("a", ""), Error::required("b", ""));
        let table = [
            (vec![], ""),
            (vec![a.clone(), a.clone()], "a: Required value"),
            (
                vec![a.clone(), b, a],
                "[a: Required value, b: Required value]",
            ),
        ];
        for (errors, want) in table {
            assert_eq!(aggregate(&errors), want);
        }
    }
}
