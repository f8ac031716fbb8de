//! The seam between the one [`crate::Store`] everybody uses and where its data lives.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::{Committed, Error, LeaseId, Revision, Txn};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Makes changes durable and feeds them to the store's [`crate::View`].
///
/// A backend answers a write only after the change is durable *and* visible in the view: a caller that got the answer reads
/// its own write.
pub trait Backend: Send + Sync + std::fmt::Debug + 'static {
    /// The transaction has been checked against the limits.
    fn commit(&self, txn: Txn) -> BoxFuture<'_, Result<Committed, Error>>;

    /// A revision no older than any write that anybody was answered before this call. `None`: the view always is.
    fn barrier(&self) -> Option<BoxFuture<'_, Result<Revision, Error>>>;

    fn grant(&self, ttl: Duration) -> BoxFuture<'_, Result<LeaseId, Error>>;

    /// Starts the lease's time again; returns its full time to live.
    fn keep_alive(&self, lease: LeaseId) -> BoxFuture<'_, Result<Duration, Error>>;

    /// Ends the lease and deletes its keys, all at one revision.
    fn revoke(&self, lease: LeaseId) -> BoxFuture<'_, Result<(), Error>>;

    /// Forgets the past up to and including `revision`, here and after a restart.
    fn compact(&self, revision: Revision) -> BoxFuture<'_, Result<(), Error>>;

    /// The leases alive, each with its full time to live.
    fn leases(&self) -> BoxFuture<'_, Result<Vec<(LeaseId, Duration)>, Error>>;

    fn stats(&self) -> BackendStats;

    /// Stops taking writes, finishes those taken, leaves everything safe. Idempotent.
    fn close(&self) -> BoxFuture<'_, Result<(), Error>>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackendStats {
    /// `memory`, `embedded` or `etcd`.
    pub kind: &'static str,
    /// Bytes on disk, where the backend knows.
    pub disk_bytes: Option<u64>,
    /// Of these, the log of recent changes.
    pub log_bytes: Option<u64>,
    /// Batches made durable and transactions in them: their ratio is the group commit's batch size.
    pub batches: u64,
    pub transactions: u64,
    pub leases: u64,
    pub checkpoints: u64,
    /// Why the last checkpoint did not succeed; it will be tried again.
    pub checkpoint_error: Option<Arc<str>>,
    /// Why writes are refused now.
    pub refusing: Option<Arc<str>>,
}
