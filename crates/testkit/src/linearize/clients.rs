//! Clients that do random things at the same time and note what they asked, when, and what they were told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bytes::Bytes;
use store::{Entry, Error, Revision, Snapshot, Store, Txn};

use super::{Call, Condition, History, KEYS, Op, Outcome, State};
use crate::suite::soon;

/// How much happens in one history. On one store each has a seed of its own.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub clients: usize,
    /// Each.
    pub calls: usize,
    pub seed: u64,
    /// Whether clients sometimes go away before the answer.
    pub impatient: bool,
}

/// Lets clients loose on the store and returns what they saw. Values are unique over all histories of `values`.
pub async fn record(store: &Store, load: Load, values: &Arc<AtomicU32>) -> History {
    let shared = Arc::new(Shared {
        store: store.clone(),
        clock: AtomicU64::new(1),
        values: values.clone(),
        start: tokio::sync::Barrier::new(load.clients),
        seed: load.seed,
    });
    let initial = shared.state_of(&store.snapshot().await.expect("the store is open"));
    let clients: Vec<_> = (0..load.clients)
        .map(|number| {
            let client = Client {
                shared: shared.clone(),
                number,
                random: Random::new(load.seed, number),
                known: [None; KEYS],
                impatient: load.impatient,
            };
            tokio::spawn(client.run(load.calls))
        })
        .collect();
    let mut calls = Vec::new();
    for client in clients {
        calls.extend(soon("a client", client).await.expect("clients do not fail"));
    }
    History { initial, calls }
}

struct Shared {
    store: Store,
    clock: AtomicU64,
    values: Arc<AtomicU32>,
    start: tokio::sync::Barrier,
    seed: u64,
}

struct Client {
    shared: Arc<Shared>,
    number: usize,
    random: Random,
    /// The value and revision of each key as last seen.
    known: [Option<(u32, Revision)>; KEYS],
    impatient: bool,
}

impl Shared {
    /// Each history has keys of its own: what a client gave up in one may still happen during the next.
    fn name(&self, key: usize) -> String {
        format!("linear/{}/{key}", self.seed)
    }

    fn state_of(&self, snapshot: &Snapshot) -> State {
        let value = |key| {
            snapshot
                .get(self.name(key).as_bytes())
                .map_or(0, |entry| value_of(entry))
        };
        std::array::from_fn(value)
    }
}

type Answer = (Outcome, Option<Revision>);

impl Client {
    async fn run(mut self, count: usize) -> Vec<Call> {
        let shared = self.shared.clone();
        shared.start.wait().await;
        let mut calls = Vec::with_capacity(count);
        for _ in 0..count {
            let op = self.choose();
            let impatient = self.impatient && self.random.below(12) == 0;
            let invoked = shared.clock.fetch_add(1, Ordering::SeqCst);
            let (outcome, revision) = if impatient {
                tokio::select! {
                    biased;
                    answer = self.call(&op) => answer,
                    () = tokio::task::yield_now() => (Outcome::Unknown, None),
                }
            } else {
                self.call(&op).await
            };
            let returned = shared.clock.fetch_add(1, Ordering::SeqCst);
            calls.push(Call {
                client: self.number,
                op,
                outcome,
                invoked,
                returned,
                revision,
            });
        }
        calls
    }

    fn choose(&mut self) -> Op {
        let key = self.random.below(KEYS);
        let other = (key + 1 + self.random.below(KEYS - 1)) % KEYS;
        let third = (0..KEYS)
            .find(|it| *it != key && *it != other)
            .unwrap_or(key);
        match self.random.below(13) {
            0 | 1 => Op::Read(vec![key]),
            2 => Op::Read((0..KEYS).collect()),
            3 => self.write(vec![Condition::Absent(key)], &[key]),
            4 => self.write(Vec::new(), &[key]),
            5 | 6 => {
                let condition = self.as_known(key);
                self.write(vec![condition], &[key])
            }
            7 => Op::Write {
                conditions: vec![self.as_known(key)],
                writes: vec![(key, 0)],
            },
            8 => self.write(Vec::new(), &[key, other]),
            9 => self.write(vec![Condition::Exists(other)], &[key, other]),
            10 => {
                let conditions = vec![self.as_known(key), self.as_known(other)];
                self.write(conditions, &[key, other])
            }
            11 => {
                let conditions = vec![self.as_known(third), Condition::Exists(other)];
                self.write(conditions, &[key, other, third])
            }
            _ => Op::Write {
                conditions: Vec::new(),
                writes: vec![(key, 0), (other, self.value())],
            },
        }
    }

    fn write(&self, conditions: Vec<Condition>, keys: &[usize]) -> Op {
        let writes = keys.iter().map(|key| (*key, self.value())).collect();
        Op::Write { conditions, writes }
    }

