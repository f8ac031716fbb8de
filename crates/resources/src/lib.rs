//! The table of kinds: built-ins are rows, custom resources are rows that arrive later, with small strategies for the few
//! that need code.
//!
//! **Invariant:** no verbs are carried out here, and no HTTP is spoken.

mod clock;
pub mod columns;
pub mod convert;
pub mod defaults;
pub mod prepare;
mod quantity;
mod read;
mod resource;
mod table;
pub mod type_checking;
pub mod validate;
mod verbs;

pub use resource::{Resource, Subresource};
pub use table::{Table, Version, builtin};
pub use verbs::{Verb, Verbs};
