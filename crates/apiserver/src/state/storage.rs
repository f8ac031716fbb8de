//! Access to the store: snapshots, transactions and the leases of objects that expire.

use std::time::{Duration, Instant};

use meta::Status;
use store::{Committed, LeaseId, Revision, Snapshot, Txn};

use super::failure;
use crate::catalog::Resource;
use crate::instruments::row::Operation;
use crate::state::Api;

/// Events of at most so much time share a lease, so that not each of them costs one.
const SHARED: Duration = Duration::from_secs(60);

impl Api {
    /// As new as the newest acknowledged write.
    pub async fn fresh_snapshot(&self) -> Result<Snapshot, Status> {
        let found = self.store.snapshot().await;
        found.map_err(|error| failure::of_store(&error))
    }

    /// At least as new as this revision.
    pub async fn not_older(&self, revision: Revision) -> Result<Snapshot, Status> {
        let latest = self.store.latest();
        if latest.revision() >= revision {
            return Ok(latest);
        }
        let latest = self.fresh_snapshot().await?;
        if latest.revision() >= revision {
            return Ok(latest);
        }
        Err(failure::too_large(revision, latest.revision()))
    }

    /// Has the store make a change to an object, and counts it.
    pub(crate) async fn commit(
        &self,
        operation: Operation,
        resource: &Resource,
        txn: Txn,
    ) -> Result<Committed, store::Error> {
        let counted = self.metrics.storage.begin(operation, resource);
        let done = self.store.txn(txn).await;
        counted.end(&done, &self.store);
        done
    }

    /// The lease that a new object of this kind lives by; zero for none.
    pub async fn lease(&self, resource: &Resource) -> Result<LeaseId, Status> {
        if !resource.strategy.expires {
            return Ok(0);
        }
        let live = self.settings.event_ttl;
        // As upstream: what sharing adds to a life is at most a twentieth of it.
        let while_shared = SHARED.min(live / 20);
        let mut shared = self.event_lease.lock().await;
        if let Some((lease, since)) = *shared
            && since.elapsed() < while_shared
        {
            return Ok(lease);
        }
        let granted = self.store.grant(live + while_shared).await;
        let lease = granted.map_err(|error| failure::of_store(&error))?;
        *shared = Some((lease, Instant::now()));
        Ok(lease)
    }
}
