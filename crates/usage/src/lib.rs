//! Usage statistics: which fields of kustomizations are used, and how often. Counted at each build, kept in a small spool,
//! and sent by a process of its own to the destination that the user names.
//!
//! **Invariant:** counts fields, never sees user data. What a [`Build`] is made of is numbers and `&'static str`: a
//! name, a path or a value that a user wrote does not fit in.
//!
//! | to | use |
//! |---|---|
//! | count a build | [`record`] |
//! | send what is in the spool | [`send()`] |
//! | send in the background while builds add to the spool | [`send_in_background`] |
//! | decide whether usage is recorded, with the reason | [`decide`], [`Decision`] |
//! | print what would be sent | [`show`] |
//! | change settings | [`config`] |

mod build;
pub mod config;
mod consent;
mod destination;
mod document;
mod error;
mod places;
mod record;
mod render;
pub mod send;
mod spool;

pub use build::{Build, Outcome};
pub use consent::{Decision, Plan, Reason, Source, decide, notice};
pub use destination::Destination;
pub use error::Error;
pub use places::Places;
pub use record::record;
pub use render::{show, state};
pub use send::{Sent, send, send_in_background};

use std::time::SystemTime;

/// The name that has all commands.
const PROGRAM: &str = "pilothouse";

/// The variable, and the key of the config file, that says where to.
pub const EXPORT: &str = "KUSTOMIZE_EXPORT_METRICS";

/// The default destination, set by the vendor of the binary: an OTLP URL. Empty unless whoever builds the
/// program sets it.
pub const CONTRIBUTORS: &str = match option_env!("PILOTHOUSE_USAGE_ENDPOINT") {
    Some(url) => url,
    None => "",
};

/// What this crate sees of the process that it runs in.
#[derive(Clone, Copy)]
pub struct Invocation<'a> {
    /// A variable of the environment. Only those that this crate knows by name are ever looked at.
    pub variable: &'a dyn Fn(&'static str) -> Option<String>,
    /// Whether stderr is a terminal.
    pub interactive: bool,
    pub now: SystemTime,
    /// How the user called the program, for commands in texts: `pilothouse`, `kustomize`.
    pub program: &'a str,
}

impl std::fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut it = f.debug_struct("Invocation");
        it.field("interactive", &self.interactive).finish()
    }
}

impl Invocation<'_> {
    /// A variable that says something: an empty one says nothing, as OpenTelemetry has it.
    fn variable(&self, name: &'static str) -> Option<String> {
        (self.variable)(name).filter(|it| !it.trim().is_empty())
    }
}
