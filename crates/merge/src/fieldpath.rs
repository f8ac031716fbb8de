//! Names of fields, and sets of them: who owns what is said in these.

mod element;
mod filter;
mod json;
mod set;

pub use element::{Element, Path};
pub use filter::{Filter, Matcher};
pub use set::{Node, Set};
