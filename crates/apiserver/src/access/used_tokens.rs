//! Secrets whose tokens were used and do not say so yet (KEP-2799). Authentication does not wait for the label: a loop takes
//! them from here and labels them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// Others are recorded when they are used again.
const WAITING: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsedToken {
    pub namespace: String,
    pub secret: String,
    pub uid: String,
}

#[derive(Debug, Default)]
pub struct UsedTokens {
    waiting: Mutex<BTreeSet<UsedToken>>,
    changed: Notify,
}

impl UsedTokens {
    pub(crate) fn add(&self, used: UsedToken) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < WAITING && waiting.insert(used) {
            self.changed.notify_one();
        }
    }

    fn taken(&self) -> BTreeSet<UsedToken> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut waiting)
    }

    /// Waits for some.
    pub async fn take(&self) -> BTreeSet<UsedToken> {
        loop {
            let all = self.taken();
            if !all.is_empty() {
                return all;
            }
            self.changed.notified().await;
        }
    }
}
