//! What went wrong, in kustomize's words: each layer puts its own before those of the layer below.

use std::fmt::{Display, Write as _};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Build(String),
    /// A server answered with an error; there is no use in trying the address as a repository.
    #[error("{0}")]
    Http(String),
    /// A program took too long.
    #[error("{0}")]
    Timeout(String),
    /// The same with where it happened, for those who want to know more than kustomize says.
    #[error("{error}")]
    At { error: Box<Error>, place: String },
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::Build(text.into())
    }

    pub(crate) fn wrap(self, prefix: impl Display) -> Self {
        let text = format!("{prefix}: {self}");
        match self {
            Self::Build(_) => Self::Build(text),
            Self::Http(_) => Self::Http(text),
            Self::Timeout(_) => Self::Timeout(text),
            Self::At { place, .. } => Self::At {
                error: Box::new(Self::Build(text)),
                place,
            },
        }
    }

    /// Says where it happened, unless that is known more precisely, or others have to know what it was.
    pub(crate) fn at(self, place: impl FnOnce() -> String) -> Self {
        match self {
            Self::Build(_) => Self::At {
                error: Box::new(self),
                place: place(),
            },
            error => error,
        }
    }

    /// The same error in other words.
    pub(crate) fn reword(self, words: impl FnOnce(String) -> String) -> Self {
        let text = words(self.to_string());
        match self {
            Self::At { place, .. } => Self::At {
                error: Box::new(Self::Build(text)),
                place,
            },
            _ => Self::Build(text),
        }
    }

    /// The file or the field of a kustomization that it happened at, if that is known.
    pub fn place(&self) -> Option<&str> {
        match self {
            Self::At { place, .. } => Some(place),
            _ => None,
        }
    }

    pub(crate) fn is_malformed_yaml(&self) -> bool {
        self.to_string().contains("MalformedYAMLError")
    }
}

pub(crate) trait Wrap<T> {
    fn wrap(self, prefix: impl Display) -> Result<T>;
    fn wrap_with<D: Display>(self, prefix: impl FnOnce() -> D) -> Result<T>;
}

impl<T> Wrap<T> for Result<T> {
    fn wrap(self, prefix: impl Display) -> Result<T> {
        self.map_err(|error| error.wrap(prefix))
    }

    fn wrap_with<D: Display>(self, prefix: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.wrap(prefix()))
    }
}

impl From<yaml::Error> for Error {
    fn from(error: yaml::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// As Go's `%q`, for the characters that names and texts are made of.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => {
                _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
