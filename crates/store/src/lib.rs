//! A revisioned, watchable, durable map from key to bytes. It knows neither JSON nor Kubernetes.
//!
//! * One global [`Revision`] orders all changes and only grows. All writes of a transaction share one.
//! * **Nothing is visible before it is durable**: no answer, no read and no watch shows a change that is not on disk.
//! * Reads come from memory and never wait for writes; a [`Snapshot`] is O(1) to take and shares every value.
//! * A [`Watch`] gives every change under a prefix once, in order, with no gap after the snapshot it starts from.
//! * The past is bounded in bytes; beyond it the error says `compacted at N`.
//!
//! [`Store`] is the one handle. Behind it is a [`Backend`]: [`embedded`] over an [`engine::Engine`] (memory, or the log
//! on disk), or etcd in the crate `store-etcd`.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use store::{Options, embedded};
//!
//! let store = embedded::in_memory(&Options::default());
//! let created = store.create("/greeting", "hello").await?;
//! let mut watch = store.watch(b"/", created).await?;
//! store.update("/greeting", "hello again", created).await?;
//! assert_eq!(watch.next().await.unwrap()[0].current.as_ref().unwrap().value, "hello again");
//! # Ok::<_, store::Error>(())
//! # }).unwrap();
//! ```

mod backend;
pub mod backup;
pub mod disk;
pub mod embedded;
pub mod engine;
mod entry;
mod error;
mod format;
mod history;
mod image;
pub mod log;
mod options;
mod snapshot;
mod store;
mod tree;
mod view;
mod watch;

pub use backend::{Backend, BackendStats, BoxFuture};
pub use entry::{Committed, Condition, Entry, Event, LeaseId, Revision, Txn, Write};
pub use error::{Corruption, Error};
pub use options::Options;
pub use snapshot::{Mark, Page, Range, Snapshot, prefix_end};
pub use store::Store;
pub use view::{Draft, View, ViewStats};
pub use watch::{Changes, Watch, WatchEnd};
