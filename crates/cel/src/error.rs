//! Why an evaluation has no value.

use std::borrow::Cow;
use std::fmt;

/// An error of an evaluation.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ErrorKind {
    /// The expression went wrong: a key is missing, a division by zero, ...
    Evaluation,
    /// A function was called with arguments it does not take.
    NoSuchOverload,
    /// The evaluation cost more than it may.
    CostLimit,
    /// The caller has given up.
    Interrupted,
    /// cel-go panics here, which ends the evaluation; what it cost until then is forgotten.
    Internal,
}

impl Error {
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of(ErrorKind::Evaluation, message)
    }

    fn of(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
        }))
    }

    pub(crate) fn no_such_overload() -> Self {
        Self::of(ErrorKind::NoSuchOverload, "no such overload")
    }

    /// Of a function, with the arguments it was called with where they are known.
    pub(crate) fn no_such_overload_of(call: impl fmt::Display) -> Self {
        Self::of(
            ErrorKind::NoSuchOverload,
            format!("no such overload: {call}"),
        )
    }

    pub(crate) fn no_such_key(key: impl fmt::Display) -> Self {
        Self::of(ErrorKind::Evaluation, format!("no such key: {key}"))
    }

    pub(crate) fn cost_limit() -> Self {
        Self::of(
            ErrorKind::CostLimit,
            "operation cancelled: actual cost limit exceeded",
        )
    }

    pub(crate) fn interrupted() -> Self {
        Self::of(ErrorKind::Interrupted, "operation interrupted")
    }

    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        Self::of(ErrorKind::Internal, format!("internal error: {message}"))
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// It ends the evaluation, and `||` does not make up for it.
    pub(crate) fn is_final(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::CostLimit | ErrorKind::Interrupted | ErrorKind::Internal
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({:?})", self.0.kind, self.0.message)
    }
}

impl std::error::Error for Error {}
