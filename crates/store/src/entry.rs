//! The words of the contract: entries, events, transactions.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// Position in the one global order of changes. Only grows; 0 is the empty store.
pub type Revision = u64;

/// Names a lease. 0 means "no lease".
pub type LeaseId = u64;

/// The latest value of a key, shared by every reader.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: Bytes,
    pub value: Bytes,
    /// Revision that created this life of the key.
    pub created: Revision,
    /// Revision that wrote this value.
    pub modified: Revision,
    pub lease: LeaseId,
}

impl Entry {
    /// Bytes of user data this entry keeps alive.
    pub fn size(&self) -> usize {
        self.key.len() + self.value.len()
    }
}

/// Values may hold secrets: only their length is ever printed.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Entry({:?} created {} modified {} lease {}, {} bytes)",
            self.key,
            self.created,
            self.modified,
            self.lease,
            self.value.len()
        )
    }
}

/// One change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub revision: Revision,
    pub key: Bytes,
    /// What the key holds now; `None` after a delete.
    pub current: Option<Arc<Entry>>,
    /// What the key held before; `None` for a create.
    pub previous: Option<Arc<Entry>>,
}

impl Event {
    /// What this event alone weighs in a bounded buffer: bookkeeping plus the values it may be the last to hold.
    pub(crate) fn weight(&self) -> usize {
        const BOOKKEEPING: usize = 256;
        let size = |entry: &Option<Arc<Entry>>| entry.as_ref().map_or(0, |entry| entry.size());
        // The current value is the next event's previous one or still in the map: it is counted once, as a previous.
        BOOKKEEPING + self.key.len() + size(&self.previous)
    }
}

/// What must be true of a key for a transaction to commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Absent(Bytes),
    Exists(Bytes),
    /// The key exists and was last written at exactly this revision.
    Unchanged(Bytes, Revision),
}

impl Condition {
    pub fn key(&self) -> &Bytes {
        match self {
            Self::Absent(key) | Self::Exists(key) | Self::Unchanged(key, _) => key,
        }
    }

    pub fn holds(&self, current: Option<&Entry>) -> bool {
        match self {
            Self::Absent(_) => current.is_none(),
            Self::Exists(_) => current.is_some(),
            Self::Unchanged(_, revision) => {
                current.is_some_and(|entry| entry.modified == *revision)
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub enum Write {
    Put {
        key: Bytes,
        value: Bytes,
        lease: LeaseId,
    },
    /// Deleting what is not there changes nothing and takes no revision.
    Delete { key: Bytes },
}

impl Write {
    pub fn key(&self) -> &Bytes {
        match self {
            Self::Put { key, .. } | Self::Delete { key } => key,
        }
    }
}

impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put { key, value, lease } => {
                write!(f, "Put({key:?} lease {lease}, {} bytes)", value.len())
            }
            Self::Delete { key } => write!(f, "Delete({key:?})"),
        }
    }
}

/// All conditions hold and all writes happen at one revision, or nothing does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Txn {
    pub conditions: Vec<Condition>,
    pub writes: Vec<Write>,
}

impl Txn {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    #[must_use]
    pub fn put(mut self, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        self.writes.push(Write::Put {
            key: key.into(),
            value: value.into(),
            lease: 0,
        });
        self
    }

    #[must_use]
    pub fn put_leased(
        mut self,
        key: impl Into<Bytes>,
        value: impl Into<Bytes>,
        lease: LeaseId,
    ) -> Self {
        self.writes.push(Write::Put {
            key: key.into(),
            value: value.into(),
            lease,
        });
        self
    }

    #[must_use]
    pub fn delete(mut self, key: impl Into<Bytes>) -> Self {
        self.writes.push(Write::Delete { key: key.into() });
        self
    }

    /// Bytes of keys and values, as the request limit counts them.
    pub fn size(&self) -> usize {
        let conditions: usize = self
            .conditions
            .iter()
            .map(|condition| condition.key().len())
            .sum();
        let writes: usize = self
            .writes
            .iter()
            .map(|write| match write {
                Write::Put { key, value, .. } => key.len() + value.len(),
                Write::Delete { key } => key.len(),
            })
            .sum();
        conditions + writes
    }
}

/// What a committed transaction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Revision of the transaction; the store's current one if it changed nothing.
    pub revision: Revision,
    /// For each write, in order, what its key held before.
    pub previous: Vec<Option<Arc<Entry>>>,
    /// How many requests became durable at once, this one among them.
    pub batch: usize,
}
