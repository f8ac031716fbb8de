//! What a store should do, in the plainest way: every state and every change there ever was.

use std::collections::{BTreeMap, BTreeSet};

/// A revision as the reference counts them.
pub(super) type Turn = usize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) value: Vec<u8>,
    pub(super) created: Turn,
    pub(super) modified: Turn,
    /// Slot of the lease.
    pub(super) lease: Option<usize>,
}

pub(super) type State = BTreeMap<Vec<u8>, Item>;

#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) turn: Turn,
    pub(super) key: Vec<u8>,
    pub(super) current: Option<Item>,
    pub(super) previous: Option<Item>,
}

#[derive(Clone, Debug)]
pub(super) enum Condition {
    Absent,
    Exists,
    Unchanged(Option<Turn>),
}

#[derive(Clone, Debug)]
pub(super) enum Write {
    Put(Vec<u8>, Option<usize>),
    Delete,
}

#[derive(Debug)]
pub(super) enum Refusal {
    Duplicate(Vec<u8>),
    /// The keys whose condition failed, any of which may be named.
    Conflict(Vec<Vec<u8>>),
    /// The slots of leases that are not alive.
    NoLease(Vec<usize>),
}

#[derive(Debug)]
pub(super) struct Reference {
    /// The state after each turn; turn 0 is the empty store.
    pub(super) states: Vec<State>,
    pub(super) changes: Vec<Change>,
    pub(super) floor: Turn,
    pub(super) granted: usize,
    pub(super) alive: BTreeSet<usize>,
}

impl Reference {
    pub(super) fn new() -> Self {
        Self {
            states: vec![State::new()],
            changes: Vec::new(),
            floor: 0,
            granted: 0,
            alive: BTreeSet::new(),
        }
    }

    pub(super) fn now(&self) -> Turn {
        self.states.len() - 1
    }

    pub(super) fn state(&self) -> &State {
        &self.states[self.now()]
    }

    /// Returns what each written key held before.
    pub(super) fn txn(
        &mut self,
        conditions: &[(Vec<u8>, Condition)],
        writes: &[(Vec<u8>, Write)],
    ) -> Result<Vec<Option<Item>>, Refusal> {
        for (index, (key, _)) in writes.iter().enumerate() {
            if writes[..index].iter().any(|(other, _)| other == key) {
                return Err(Refusal::Duplicate(key.clone()));
            }
        }
        let failed = conditions.iter().filter(|(key, condition)| {
            let item = self.state().get(key);
            !match condition {
                Condition::Absent => item.is_none(),
                Condition::Exists => item.is_some(),
                Condition::Unchanged(turn) => item.is_some_and(|item| Some(item.modified) == *turn),
            }
        });
        let failed: Vec<_> = failed.map(|(key, _)| key.clone()).collect();
        if !failed.is_empty() {
            return Err(Refusal::Conflict(failed));
        }
        let leases = writes.iter().filter_map(|(_, write)| match write {
            Write::Put(_, lease) => *lease,
            Write::Delete => None,
        });
        let dead: Vec<_> = leases.filter(|slot| !self.alive.contains(slot)).collect();
        if !dead.is_empty() {
            return Err(Refusal::NoLease(dead));
        }
        Ok(self.write(writes))
    }

    fn write(&mut self, writes: &[(Vec<u8>, Write)]) -> Vec<Option<Item>> {
        let turn = self.states.len();
        let mut state = self.state().clone();
        let before = self.changes.len();
        let mut all_previous = Vec::new();
        for (key, write) in writes {
            let previous = state.remove(key);
            let current = match write {
                Write::Put(value, lease) => Some(Item {
                    value: value.clone(),
                    created: previous.as_ref().map_or(turn, |item| item.created),
                    modified: turn,
                    lease: *lease,
                }),
                Write::Delete => None,
            };
            if let Some(item) = &current {
                state.insert(key.clone(), item.clone());
            }
            if current.is_some() || previous.is_some() {
                self.changes.push(Change {
                    turn,
                    key: key.clone(),
                    current,
                    previous: previous.clone(),
                });
            }
            all_previous.push(previous);
        }
        if self.changes.len() > before {
            self.states.push(state);
        }
        all_previous
    }

    pub(super) fn revoke(&mut self, slot: usize) -> bool {
        let known = self.alive.remove(&slot);
        let held = self
            .state()
            .iter()
            .filter(|(_, item)| item.lease == Some(slot));
        let deletes: Vec<_> = held.map(|(key, _)| (key.clone(), Write::Delete)).collect();
        self.write(&deletes);
        known
    }

    /// Changes under `prefix` after `turn`, in the order a sorted watch gives them.
    pub(super) fn since(&self, prefix: &[u8], turn: Turn) -> Vec<Change> {
        let matching = self
            .changes
            .iter()
            .filter(|change| change.turn > turn && change.key.starts_with(prefix));
        let mut changes: Vec<_> = matching.cloned().collect();
        changes.sort_by(|a, b| (a.turn, &a.key).cmp(&(b.turn, &b.key)));
        changes
    }
}
