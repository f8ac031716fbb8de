//! What gathers beside the answer to a request, whether that is what it asked for or a refusal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What is said to the client, in the order it was said: a write that is tried again may repeat itself, each is told
/// once. And how long others were waited for.
#[derive(Debug, Default)]
pub struct Warnings {
    said: Mutex<Said>,
    waited: AtomicU64,
}

#[derive(Debug, Default)]
struct Said {
    list: Vec<String>,
    bytes: usize,
}

/// Only some kilobytes of warnings fit into the headers of a response: after this many bytes no more are kept.
const MAX_BYTES: usize = 1 << 16;

impl Warnings {
    pub(crate) fn add(&self, some: impl IntoIterator<Item = String>) {
        let mut said = self.all();
        for warning in some {
            if said.bytes >= MAX_BYTES {
                return;
            }
            said.bytes += warning.len();
            said.list.push(warning);
        }
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.all()).list
    }

    /// Webhooks took so long.
    pub(crate) fn add_wait(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(took, Ordering::Relaxed);
    }

    /// In nanoseconds.
    pub(crate) fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
