//! What is known of a request beside its spans.

use std::any::Any;

use super::attributes::Attributes;

/// Noted on the request's thread, in as little time as can be; said on the exporter's.
pub trait Describe: Any + Send {
    fn describe(&self, out: &mut Description);

    /// Whether it holds so little memory that it is worth keeping for another request.
    fn is_small(&self) -> bool {
        true
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

/// What is said of a request.
#[derive(Debug, Default)]
pub struct Description {
    /// The root's name.
    pub name: String,
    /// The server failed, whoever's fault it was.
    pub is_error: bool,
    /// By role, as spans have them.
    attributes: [Vec<u8>; 6],
}

impl Description {
    /// The attributes that a span has by its role.
    pub fn of(&mut self, role: Role) -> Attributes<'_> {
        Attributes::of_span(&mut self.attributes[role as usize])
    }

    pub(super) fn attributes(&self, role: Role) -> &[u8] {
        &self.attributes[role as usize]
    }

    /// Keeps nothing but the room.
    pub(super) fn clear(&mut self) {
        self.name.clear();
        self.is_error = false;
        self.attributes.iter_mut().for_each(Vec::clear);
    }
}

/// A request that went away before anything could be said about it.
#[derive(Debug, Default)]
pub(super) struct Abandoned;

impl Describe for Abandoned {
    fn describe(&self, out: &mut Description) {
        out.name.push_str("abandoned");
        out.is_error = true;
    }
}
