//! The value everyone speaks: an ordered JSON tree that tells integers from floats, parsed strictly and written as Go
//! writes it.
//!
//! **Invariant:** knows no Kubernetes, and no input costs more than its size: depth is bounded and nothing recurses
//! further than [`Limits::depth`]; no operation on an object takes time linear in the number of its keys, but those
//! that visit all of them.
//!
//! | to | use |
//! |---|---|
//! | read | [`parse`], or [`parse_with`] for other limits and to learn of duplicate keys |
//! | write | [`to_string`], [`to_vec`], [`write()`]; for people [`to_string_pretty`] |
//! | make | [`json!`], `Value::from`, `Object::from_iter` |
//! | walk | [`Value::at`], [`Value::get`], [`Pointer`] (RFC 6901) |
//! | compare | `==`, where the order of keys does not matter; [`diff()`] says where |
//! | look into text without parsing it | [`scan`] |
//!
//! What is read and how follows `sigs.k8s.io/json`: whatever fits an int64 is one ([`Number`]), `1.0` and `1e3` are
//! floats, the last of duplicate keys wins, a lone surrogate becomes U+FFFD, errors are worded as Go words them. It
//! differs in one thing: text that is not UTF-8 is refused, where Go would put U+FFFD.
//!
//! A [`Value`] takes 24 bytes and a [`Text`] 16, of which 15 can be the text itself. Longer texts and the pairs of an
//! object are shared by clones until one of them changes, so a clone of an object costs as much as counting to one, and
//! changing a field of it copies only the objects on the way to the field.

mod diff;
mod find;
mod number;
mod object;
mod parse;
mod pointer;
pub mod scan;
mod text;
mod value;
mod write;

pub use diff::{Difference, diff};
pub use number::Number;
pub use object::{IntoIter, Object};
pub use parse::{Limits, ParseError, ParseErrorKind, Parsed, parse, parse_with};
pub use pointer::{Pointer, PointerError};
pub use text::Text;
pub use value::Value;
pub use write::{to_string, to_string_pretty, to_vec, write, write_pretty, write_str};
