//! Everything that can go wrong, in the words a user sees.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use crate::{Entry, LeaseId, Revision};

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A condition did not hold. Nothing was changed; `current` is what the key holds.
    #[error("key {key:?} is not as expected: {}", describe(.current.as_deref()))]
    Conflict {
        key: Bytes,
        current: Option<Arc<Entry>>,
    },

    #[error("revision {requested} is compacted at {floor}")]
    Compacted {
        requested: Revision,
        floor: Revision,
    },

    #[error("revision {requested} is in the future, the store is at {current}")]
    FutureRevision {
        requested: Revision,
        current: Revision,
    },

    #[error("a key must not be empty")]
    EmptyKey,

    #[error("key {0:?} is written twice in one transaction")]
    DuplicateKey(Bytes),

    #[error("the request is too large: {size} bytes, the limit is {limit}")]
    TooLarge { size: usize, limit: usize },

    #[error("too many operations in one transaction: {count}, the limit is {limit}")]
    TooManyOperations { count: usize, limit: usize },

    #[error("lease {0} does not exist")]
    NoLease(LeaseId),

    /// Nothing was changed, reads go on.
    #[error("the store refuses writes: {reason}")]
    ReadOnly { reason: Arc<str> },

    /// The write failed in a way that leaves open whether it will be there after a restart.
    #[error("the outcome of the write is unknown: {reason}")]
    Unknown { reason: Arc<str> },

    #[error("the store cannot be reached: {reason}")]
    Unavailable { reason: Arc<str> },

    #[error("{0}")]
    Corrupt(Corruption),

    #[error("data directory {path} is in use by another process{}", .owner.as_ref().map_or_else(String::new, |pid| format!(" (pid {pid})")))]
    InUse { path: String, owner: Option<String> },

    #[error("{doing}: {source}")]
    Io {
        doing: String,
        source: Arc<io::Error>,
    },

    #[error("the store is closed")]
    Closed,
}

impl Error {
    pub fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io {
            doing: doing.into(),
            source: Arc::new(source),
        }
    }
}

fn describe(current: Option<&Entry>) -> String {
    current.map_or_else(
        || "it does not exist".into(),
        |entry| format!("it is at revision {}", entry.modified),
    )
}

/// Damage found on disk: which file, where, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("corrupt data in {file} at byte {offset}: {what}")]
pub struct Corruption {
    pub file: String,
    pub offset: u64,
    pub what: String,
}
