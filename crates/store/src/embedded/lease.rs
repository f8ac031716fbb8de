//! Leases alive: when each ends and which keys it holds. Deadlines live in memory and start anew on open.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::{Entry, Event, LeaseId};

#[derive(Debug)]
pub(super) struct Leases {
    alive: HashMap<LeaseId, Lease>,
    deadlines: BTreeSet<(Instant, LeaseId)>,
    /// Keys of leases, also of those whose grant is still to come in a replay.
    keys: BTreeMap<LeaseId, HashSet<Bytes>>,
    next: LeaseId,
}

#[derive(Debug)]
struct Lease {
    ttl: Duration,
    deadline: Instant,
}

/// What a batch does to leases once it is durable.
#[derive(Debug)]
pub(super) enum LeaseChange {
    Grant(LeaseId, Duration),
    KeepAlive(LeaseId),
    Revoke(LeaseId),
}

impl Leases {
    pub(super) fn new(
        leases: Vec<(LeaseId, Duration)>,
        next: LeaseId,
        entries: &[Arc<Entry>],
    ) -> Self {
        let mut all = Self {
            alive: HashMap::new(),
            deadlines: BTreeSet::new(),
            keys: BTreeMap::new(),
            next: next.max(1),
        };
        for (lease, ttl) in leases {
            all.grant(lease, ttl);
        }
        for entry in entries.iter().filter(|entry| entry.lease != 0) {
            all.keys
                .entry(entry.lease)
                .or_default()
                .insert(entry.key.clone());
        }
        all
    }

    pub(super) fn len(&self) -> usize {
        self.alive.len()
    }

    pub(super) fn next_id(&self) -> LeaseId {
        self.next
    }

    pub(super) fn ttl(&self, lease: LeaseId) -> Option<Duration> {
        self.alive.get(&lease).map(|lease| lease.ttl)
    }

    pub(super) fn keys(&self, lease: LeaseId) -> impl Iterator<Item = &Bytes> {
        self.keys.get(&lease).into_iter().flatten()
    }

    pub(super) fn all(&self) -> (Vec<(LeaseId, Duration)>, LeaseId) {
        (
            self.alive
                .iter()
                .map(|(id, lease)| (*id, lease.ttl))
                .collect(),
            self.next,
        )
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    pub(super) fn expired(&self, now: Instant) -> Vec<LeaseId> {
        self.deadlines
            .iter()
            .take_while(|(deadline, _)| *deadline <= now)
            .map(|(_, lease)| *lease)
            .collect()
    }

    /// The batch that should have ended them failed: a second later, not in a busy loop.
    pub(super) fn retry_expired(&mut self) {
        let now = Instant::now();
        for lease in self.expired(now) {
            self.set_deadline(lease, now + Duration::from_secs(1));
        }
    }

    pub(super) fn grant(&mut self, lease: LeaseId, ttl: Duration) {
        self.next = self.next.max(lease + 1);
        self.alive
            .entry(lease)
            .or_insert(Lease {
                ttl,
                deadline: Instant::now(),
            })
            .ttl = ttl;
        self.set_deadline(lease, Instant::now() + ttl);
    }

    pub(super) fn revoke(&mut self, lease: LeaseId) {
        if let Some(gone) = self.alive.remove(&lease) {
            self.deadlines.remove(&(gone.deadline, lease));
        }
        self.keys.remove(&lease);
    }

    pub(super) fn apply(&mut self, changes: &[LeaseChange], events: &[Arc<Event>]) {
        self.follow(events);
        for change in changes {
            match *change {
                LeaseChange::Grant(lease, ttl) => self.grant(lease, ttl),
                LeaseChange::KeepAlive(lease) => {
                    if let Some(ttl) = self.ttl(lease) {
                        self.set_deadline(lease, Instant::now() + ttl);
                    }
                }
                LeaseChange::Revoke(lease) => self.revoke(lease),
            }
        }
    }

    /// Keys move with the lease of their latest value.
    pub(super) fn follow(&mut self, events: &[Arc<Event>]) {
        for event in events {
            let before = event.previous.as_ref().map_or(0, |entry| entry.lease);
            let after = event.current.as_ref().map_or(0, |entry| entry.lease);
            if before != 0
                && before != after
                && let Some(keys) = self.keys.get_mut(&before)
            {
                keys.remove(&event.key);
                if keys.is_empty() {
                    self.keys.remove(&before);
                }
            }
            if after != 0 {
                self.keys
                    .entry(after)
                    .or_default()
                    .insert(event.key.clone());
            }
        }
    }

    fn set_deadline(&mut self, id: LeaseId, deadline: Instant) {
        if let Some(lease) = self.alive.get_mut(&id) {
            self.deadlines.remove(&(lease.deadline, id));
            lease.deadline = deadline;
            self.deadlines.insert((deadline, id));
        }
    }
}
