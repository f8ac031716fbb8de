//! The store's [`Backend`] over the members.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::{
    Backend, BackendStats, BoxFuture, Committed, Error, LeaseId, Revision, Txn, View, Write,
};
use tokio::sync::{RwLock, RwLockReadGuard};
use tokio::task::AbortHandle;

use crate::barrier::{Barrier, not_back};
use crate::failure::{Failure, no_space};
use crate::goal::Reach;
use crate::keys::{Keys, raw};
use crate::members::{Members, at, lease_id};
use crate::size::Size;
use crate::transaction;
use crate::wire::{
    CompactionRequest, LeaseGrantRequest, LeaseKeepAliveRequest, LeaseRevokeRequest,
    LeaseTimeToLiveRequest,
};

/// etcd rewrites its database in small steps, beside its other work.
const COMPACTION: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Etcd {
    members: Arc<Members>,
    keys: Keys,
    view: Arc<View>,
    barrier: Barrier,
    reach: Reach,
    size: Size,
    /// The feed, the barrier's asker, who asks for the size, the compactor.
    tasks: Vec<AbortHandle>,
    /// Whether the store is closed. A write holds it for reading, so closing waits for the writes taken.
    closed: RwLock<bool>,
    transactions: AtomicU64,
    refusing: Mutex<Option<Arc<str>>>,
}

impl Etcd {
    pub(crate) fn new(
        members: Arc<Members>,
        keys: Keys,
        view: Arc<View>,
        barrier: Barrier,
        reach: Reach,
        size: Size,
        tasks: Vec<AbortHandle>,
    ) -> Self {
        Self {
            members,
            keys,
            view,
            barrier,
            reach,
            size,
            tasks,
            closed: RwLock::new(false),
            transactions: AtomicU64::new(0),
            refusing: Mutex::new(None),
        }
    }

    async fn open(&self) -> Result<RwLockReadGuard<'_, bool>, Error> {
        let closed = self.closed.read().await;
        if *closed {
            Err(Error::Closed)
        } else {
            Ok(closed)
        }
    }

    async fn txn(&self, txn: Txn) -> Result<Committed, Error> {
        let _taken = self.open().await?;
        transaction::check(&self.keys, &txn)?;
        let before = self.view.revision();
        let answer = self.members.write(|member| {
            let request = transaction::request(&self.keys, &txn);
            member.client.txn(request)
        });
        let answer = match answer.await {
            Ok(answer) => answer,
            Err(Failure::NoSpace) => return Err(self.out_of_space(&txn, before).await),
            Err(Failure::NoLease) => return Err(Error::NoLease(self.dead_lease(&txn).await?)),
            Err(failure) => return Err(failure.of_txn(&txn)),
        };
        self.refuse(None);
        let revision = transaction::revision(&answer);
        if !answer.succeeded {
            // Who reads again after a conflict should find what it conflicted with. It is no error if that takes long.
            let _ = self.reach.any(revision).await;
            return Err(transaction::conflict(&self.keys, &txn, answer));
        }
        self.transactions.fetch_add(1, Ordering::Relaxed);
        let previous = transaction::previous(&self.keys, answer);
        // A transaction that changed nothing answers with a revision that may be somebody else's.
        let changes = |(write, was): (&Write, &Option<_>)| {
            matches!(write, Write::Put { .. }) || was.is_some()
        };
        let shown = match not_back(before, revision) {
            Err(error) => Err(error),
            Ok(()) if txn.writes.iter().zip(&previous).any(changes) => {
                self.reach.own(revision).await
            }
            Ok(()) => self.reach.any(revision).await,
        };
        match shown {
            Ok(()) => Ok(Committed {
                revision,
                previous,
                batch: 1,
            }),
            Err(error) => Err(Error::Unknown {
                reason: format!("it was committed at revision {revision}, but: {error}").into(),
            }),
        }
    }

    /// etcd does not say which of a transaction's leases it did not find.
    async fn dead_lease(&self, txn: &Txn) -> Result<LeaseId, Error> {
        let mut last = 0;
        for write in &txn.writes {
            if let Write::Put { lease, .. } = write
                && *lease != 0
            {
                last = *lease;
                if self.lease_ttl(last).await?.is_none() {
                    break;
                }
            }
        }
        Ok(last)
    }

    /// etcd checks its quota twice, and the second time, at the transaction that crosses it, refuses *after* it has
    /// applied (`quotaApplierV3`). So look whether the keys changed before saying that nothing did.
    async fn out_of_space(&self, txn: &Txn, before: Revision) -> Error {
        let Error::ReadOnly { reason } = no_space() else {
            return no_space();
        };
        self.refuse(Some(reason));
        let unchanged = match self.barrier.pass().await {
            Ok(_) => txn.writes.iter().all(|it| self.unchanged(it, before)),
            Err(_) => false,
        };
        if unchanged {
            return no_space();
        }
        Error::Unknown {
            reason: "etcd ran out of space (alarm NOSPACE) with this write".into(),
        }
    }

    fn unchanged(&self, write: &Write, since: Revision) -> bool {
        let Ok(mut watch) = self.view.watch(write.key(), since) else {
            return false;
        };
        while let Some(changes) = watch.try_next() {
            match changes {
                Ok(changes) if changes.iter().all(|it| it.key != *write.key()) => {}
                _ => return false,
            }
        }
        true
    }

    fn refuse(&self, reason: Option<Arc<str>>) {
        *self.refusing.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    async fn lease_ttl(&self, lease: LeaseId) -> Result<Option<Duration>, Error> {
        let request = LeaseTimeToLiveRequest {
            id: lease_id(lease),
        };
        let answer = self
            .members
            .read(|member| member.client.lease_time_to_live(request));
        let answer = answer.await.map_err(Failure::of_read)?;
        // Gone meanwhile: etcd says -1.
        Ok((answer.ttl >= 0).then(|| seconds(answer.granted_ttl)))
    }

    async fn compact_to(&self, revision: Revision) -> Result<(), Error> {
        let _taken = self.open().await?;
        let request = CompactionRequest {
            revision: raw(revision),
            // Answered when the space is free, not only promised.
            physical: true,
        };
        let answer = self
            .members
            .write_within(COMPACTION, |member| member.client.compact(request));
        match answer.await {
            // Somebody else compacted as far or further: it is as asked.
            Ok(_) | Err(Failure::Compacted) => {}
            Err(Failure::FutureRevision) => {
                return Err(Error::FutureRevision {
                    requested: revision,
                    current: self.view.revision(),
                });
            }
            Err(failure) => return Err(failure.of_lease(0)),
        }
        self.view.compact(revision);
        Ok(())
    }
}

