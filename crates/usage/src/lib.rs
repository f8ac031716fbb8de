//! What is used: which fields of kustomizations, how often. Counted at each build, kept in a small spool, sent to
//! whoever the user names by a process of its own.
//!
//! **Invariant:** counts fields, never sees user data. What a [`Build`] is made of is numbers and `&'static str`: a
//! name, a path or a value that a user wrote does not fit in.
//!
//! | to | use |
//! |---|---|
//! | count a build | [`record`] |
//! | send what waits | [`send()`] |
//! | send what builds add, until they rest | [`attend`] |
//! | see whether and why | [`decide`], [`Decision`] |
//! | see what | [`show`] |
//! | change the user's mind | [`config`] |

mod build;
pub mod config;
mod consent;
mod destination;
mod document;
mod error;
mod places;
mod record;
pub mod send;
mod show;
mod spool;

pub use build::{Build, Outcome};
pub use consent::{Decision, Plan, Source, Why, decide, notice};
pub use destination::Destination;
pub use error::Error;
pub use places::Places;
pub use record::record;
pub use send::{Sent, attend, send};
pub use show::{show, state};

use std::time::SystemTime;

/// The name that has all commands.
const PROGRAM: &str = "pilothouse";

/// The variable, and the key of the config file, that says where to.
pub const EXPORT: &str = "KUSTOMIZE_EXPORT_METRICS";

/// Where builds are counted for those who make this program: a URL that takes OTLP. Empty unless whoever builds the
/// program sets it.
pub const CONTRIBUTORS: &str = match option_env!("PILOTHOUSE_USAGE_ENDPOINT") {
    Some(url) => url,
    None => "",
};

/// What this crate sees of the process that it runs in.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// A variable of the environment. Only those that this crate knows by name are ever looked at.
    pub variable: &'a dyn Fn(&'static str) -> Option<String>,
    /// Whether somebody reads what is written to stderr.
    pub interactive: bool,
    pub now: SystemTime,
    /// How the user called the program, for commands that are told to him: `pilothouse`, `kustomize`.
    pub program: &'a str,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut it = f.debug_struct("Surroundings");
        it.field("interactive", &self.interactive).finish()
    }
}

impl Surroundings<'_> {
    /// A variable that says something: an empty one says nothing, as OpenTelemetry has it.
    fn variable(&self, name: &'static str) -> Option<String> {
        (self.variable)(name).filter(|it| !it.trim().is_empty())
    }
}
