//! The Kubernetes vocabulary on [`json`] values, with upstream's rules and texts.
//!
//! | module | says |
//! |---|---|
//! | [`field`] | where in an object something is wrong, and what |
//! | [`status`] | the errors of the API, to and from JSON |
//! | [`gvk`] | groups, versions, kinds, resources |
//! | [`names`] | what names, labels, ports, addresses may look like |
//! | [`selector`] | which objects are meant |
//! | [`quantity`], [`intstr`], [`time`] | values that are more than JSON's |
//! | [`object`] | metadata: read, write, validate |
//! | [`options`] | what a request asks for beside its path |
//! | [`table`] | objects as rows, and as metadata only |
//! | [`go`] | texts as Go prints them, from [`encoding`] |
//!
//! **Invariant:** no I/O, no clock, no randomness of its own, no schemas. No input panics, and none costs more than
//! its size.

pub mod field;
pub mod gvk;
pub mod intstr;
pub mod names;
pub mod object;
pub mod options;
pub mod quantity;
pub mod selector;
pub mod status;
pub mod table;
pub mod time;

pub use encoding::go;
pub use status::Status;
