//! GET, LIST and WATCH: snapshots and changes on their way to clients, and the selectors that choose among them.
//!
//! **Belongs here:** whatever never changes the store. **Invariant:** parses no JSON unless the client asks for another
//! form or selects by fields.

pub mod continue_token;
pub(crate) mod filter;
pub(crate) mod list;
pub mod metadata_stream;
pub(crate) mod watch;
