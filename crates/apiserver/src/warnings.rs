//! What is said to a client beside its answer, whether that is what it asked for or a refusal.

use std::sync::{Mutex, PoisonError};

/// In the order they were said. A write that is tried again may repeat itself: each is told once.
#[derive(Debug, Default)]
pub struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    pub(crate) fn add(&self, some: impl IntoIterator<Item = String>) {
        self.all().extend(some);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.all())
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