fn seconds(raw: i64) -> Duration {
    Duration::from_secs(u64::try_from(raw).unwrap_or(0))
}

impl Backend for Etcd {
    fn commit(&self, txn: Txn) -> BoxFuture<'_, Result<Committed, Error>> {
        Box::pin(self.txn(txn))
    }

    fn barrier(&self) -> Option<BoxFuture<'_, Result<Revision, Error>>> {
        Some(Box::pin(self.barrier.pass()))
    }

    fn grant(&self, ttl: Duration) -> BoxFuture<'_, Result<LeaseId, Error>> {
        Box::pin(async move {
            let _taken = self.open().await?;
            // etcd counts whole seconds; a lease may end late, never early.
            let seconds = ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0);
            let ttl = i64::try_from(seconds.max(1)).unwrap_or(i64::MAX);
            let request = LeaseGrantRequest { ttl, id: 0 };
            let answer = self
                .members
                .write(|member| member.client.lease_grant(request));
            let answer = answer.await.map_err(|failure| failure.of_lease(0))?;
            Ok(answer.id.cast_unsigned())
        })
    }

    fn keep_alive(&self, lease: LeaseId) -> BoxFuture<'_, Result<Duration, Error>> {
        Box::pin(async move {
            let _taken = self.open().await?;
            let request = LeaseKeepAliveRequest {
                id: lease_id(lease),
            };
            // Doing it twice does no harm: a lost answer may be asked for again.
            let answer = self
                .members
                .read(|member| member.client.lease_keep_alive(request));
            match answer.await {
                Ok(answer) if answer.ttl > 0 => Ok(seconds(answer.ttl)),
                Ok(_) => Err(Error::NoLease(lease)),
                Err(Failure::Lost(reason)) => Err(Error::Unavailable { reason }),
                Err(failure) => Err(failure.of_lease(lease)),
            }
        })
    }

    fn revoke(&self, lease: LeaseId) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let _taken = self.open().await?;
            let request = LeaseRevokeRequest {
                id: lease_id(lease),
            };
            let answer = self
                .members
                .write(|member| member.client.lease_revoke(request));
            let answer = answer.await.map_err(|failure| failure.of_lease(lease))?;
            let shown = self.reach.any(at(answer.header.as_ref())).await;
            shown.map_err(|error| Error::Unknown {
                reason: format!("the lease was revoked, but: {error}").into(),
            })
        })
    }

    fn compact(&self, revision: Revision) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.compact_to(revision))
    }

    fn leases(&self) -> BoxFuture<'_, Result<Vec<(LeaseId, Duration)>, Error>> {
        Box::pin(async move {
            let answer = self.members.read(|member| member.client.lease_leases());
            let answer = answer.await.map_err(Failure::of_read)?;
            let mut leases = Vec::with_capacity(answer.leases.len());
            for status in answer.leases {
                let lease = status.id.cast_unsigned();
                if let Some(ttl) = self.lease_ttl(lease).await? {
                    leases.push((lease, ttl));
                }
            }
            leases.sort_unstable();
            Ok(leases)
        })
    }

    fn stats(&self) -> BackendStats {
        let transactions = self.transactions.load(Ordering::Relaxed);
        let refusing = self.refusing.lock();
        let refusing = refusing.unwrap_or_else(PoisonError::into_inner).clone();
        BackendStats {
            kind: "etcd",
            batches: transactions,
            transactions,
            disk_bytes: self.size.bytes(),
            refusing: refusing
                .or_else(|| self.barrier.trouble())
                .or_else(|| self.reach.lasting_trouble()),
            ..BackendStats::default()
        }
    }

    fn close(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            *self.closed.write().await = true;
            self.tasks.iter().for_each(AbortHandle::abort);
            Ok(())
        })
    }
}

impl Drop for Etcd {
    /// The last handle is gone: nothing feeds the view any more, and whoever still watches should know.
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.view.close();
    }
}
