//! What the embedded store asks of a disk: append a batch and make it durable, give everything back on open, and from
//! time to time replace old batches by an image of the state.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::{Entry, Error, LeaseId, Revision, Snapshot};

/// One durable fact. A batch is a list of them, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Put(Arc<Entry>),
    Delete {
        key: Bytes,
        revision: Revision,
    },
    Grant {
        lease: LeaseId,
        ttl: Duration,
    },
    Revoke {
        lease: LeaseId,
    },
    /// The past up to here is gone.
    Compact {
        revision: Revision,
    },
}

/// Why a batch was not made durable, and what is known of it.
#[derive(Clone, Debug)]
pub enum AppendError {
    /// Nothing was written: the batch will not be there after a restart.
    Refused { reason: Arc<str> },
    /// Some of it may have been written: whether it is there after a restart is open until the next successful append.
    Unknown { reason: Arc<str> },
}

/// Everything at one revision, with the leases alive.
#[derive(Debug)]
pub struct Image {
    pub snapshot: Snapshot,
    pub leases: Vec<(LeaseId, Duration)>,
    pub next_lease: LeaseId,
}

/// Makes the image on the thread that writes it.
pub type MakeImage = Box<dyn FnOnce() -> Result<Image, Error> + Send>;

/// What an engine gives back when it is opened.
#[derive(Debug, Default)]
pub struct Recovered {
    /// In strictly ascending key order.
    pub entries: Vec<Arc<Entry>>,
    pub revision: Revision,
    pub leases: Vec<(LeaseId, Duration)>,
    pub next_lease: LeaseId,
    /// What happened after `revision`, in order.
    pub tail: Vec<Record>,
}

/// Used by one thread, the writer. An engine never retries a failed sync as if it had succeeded.
pub trait Engine: Send + std::fmt::Debug + 'static {
    /// Returns when the whole batch is on disk. `last` is the newest revision in it or before it.
    fn append(&mut self, batch: &[Record], last: Revision) -> Result<(), AppendError>;

    /// Why there was no room for a batch, as long as there is none for another like it. Smaller ones may fit.
    fn refusing(&self) -> Option<Arc<str>> {
        None
    }

    /// Tries to make room for the batch that was refused, without one.
    fn recover(&mut self) {}

    /// Nothing more waits: a moment for bookkeeping that needs no sync.
    fn idle(&mut self) {}

    /// Whether enough old log would be freed by an image at `floor`.
    fn wants_image(&self, _floor: Revision) -> bool {
        false
    }

    /// Starts to replace batches up to the image's revision, in the background.
    fn start_image(&mut self, _make: MakeImage) {}

    fn stats(&self) -> EngineStats;

    fn close(&mut self) -> Result<(), Error>;
}

#[derive(Clone, Debug, Default)]
pub struct EngineStats {
    pub kind: &'static str,
    pub disk_bytes: Option<u64>,
    pub log_bytes: Option<u64>,
    pub checkpoints: u64,
    pub checkpoint_error: Option<Arc<str>>,
}

/// Keeps nothing: for tests and throw-away servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

impl Engine for Memory {
    fn append(&mut self, _batch: &[Record], _last: Revision) -> Result<(), AppendError> {
        Ok(())
    }

    fn stats(&self) -> EngineStats {
        EngineStats {
            kind: "memory",
            ..EngineStats::default()
        }
    }

    fn close(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
