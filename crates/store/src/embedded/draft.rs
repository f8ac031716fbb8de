//! A batch in the making: what the waiting requests lead to, before any of it is durable.

use std::sync::Arc;
use std::time::Duration;

use super::lease::{LeaseChange, Leases};
use super::queue::Reply;
use crate::engine::Record;
use crate::{Committed, Draft, Entry, Error, LeaseId, Revision, Txn, View, Write};

/// The shortest lease: below it a slow disk would end leases before they are answered.
const MIN_TTL: Duration = Duration::from_secs(1);
/// The longest: a hundred years is for ever, and deadlines stay within the clock's range.
const MAX_TTL: Duration = Duration::from_secs(100 * 365 * 86400);

#[derive(Debug)]
pub(super) struct Batch<'a> {
    leases: &'a Leases,
    next_lease: LeaseId,
    done: Done,
}

/// All that is needed to finish a batch.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) draft: Draft,
    pub(super) records: Vec<Record>,
    pub(super) leases: Vec<LeaseChange>,
    pub(super) compact: Option<Revision>,
    pub(super) answers: Vec<Answer>,
}

/// An answer held back until the batch is durable: it may speak of the batch's own writes.
#[derive(Debug)]
pub(super) enum Answer {
    Commit(Reply<Committed>, Result<Committed, Error>),
    Grant(Reply<LeaseId>, LeaseId),
    KeepAlive(Reply<Duration>, Result<Duration, Error>),
    Unit(Reply<()>, Result<(), Error>),
    Leases(Reply<Vec<(LeaseId, Duration)>>, Vec<(LeaseId, Duration)>),
}

impl Answer {
    pub(super) fn send(self) {
        // The caller may be gone: then the answer is dropped.
        let _gone = match self {
            Self::Commit(reply, answer) => reply.send(answer).is_err(),
            Self::Grant(reply, lease) => reply.send(Ok(lease)).is_err(),
            Self::KeepAlive(reply, answer) => reply.send(answer).is_err(),
            Self::Unit(reply, answer) => reply.send(answer).is_err(),
            Self::Leases(reply, leases) => reply.send(Ok(leases)).is_err(),
        };
    }

    pub(super) fn fail(self, error: &Error) {
        match self {
            Self::Commit(reply, _) => Self::Commit(reply, Err(error.clone())).send(),
            Self::KeepAlive(reply, _) => Self::KeepAlive(reply, Err(error.clone())).send(),
            Self::Unit(reply, _) => Self::Unit(reply, Err(error.clone())).send(),
            Self::Grant(reply, _) => {
                let _gone = reply.send(Err(error.clone())).is_err();
            }
            // As they were before the batch that failed.
            leases @ Self::Leases(..) => leases.send(),
        }
    }
}

impl<'a> Batch<'a> {
    pub(super) fn new(view: &View, leases: &'a Leases) -> Self {
        let done = Done {
            draft: view.draft(),
            records: Vec::new(),
            leases: Vec::new(),
            compact: None,
            answers: Vec::new(),
        };
        Self {
            leases,
            next_lease: leases.next_id(),
            done,
        }
    }

    pub(super) fn done(self) -> Done {
        self.done
    }

    pub(super) fn commit(&mut self, txn: Txn, reply: Reply<Committed>) {
        let answer = self.try_commit(txn);
        self.done.answers.push(Answer::Commit(reply, answer));
    }

    fn try_commit(&mut self, txn: Txn) -> Result<Committed, Error> {
        for condition in &txn.conditions {
            let current = self.done.draft.get(condition.key());
            if !condition.holds(current.map(|entry| &**entry)) {
                return Err(Error::Conflict {
                    key: condition.key().clone(),
                    current: current.cloned(),
                });
            }
        }
        for write in &txn.writes {
            if let Write::Put { lease, .. } = write
                && *lease != 0
                && self.ttl(*lease).is_none()
            {
                return Err(Error::NoLease(*lease));
            }
        }
        let revision = self.done.draft.revision() + 1;
        let previous = txn
            .writes
            .into_iter()
            .map(|write| self.write(write, revision))
            .collect();
        Ok(Committed {
            revision: self.done.draft.revision(),
            previous,
            // Not known before the batch is whole.
            batch: 0,
        })
    }

    fn write(&mut self, write: Write, revision: Revision) -> Option<Arc<Entry>> {
        match write {
            Write::Put { key, value, lease } => {
                let (entry, previous) = self.done.draft.write(key, value, lease, revision);
                self.done.records.push(Record::Put(entry));
                previous
            }
            Write::Delete { key } => {
                let previous = self.done.draft.delete(&key, revision)?;
                self.done.records.push(Record::Delete { key, revision });
                Some(previous)
            }
        }
    }

    pub(super) fn grant(&mut self, ttl: Duration, reply: Reply<LeaseId>) {
        let (lease, ttl) = (self.next_lease, ttl.clamp(MIN_TTL, MAX_TTL));
        self.next_lease += 1;
        self.done.records.push(Record::Grant { lease, ttl });
        self.done.leases.push(LeaseChange::Grant(lease, ttl));
        self.done.answers.push(Answer::Grant(reply, lease));
    }

    pub(super) fn keep_alive(&mut self, lease: LeaseId, reply: Reply<Duration>) {
        let answer = self.ttl(lease).ok_or(Error::NoLease(lease));
        if answer.is_ok() {
            self.done.leases.push(LeaseChange::KeepAlive(lease));
        }
        self.done.answers.push(Answer::KeepAlive(reply, answer));
    }

    pub(super) fn revoke_asked(&mut self, lease: LeaseId, reply: Reply<()>) {
        let answer = self
            .ttl(lease)
            .map(|_| self.revoke(lease))
            .ok_or(Error::NoLease(lease));
        self.done.answers.push(Answer::Unit(reply, answer));
    }

    /// Ends the lease and deletes the keys it still holds.
    pub(super) fn revoke(&mut self, lease: LeaseId) {
        let revision = self.done.draft.revision() + 1;
        let mut keys: Vec<_> = self.leases.keys(lease).cloned().collect();
        keys.extend(
            self.done
                .draft
                .events()
                .iter()
                .map(|event| event.key.clone()),
        );
        keys.sort_unstable();
        keys.dedup();
        keys.retain(|key| {
            self.done
                .draft
                .get(key)
                .is_some_and(|entry| entry.lease == lease)
        });
        for key in keys {
            self.write(Write::Delete { key }, revision);
        }
        self.done.records.push(Record::Revoke { lease });
        self.done.leases.push(LeaseChange::Revoke(lease));
    }

    pub(super) fn leases(&mut self, reply: Reply<Vec<(LeaseId, Duration)>>) {
        self.done
            .answers
            .push(Answer::Leases(reply, self.leases.all().0));
    }

    pub(super) fn compact(&mut self, revision: Revision, reply: Reply<()>) {
        self.done.records.push(Record::Compact { revision });
        self.done.compact = self.done.compact.max(Some(revision));
        self.done.answers.push(Answer::Unit(reply, Ok(())));
    }

    /// The lease's time to live if it is alive after what this batch has done so far.
    fn ttl(&self, lease: LeaseId) -> Option<Duration> {
        let changed = self
            .done
            .leases
            .iter()
            .rev()
            .find_map(|change| match change {
                LeaseChange::Grant(id, ttl) if *id == lease => Some(Some(*ttl)),
                LeaseChange::Revoke(id) if *id == lease => Some(None),
                _ => None,
            });
        changed.unwrap_or_else(|| self.leases.ttl(lease))
    }
}
