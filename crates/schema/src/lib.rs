//! What an object may look like. A schema is data: built-in kinds and custom resources take the same road.
//!
//! A [`Schema`] is a root in an arena of [`Node`]s; a [`Place`] walks it alongside a value. Types that contain
//! themselves (`JSONSchemaProps`) are cycles in the arena.

mod builtin;
mod canonical;
mod decode;
mod equality;
mod import;
mod node;
pub mod protobuf;
mod regexp;
pub mod structural;
mod unknown;

pub use builtin::{Builtin, builtin};
pub use canonical::{canonical, empty_lists_to_null, order};
pub use decode::{DecodeError, Found, TypeError, check_types};
pub use equality::Typed;
pub use import::with_object_meta;
pub use node::{
    Arena, Field, Fields, Format, Go, GoField, Inside, ListType, MapType, Member, Node, NodeId,
    Patch, Place, Schema, Shape,
};
pub use unknown::{prune, unknown, unknown_paths};
