//! Is there an order in which the answers of concurrent clients make sense? If so the store is linearizable.
//!
//! Every write in a history writes a value of its own, so a value names the write it came from, and "unchanged since I
//! read it" is a comparison of values. Thus the search needs no revision; [`History::check_revisions`] looks at them
//! apart. The search is that of Wing and Gong with Lowe's memory of what was tried: an operation may come next if it
//! was invoked before any operation still open returned, and a set of operations done with the state they lead to is
//! never entered twice.

mod clients;
mod revisions;
mod search;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use store::Revision;

pub use self::clients::{Load, record};
use crate::suite::{self, Backing};

/// Records `rounds` short histories on one store and checks each. In every other round clients sometimes go away before
/// the answer.
pub fn check(rounds: u64, backing: &impl Backing) {
    suite::run("linearizable", async {
        let store = backing.open(&suite::options()).await;
        let values = Arc::new(AtomicU32::new(1));
        let mut at_once = 0;
        for seed in 0..rounds {
            let load = Load {
                clients: 6,
                calls: 12,
                seed,
                impatient: seed % 2 == 1,
            };
            let history = record(&store, load, &values).await;
            at_once += history.at_once();
            for outcome in [history.check(), history.check_revisions()] {
                if let Err(violation) = outcome {
                    panic!("{load:?}: {}", violation.why);
                }
            }
        }
        assert!(
            at_once > 0,
            "no two calls were under way at once: nothing was tested"
        );
    });
}

/// Keys of the small map that a history is about.
pub const KEYS: usize = 4;

/// What each key holds: the number of the write that wrote it, 0 for nothing.
pub type State = [u32; KEYS];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Several keys at one moment.
    Read(Vec<usize>),
    Write {
        conditions: Vec<Condition>,
        /// Key and value; 0 deletes.
        writes: Vec<(usize, u32)>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Absent(usize),
    Exists(usize),
    /// Still holds this value.
    Is(usize, u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What each key that was read held.
    Values(Vec<u32>),
    /// What each key that was written held before, where the answer says so.
    Committed(Option<Vec<u32>>),
    /// What a key held whose condition failed.
    Conflict(usize, u32),
    /// Nobody knows: it may have happened at any time after it was invoked, or never.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Call {
    pub client: usize,
    pub op: Op,
    pub outcome: Outcome,
    /// Ticks of one clock for all clients.
    pub invoked: u64,
    pub returned: u64,
    /// Of the commit or of the state that was read, where the answer says so.
    pub revision: Option<Revision>,
}

/// What clients saw, and what the store held before.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub initial: State,
    pub calls: Vec<Call>,
}

impl History {
    /// How many pairs of calls were under way at the same time.
    fn at_once(&self) -> usize {
        let overlap = |a: &Call, b: &Call| a.invoked < b.returned && b.invoked < a.returned;
        let pairs = self.calls.iter().enumerate();
        pairs
            .map(|(index, a)| self.calls[..index].iter().filter(|b| overlap(a, b)).count())
            .sum()
    }
}

/// No order explains this history.
#[derive(Clone, Debug)]
pub struct Violation {
    pub why: String,
}

impl Op {
    /// The state after this operation if its answer fits the state before it.
    fn apply(&self, state: &State, outcome: &Outcome) -> Option<State> {
        match (self, outcome) {
            (Self::Read(keys), Outcome::Values(values)) => {
                let found = keys.iter().map(|key| state[*key]);
                found.eq(values.iter().copied()).then_some(*state)
            }
            (Self::Write { conditions, writes }, Outcome::Committed(previous)) => {
                let told = previous.as_ref().is_none_or(|previous| {
                    let found = writes.iter().map(|(key, _)| state[*key]);
                    found.eq(previous.iter().copied())
                });
                let holds = conditions.iter().all(|condition| condition.holds(state));
                (holds && told).then(|| written(state, writes))
            }
            (Self::Write { conditions, .. }, Outcome::Conflict(key, current)) => {
                let failed = conditions
                    .iter()
                    .any(|condition| condition.key() == *key && !condition.holds(state));
                (failed && state[*key] == *current).then_some(*state)
            }
            (Self::Read(_), Outcome::Unknown) => Some(*state),
            (Self::Write { conditions, writes }, Outcome::Unknown) => {
                let holds = conditions.iter().all(|condition| condition.holds(state));
                Some(if holds {
                    written(state, writes)
                } else {
                    *state
                })
            }
            _ => None,
        }
    }
}

fn written(state: &State, writes: &[(usize, u32)]) -> State {
    let mut state = *state;
    for (key, value) in writes {
        state[*key] = *value;
    }
    state
}

impl Condition {
    fn key(self) -> usize {
        match self {
            Self::Absent(key) | Self::Exists(key) | Self::Is(key, _) => key,
        }
    }

    fn holds(self, state: &State) -> bool {
        match self {
            Self::Absent(key) => state[key] == 0,
            Self::Exists(key) => state[key] != 0,
            Self::Is(key, value) => value != 0 && state[key] == value,
        }
    }
}
