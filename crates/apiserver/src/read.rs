//! GET, LIST and WATCH: snapshots and changes on their way to clients, and the selectors that choose among them.
//!
//! **Belongs here:** what never changes the store. **Invariant:** parses no JSON unless the client asks for another
//! form or selects by fields.
//! **May use:** `catalog`, `flow`, `handler`, `instruments`, `observe`, `request`, `runtime`, `state`, `transport`.

pub mod continue_token;
pub(crate) mod filter;
pub(crate) mod get;
pub(crate) mod list;
pub mod metadata_stream;
pub(crate) mod watch;
