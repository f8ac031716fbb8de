//! The table of kinds: built-ins are rows with a strategy each ([`strategy`]), custom resources are rows that arrive later.
//!
//! **Invariant:** no verbs are carried out here, and no HTTP is spoken.

mod clock;
pub mod columns;
pub mod convert;
pub mod defaults;
mod equality;
pub mod prepare;
mod quantity;
mod read;
mod resource;
pub mod strategy;
mod table;
pub mod type_checking;
pub mod validate;
mod verbs;

pub use resource::{Resource, Subresource};
pub use strategy::{Action, Strategy};
pub use table::{Table, Version, builtin};
pub use verbs::{Verb, Verbs};
