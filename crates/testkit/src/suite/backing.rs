//! The backings in this process.

use std::future::{Future, ready};

use store::{Options, Store, embedded};
use tempfile::TempDir;

use super::Backing;

/// Nothing survives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

impl Backing for Memory {
    fn open(&self, options: &Options) -> impl Future<Output = Store> + Send {
        ready(embedded::in_memory(options))
    }

    async fn reopen(&self, store: Store, _options: &Options) -> Option<Store> {
        store.close().await.expect("the store closes");
        None
    }
}

/// The log on disk, in a directory that goes with this value.
#[derive(Debug)]
pub struct Embedded {
    directory: TempDir,
}

impl Embedded {
    pub fn new() -> Self {
        Self {
            directory: TempDir::new().expect("a directory for the test"),
        }
    }

    fn start(&self, options: &Options) -> Store {
        embedded::open(self.directory.path(), options).expect("the store opens")
    }
}

impl Default for Embedded {
    fn default() -> Self {
        Self::new()
    }
}

impl Backing for Embedded {
    fn open(&self, options: &Options) -> impl Future<Output = Store> + Send {
        ready(self.start(options))
    }

    async fn reopen(&self, store: Store, options: &Options) -> Option<Store> {
        store.close().await.expect("the store closes");
        // The lock on the directory goes with the last handle.
        drop(store);
        Some(self.start(options))
    }
}
