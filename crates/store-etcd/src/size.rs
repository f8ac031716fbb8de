//! How much etcd takes on disk, asked for from time to time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::members::Members;

/// As often as kube-apiserver asks.
const PERIOD: Duration = Duration::from_secs(30);

/// What a member said last; zero before any has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Size(Arc<AtomicU64>);

impl Size {
    pub(crate) fn bytes(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|it| *it > 0)
    }

    /// Goes on until it is dropped.
    pub(crate) async fn follow(self, members: Arc<Members>) {
        loop {
            // Who may not ask does without.
            if let Ok(status) = members.read(|member| member.client.status()).await {
                let bytes = u64::try_from(status.db_size).unwrap_or(0);
                self.0.store(bytes, Ordering::Relaxed);
            }
            tokio::time::sleep(PERIOD).await;
        }
    }
}
