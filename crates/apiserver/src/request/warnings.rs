//! Warnings, and the time that webhooks took: collected while a request is served, whatever becomes of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What is said to the client, in the order it was said: a write that is tried again may repeat itself, each is told
/// once. And how long others were waited for.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    said: Mutex<Said>,
    /// What admission says to the audit log, by key.
    annotations: Mutex<BTreeMap<String, String>>,
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

    /// A key keeps its first value, as upstream: a write that is tried again repeats itself.
    pub(crate) fn annotate(&self, some: Vec<(String, String)>) {
        if some.is_empty() {
            return;
        }
        let mut all = self
            .annotations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (key, value) in some {
            all.entry(key).or_insert(value);
        }
    }

    /// The annotations of the request's audit event, once.
    pub(crate) fn take_annotations(&self) -> BTreeMap<String, String> {
        let all = self.annotations.lock();
        std::mem::take(&mut *all.unwrap_or_else(PoisonError::into_inner))
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
