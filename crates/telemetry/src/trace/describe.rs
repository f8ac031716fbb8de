//! What is known of a request beside its spans.

use super::attributes::{Attributes, Name};

/// Tells of a request when its trace is written, straight into the message that carries it.
pub trait Describe {
    /// The root's name.
    fn name(&self, out: &mut Name<'_>);

    /// What spans say by their role, if that is not [`Role::Plain`].
    fn attributes(&self, role: Role, out: &mut Attributes<'_>) {
        let _ = (role, out);
    }

    /// The server failed, whoever's fault it was.
    fn is_error(&self) -> bool {
        false
    }
}

/// For which of the things that are known of a request a span asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing but its own.
    Plain,
    /// The request as HTTP has it: the root.
    Server,
    /// The request as the API has it.
    Handler,
    /// What is stored or read for it.
    Stored,
    /// Its answer.
    Answer,
    /// The same, of no version of any API: discovery, or that nobody serves this.
    Document,
}

/// A request that went away before anything could be said about it.
#[derive(Debug)]
pub(super) struct Abandoned;

impl Describe for Abandoned {
    fn name(&self, out: &mut Name<'_>) {
        out.push("abandoned");
    }

    fn is_error(&self) -> bool {
        true
    }
}