    fn value(&self) -> u32 {
        self.shared.values.fetch_add(1, Ordering::Relaxed)
    }

    fn as_known(&self, key: usize) -> Condition {
        self.known[key].map_or(Condition::Absent(key), |(value, _)| {
            Condition::Is(key, value)
        })
    }

    async fn call(&mut self, op: &Op) -> Answer {
        match op {
            Op::Read(keys) if keys.len() == 1 => {
                let found = self
                    .shared
                    .store
                    .get(self.shared.name(keys[0]).as_bytes())
                    .await;
                let value = self.see(keys[0], found.expect("reads work").as_deref());
                (Outcome::Values(vec![value]), None)
            }
            Op::Read(keys) => {
                let snapshot = self.shared.store.snapshot().await.expect("reads work");
                let state = self.shared.state_of(&snapshot);
                for key in keys {
                    self.see(
                        *key,
                        snapshot
                            .get(self.shared.name(*key).as_bytes())
                            .map(|entry| &**entry),
                    );
                }
                let values = keys.iter().map(|key| state[*key]).collect();
                (Outcome::Values(values), Some(snapshot.revision()))
            }
            Op::Write { conditions, writes } => self.send(conditions, writes).await,
        }
    }

    async fn send(&mut self, conditions: &[Condition], writes: &[(usize, u32)]) -> Answer {
        let store = self.shared.store.clone();
        // Single writes take the store's own functions, which say less of what was before.
        let answer = match (conditions, writes) {
            ([Condition::Absent(_)], [(key, value)]) if *value != 0 => store
                .create(self.shared.name(*key), bytes(*value))
                .await
                .map(|revision| (revision, None)),
            ([Condition::Is(..)], [(key, value)]) => {
                let (_, expected) = self.known[*key].expect("it was compared with what is known");
                if *value == 0 {
                    store
                        .delete(self.shared.name(*key), expected)
                        .await
                        .map(|revision| (revision, None))
                } else {
                    let updated = store
                        .update(self.shared.name(*key), bytes(*value), expected)
                        .await;
                    updated.map(|revision| (revision, None))
                }
            }
            ([], [(key, value)]) if *value != 0 => store
                .put(self.shared.name(*key), bytes(*value))
                .await
                .map(|revision| (revision, None)),
            _ => {
                let txn = self.txn(conditions, writes);
                store.txn(txn).await.map(|committed| {
                    let previous = committed.previous.iter();
                    let values = previous.map(|entry| entry.as_deref().map_or(0, value_of));
                    (committed.revision, Some(values.collect()))
                })
            }
        };
        match answer {
            Ok((revision, previous)) => {
                for (key, value) in writes {
                    self.known[*key] = (*value != 0).then_some((*value, revision));
                }
                (Outcome::Committed(previous), Some(revision))
            }
            Err(Error::Conflict { key, current }) => {
                let key = (0..KEYS)
                    .find(|it| self.shared.name(*it).as_bytes() == key)
                    .expect("one of ours");
                (
                    Outcome::Conflict(key, self.see(key, current.as_deref())),
                    None,
                )
            }
            Err(Error::Unknown { .. } | Error::Unavailable { .. }) => (Outcome::Unknown, None),
            Err(error) => panic!("a client was told: {error}"),
        }
    }

    fn txn(&self, conditions: &[Condition], writes: &[(usize, u32)]) -> Txn {
        let mut txn = Txn::new();
        for condition in conditions {
            txn = txn.when(match *condition {
                Condition::Absent(key) => store::Condition::Absent(self.shared.name(key).into()),
                Condition::Exists(key) => store::Condition::Exists(self.shared.name(key).into()),
                Condition::Is(key, _) => {
                    let (_, revision) =
                        self.known[key].expect("it was compared with what is known");
                    store::Condition::Unchanged(self.shared.name(key).into(), revision)
                }
            });
        }
        for (key, value) in writes {
            txn = match value {
                0 => txn.delete(self.shared.name(*key)),
                value => txn.put(self.shared.name(*key), bytes(*value)),
            };
        }
        txn
    }

    fn see(&mut self, key: usize, entry: Option<&Entry>) -> u32 {
        self.known[key] = entry.map(|entry| (value_of(entry), entry.modified));
        entry.map_or(0, value_of)
    }
}

fn bytes(value: u32) -> Bytes {
    Bytes::copy_from_slice(&value.to_le_bytes())
}

fn value_of(entry: &Entry) -> u32 {
    u32::from_le_bytes(entry.value[..].try_into().expect("written by a client"))
}

/// `SplitMix64`: enough to choose among a few things, the same for the same seed.
struct Random(u64);

impl Random {
    fn new(seed: u64, client: usize) -> Self {
        Self(seed.wrapping_mul(0x1000).wrapping_add(client as u64))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).expect("below a usize")
    }
}
