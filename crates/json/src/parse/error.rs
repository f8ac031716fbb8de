//! What is wrong, in the words of Go's encoding/json: kube-apiserver passes them on to its clients.

/// Not JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ParseError {
    pub what: String,
    /// The place of the byte that does not fit, or the length of the text if it ends too early.
    pub offset: usize,
    pub kind: ParseErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    Syntax,
    /// Arrays and objects are nested deeper than [`Limits`](crate::Limits) allow.
    TooDeep,
}

/// Why the byte at the parser's place does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fail(pub(super) &'static str);

impl Fail {
    pub(super) const END: Self = Self("unexpected end of JSON input");
    pub(super) const TOO_DEEP: Self = Self("exceeded max depth");

    pub(super) fn at(self, text: &[u8], offset: usize) -> ParseError {
        let what = if self == Self::END {
            self.0.into()
        } else {
            // Go tells the end inside a word, number or escape by reading a space there.
            let byte = text.get(offset).copied().unwrap_or(b' ');
            format!("invalid character {} {}", quote(byte), self.0)
        };
        let kind = if self == Self::TOO_DEEP {
            ParseErrorKind::TooDeep
        } else {
            ParseErrorKind::Syntax
        };
        ParseError { what, offset, kind }
    }
}

pub(super) fn invalid_utf8(offset: usize) -> ParseError {
    ParseError {
        what: "invalid UTF-8".into(),
        offset,
        kind: ParseErrorKind::Syntax,
    }
}

pub(super) fn out_of_range(number: &str, offset: usize) -> ParseError {
    ParseError {
        what: format!("json: cannot unmarshal number {number} into Go value of type float64"),
        offset,
        kind: ParseErrorKind::Syntax,
    }
}

/// A byte as Go quotes it: taken for the character of that number.
fn quote(byte: u8) -> String {
    encoding::go::quote_char(byte.into())
}
