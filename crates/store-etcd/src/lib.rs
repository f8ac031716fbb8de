//! The store's contract over an etcd cluster, 3.4 to 3.6. The only crate that knows etcd.
//!
//! * **Reads come from memory**, fed by one watch (`feed`). A read that must not be stale asks etcd for its current
//!   revision, together with every read that waits at that moment (`barrier`), and waits until memory has reached it.
//! * **A write is one etcd transaction, sent once.** It is sent to another member only when it is certain that the first
//!   never got it. An answer that got lost is [`store::Error::Unknown`].
//! * **A write is answered after the feed has shown it**: whoever got the answer reads its own write.
//! * **The feed publishes whole revisions, each once, in order**, and goes on at the next revision with any member. When
//!   etcd has compacted that revision, or an event does not fit the state it is applied to, the feed reads everything
//!   anew and ends every watch with [`store::WatchEnd::Compacted`].
//! * Nothing depends on the clock of day.
//!
//! etcd's revisions count the changes of all keys, also of those outside of [`Config::prefix`]. Leases have no prefix:
//! [`store::Store::backup`] sees those of all users of the cluster.

mod backend;
mod barrier;
mod compactor;
mod config;
mod failure;
mod feed;
mod goal;
mod keys;
mod load;
mod members;
mod moments;
mod open;
mod size;
mod transaction;
mod version;
pub mod wire;

pub use config::{Config, Tls};
pub use open::open;
