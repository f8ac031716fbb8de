//! The handle everybody uses: reads from the view, writes through the backend, the same on every backend.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::{
    Backend, BackendStats, Committed, Condition, Entry, Error, LeaseId, Options, Revision,
    Snapshot, Txn, View, ViewStats, Watch, Write, backup,
};

#[derive(Clone, Debug)]
pub struct Store {
    view: Arc<View>,
    backend: Arc<dyn Backend>,
    max_request_bytes: usize,
}

impl Store {
    /// Operations in one transaction at most, as etcd's `--max-txn-ops` by default.
    pub const MAX_OPERATIONS: usize = 128;

    /// Joins a backend with the view it feeds.
    pub fn new(view: Arc<View>, backend: Arc<dyn Backend>, options: &Options) -> Self {
        Self {
            view,
            backend,
            max_request_bytes: options.max_request_bytes,
        }
    }

    /// Whether other processes may write to it, too.
    pub fn is_shared(&self) -> bool {
        self.backend.barrier().is_some()
    }

    /// What this process has seen so far. Includes every write answered by this store; on a backend shared with other
    /// processes it may lag behind theirs.
    pub fn latest(&self) -> Snapshot {
        self.view.latest()
    }

    /// A snapshot no older than any write that anybody was answered before this call.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        if let Some(barrier) = self.backend.barrier() {
            self.view.reached(barrier.await?).await?;
        }
        Ok(self.view.latest())
    }

    /// The state at exactly this revision: pages of one list, reads at a given version.
    pub async fn snapshot_at(&self, revision: Revision) -> Result<Snapshot, Error> {
        self.catch_up(revision).await?;
        self.view.at(revision)
    }

    pub async fn get(&self, key: &[u8]) -> Result<Option<Arc<Entry>>, Error> {
        Ok(self.snapshot().await?.get(key).cloned())
    }

    /// Every change under `prefix` after `revision`, once, in order. With a revision read from a snapshot there is no
    /// gap between the two.
    pub async fn watch(&self, prefix: &[u8], after: Revision) -> Result<Watch, Error> {
        self.catch_up(after).await?;
        self.view.watch(prefix, after)
    }

    /// As [`Self::watch`], without waiting: for a revision that was read from a snapshot of this store.
    pub fn watch_local(&self, prefix: &[u8], after: Revision) -> Result<Watch, Error> {
        self.view.watch(prefix, after)
    }

    /// Creates a key that does not exist.
    pub async fn create(
        &self,
        key: impl Into<Bytes>,
        value: impl Into<Bytes>,
    ) -> Result<Revision, Error> {
        let key = key.into();
        let txn = Txn::new()
            .when(Condition::Absent(key.clone()))
            .put(key, value);
        Ok(self.txn(txn).await?.revision)
    }

    /// Replaces a value last written at `expected`.
    pub async fn update(
        &self,
        key: impl Into<Bytes>,
        value: impl Into<Bytes>,
        expected: Revision,
    ) -> Result<Revision, Error> {
        let key = key.into();
        let txn = Txn::new()
            .when(Condition::Unchanged(key.clone(), expected))
            .put(key, value);
        Ok(self.txn(txn).await?.revision)
    }

    /// Deletes a key last written at `expected`.
    pub async fn delete(
        &self,
        key: impl Into<Bytes>,
        expected: Revision,
    ) -> Result<Revision, Error> {
        let key = key.into();
        let txn = Txn::new()
            .when(Condition::Unchanged(key.clone(), expected))
            .delete(key);
        Ok(self.txn(txn).await?.revision)
    }

    /// Writes whatever was there before.
    pub async fn put(
        &self,
        key: impl Into<Bytes>,
        value: impl Into<Bytes>,
    ) -> Result<Revision, Error> {
        Ok(self.txn(Txn::new().put(key, value)).await?.revision)
    }

    pub async fn txn(&self, txn: Txn) -> Result<Committed, Error> {
        self.check(&txn)?;
        self.backend.commit(txn).await
    }

    /// A lease whose keys are deleted when its time runs out. Time starts again with [`Store::keep_alive`] and when the
    /// store is reopened: a lease may end late, never early.
    pub async fn grant(&self, ttl: Duration) -> Result<LeaseId, Error> {
        self.backend.grant(ttl).await
    }

    pub async fn keep_alive(&self, lease: LeaseId) -> Result<Duration, Error> {
        self.backend.keep_alive(lease).await
    }

    pub async fn revoke(&self, lease: LeaseId) -> Result<(), Error> {
        self.backend.revoke(lease).await
    }

    pub async fn compact(&self, revision: Revision) -> Result<(), Error> {
        self.catch_up(revision).await?;
        let floor = self.view.floor();
        if revision < floor {
            return Err(Error::Compacted {
                requested: revision,
                floor,
            });
        }
        self.backend.compact(revision).await
    }

    pub fn stats(&self) -> (ViewStats, BackendStats) {
        (self.view.stats(), self.backend.stats())
    }

    /// Writes everything at one revision to `out`, in the format [`crate::backup::restore`] reads. Writers go on.
    /// Returns the revision.
    pub async fn backup<W: io::Write + Send + 'static>(
        &self,
        out: W,
    ) -> Result<(W, Revision), Error> {
        let leases = self.backend.leases().await?;
        let snapshot = self.snapshot().await?;
        let revision = snapshot.revision();
        let (done, result) = tokio::sync::oneshot::channel();
        std::thread::Builder::new()
            .name("store-backup".into())
            .spawn(move || {
                let mut out = out;
                let written = backup::write(snapshot, leases, &mut out).map(|()| (out, revision));
                // The caller may be gone; then the answer is dropped.
                let _ = done.send(written);
            })
            .map_err(|source| Error::io("start the backup thread", source))?;
        result
            .await
            .map_err(|_| Error::Closed)?
            .map_err(|source| Error::io("write the backup", source))
    }

    /// Finishes the writes taken, ends all watches, leaves the data safe.
    pub async fn close(&self) -> Result<(), Error> {
        let closed = self.backend.close().await;
        self.view.close();
        closed
    }

    /// A revision this process has not seen yet may be real on a shared backend: ask before calling it the future.
    async fn catch_up(&self, revision: Revision) -> Result<(), Error> {
        if revision <= self.view.revision() {
            return Ok(());
        }
        let current = self.snapshot().await?.revision();
        if revision > current {
            return Err(Error::FutureRevision {
                requested: revision,
                current,
            });
        }
        Ok(())
    }

    fn check(&self, txn: &Txn) -> Result<(), Error> {
        let operations = txn.conditions.len().max(txn.writes.len());
        if operations > Self::MAX_OPERATIONS {
            return Err(Error::TooManyOperations {
                count: operations,
                limit: Self::MAX_OPERATIONS,
            });
        }
        let size = txn.size();
        if size > self.max_request_bytes {
            return Err(Error::TooLarge {
                size,
                limit: self.max_request_bytes,
            });
        }
        let mut written: Vec<_> = txn.writes.iter().map(Write::key).collect();
        if written.iter().any(|key| key.is_empty())
            || txn.conditions.iter().any(|it| it.key().is_empty())
        {
            return Err(Error::EmptyKey);
        }
        written.sort_unstable();
        match written.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::DuplicateKey(pair[0].clone())),
            None => Ok(()),
        }
    }
}
