//! Requests on their way to the writer: bounded, taken all at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::{Committed, Error, LeaseId, Revision, Txn};

/// Kibibytes of requests that may wait; further requests wait for room, in order.
const ROOM: u32 = 64 << 10;
/// Kibibytes one batch takes: the size of one write to the log.
const BATCH: u32 = 4 << 10;

pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

#[derive(Debug)]
pub(super) enum Request {
    Commit {
        txn: Txn,
        reply: Reply<Committed>,
    },
    Grant {
        ttl: Duration,
        reply: Reply<LeaseId>,
    },
    KeepAlive {
        lease: LeaseId,
        reply: Reply<Duration>,
    },
    Revoke {
        lease: LeaseId,
        reply: Reply<()>,
    },
    Compact {
        revision: Revision,
        reply: Reply<()>,
    },
    Leases {
        reply: Reply<Vec<(LeaseId, Duration)>>,
    },
    Close {
        reply: Reply<()>,
    },
}

impl Request {
    /// Answers the caller that the store is closed and nothing was done. The caller may be gone.
    fn refuse(self) {
        let _gone = match self {
            Self::Commit { reply, .. } => reply.send(Err(Error::Closed)).is_err(),
            Self::Grant { reply, .. } => reply.send(Err(Error::Closed)).is_err(),
            Self::KeepAlive { reply, .. } => reply.send(Err(Error::Closed)).is_err(),
            Self::Leases { reply } => reply.send(Err(Error::Closed)).is_err(),
            Self::Revoke { reply, .. } | Self::Compact { reply, .. } | Self::Close { reply } => {
                reply.send(Err(Error::Closed)).is_err()
            }
        };
    }
}

#[derive(Debug)]
pub(super) struct Queue {
    room: std::sync::Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    requests: std::collections::VecDeque<(Request, OwnedSemaphorePermit)>,
    closed: bool,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            room: std::sync::Arc::new(Semaphore::new(ROOM as usize)),
            waiting: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    pub(super) async fn push(&self, request: Request) -> Result<(), Error> {
        let size = match &request {
            Request::Commit { txn, .. } => {
                u32::try_from(txn.size() >> 10)
                    .unwrap_or(ROOM)
                    .min(ROOM - 1)
                    + 1
            }
            _ => 1,
        };
        let permit = self
            .room
            .clone()
            .acquire_many_owned(size)
            .await
            .map_err(|_| Error::Closed)?;
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(Error::Closed);
        }
        waiting.requests.push_back((request, permit));
        drop(waiting);
        self.wake.notify_one();
        Ok(())
    }

    /// All that waits, up to a batch. Empty when the deadline passes first, `None` when closed and drained.
    pub(super) fn take(&self, deadline: Option<Instant>) -> Option<Vec<Request>> {
        let mut waiting = self.waiting();
        while waiting.requests.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = match deadline.map(|at| at.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return Some(Vec::new()),
                Some(left) => {
                    self.wake
                        .wait_timeout(waiting, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
                None => self
                    .wake
                    .wait(waiting)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
        let mut size = 0;
        let mut batch = Vec::with_capacity(waiting.requests.len());
        while let Some((request, permit)) = waiting.requests.pop_front() {
            size += permit.num_permits();
            batch.push(request);
            if size >= BATCH as usize {
                break;
            }
        }
        Some(batch)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting().requests.is_empty()
    }

    pub(super) fn close(&self) {
        self.waiting().closed = true;
        self.room.close();
        self.wake.notify_one();
    }

    /// Drops waiting requests when the writer ends: their callers get the error that the store is closed.
    pub(super) fn abandon(&self) {
        self.close();
        let waiting = std::mem::take(&mut self.waiting().requests);
        for (request, _) in waiting {
            request.refuse();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
