//! Paths of fields and sets of them, as `fieldsV1` writes them.

mod element;
mod filter;
mod json;
mod set;

pub use element::{Element, Path};
pub use filter::{Filter, Matcher};
pub use set::{Node, Set};
