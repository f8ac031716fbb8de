//! May they? The seam, and the modes of `--authorization-mode`.

mod graph;
mod mode;
mod node;
mod union;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::Attributes;

pub use graph::ObjectGraph;
pub use mode::{AlwaysAllow, AlwaysDeny, Mode, modes};
pub use node::Node;
pub use union::Union;

/// Decides about one question, from what it knows at that moment.
pub trait Authorizer: Send + Sync + fmt::Debug {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> Answer<'a>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// Final: no later mode is asked.
    Deny,
    /// The next mode is asked; if none is left, the request is refused.
    NoOpinion,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    pub reason: String,
    /// What went wrong while deciding, for `status.evaluationError` of a review.
    pub error: Option<String>,
}

impl Decision {
    pub fn allow(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Allow, reason)
    }

    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Deny, reason)
    }

    pub fn no_opinion(reason: impl Into<String>) -> Self {
        Self::new(Verdict::NoOpinion, reason)
    }

    fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            verdict,
            reason: reason.into(),
            error: None,
        }
    }

    pub fn allowed(&self) -> bool {
        self.verdict == Verdict::Allow
    }
}

/// A decision, or the promise of one: only a webhook makes its caller wait, all others cost no allocation.
pub enum Answer<'a> {
    /// `None` once it has been awaited.
    Now(Option<Decision>),
    Later(Pin<Box<dyn Future<Output = Decision> + Send + 'a>>),
}

impl From<Decision> for Answer<'_> {
    fn from(decision: Decision) -> Self {
        Self::Now(Some(decision))
    }
}

impl Answer<'_> {
    /// The decision, if it is there without waiting.
    pub fn now(self) -> Option<Decision> {
        match self {
            Self::Now(decision) => decision,
            Self::Later(_) => None,
        }
    }
}

impl Future for Answer<'_> {
    type Output = Decision;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Decision> {
        match &mut *self {
            // Polled after its end, which a Future need not survive: refuse.
            Self::Now(decision) => {
                Poll::Ready(decision.take().unwrap_or_else(|| Decision::deny("")))
            }
            Self::Later(future) => future.as_mut().poll(context),
        }
    }
}

impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(decision) => f.debug_tuple("Now").field(decision).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}
