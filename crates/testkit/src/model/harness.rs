//! Takes each step on the store and on the reference, and compares.

mod compare;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{Condition, Entry, Error, LeaseId, Revision, Snapshot, Store, Txn, Watch};

use self::compare::matching;
use super::reference::{self, Reference, Refusal, Turn};
use super::step::{At, Do, KEYS, PREFIXES, Step, When};
use crate::suite::{Backing, options, soon};

const HOUR: Duration = Duration::from_secs(3600);
const UNKNOWN: LeaseId = 0x0123_4567_89ab_cdef;

struct Harness {
    store: Store,
    model: Reference,
    /// The store's revision of each turn.
    real: Vec<Revision>,
    /// Whether the floor was set by a compaction. If by an open, it may be older than what was read first: others may
    /// have written in between.
    compacted: bool,
    leases: Vec<LeaseId>,
    /// Sees every change at once, and with it the revision of each turn.
    witness: Watch,
    watches: Vec<(Watch, &'static [u8], Turn)>,
}

pub(super) async fn run(backing: &impl Backing, steps: &[Step]) {
    let store = backing.open(&options()).await;
    let start = store.snapshot().await.unwrap().revision();
    let mut harness = Harness {
        witness: store.watch(b"", start).await.unwrap(),
        store,
        model: Reference::new(),
        real: vec![start],
        compacted: false,
        leases: Vec::new(),
        watches: Vec::new(),
    };
    for step in steps {
        if let Step::Reopen = step {
            let Some(again) = harness.reopen(backing).await else {
                return;
            };
            harness = again;
        } else {
            harness.take(step).await;
        }
        harness.same_state(&harness.store.latest(), harness.model.now());
        harness.same_floor(harness.store.stats().0.floor);
    }
    harness.drain().await;
}

impl Harness {
    async fn take(&mut self, step: &Step) {
        match step {
            Step::Create(key, value) => {
                self.txn(
                    &[When::Absent(*key)],
                    &[Do::Put(*key, *value)],
                    Shape::Create,
                )
                .await;
            }
            Step::Put(key, value) => self.txn(&[], &[Do::Put(*key, *value)], Shape::Put).await,
            Step::Update(key, value, at) => {
                self.txn(
                    &[When::Unchanged(*key, *at)],
                    &[Do::Put(*key, *value)],
                    Shape::Update,
                )
                .await;
            }
            Step::Delete(key, at) => {
                self.txn(
                    &[When::Unchanged(*key, *at)],
                    &[Do::Delete(*key)],
                    Shape::Delete,
                )
                .await;
            }
            Step::Txn(conditions, writes) => self.txn(conditions, writes, Shape::Txn).await,
            Step::Get(key) => {
                let found = self.store.get(KEYS[*key]).await.unwrap();
                self.same_item(found.as_deref(), self.model.state().get(KEYS[*key]));
            }
            Step::Range(prefix) => {
                let snapshot = self.store.snapshot().await.unwrap();
                let prefix = PREFIXES[*prefix];
                let want: Vec<_> = matching(self.model.state(), prefix).collect();
                self.same_items(snapshot.range(prefix), &want);
                assert_eq!(snapshot.count(prefix), want.len());
            }
            Step::Page {
                at,
                prefix,
                after,
                limit,
            } => {
                if let Some((snapshot, turn)) = self.snapshot_at(*at).await {
                    let after = after.map(|key| KEYS[key]);
                    let page = snapshot.page(PREFIXES[*prefix], after, *limit);
                    self.same_page(&page, turn, PREFIXES[*prefix], after, *limit);
                }
            }
            Step::SnapshotAt(at) => {
                if let Some((snapshot, turn)) = self.snapshot_at(*at).await {
                    self.same_state(&snapshot, turn);
                    assert_eq!(snapshot.revision(), self.real[turn]);
                }
            }
            Step::Watch(prefix, at) => {
                let prefix = PREFIXES[*prefix];
                let answer = self.store.watch(prefix, self.revision(*at)).await;
                if let Some((watch, turn)) = self.of_the_past(answer, *at) {
                    self.watches.push((watch, prefix, turn));
                }
            }
            Step::Drain => self.drain().await,
            Step::Compact(at) => {
                let answer = self.store.compact(self.revision(*at)).await;
                if let Some(((), turn)) = self.of_the_past(answer, *at) {
                    self.model.floor = turn;
                    self.compacted = true;
                }
            }
            Step::Grant => {
                self.leases.push(self.store.grant(HOUR).await.unwrap());
                self.model.alive.insert(self.model.granted);
                self.model.granted += 1;
            }
            Step::KeepAlive(slot) => {
                let answer = self.store.keep_alive(self.lease(*slot)).await;
                match answer {
                    Ok(ttl) => assert!(self.model.alive.contains(slot) && ttl >= HOUR),
                    Err(error) => self.no_lease(&error, &[*slot]),
                }
            }
            Step::Revoke(slot) => {
                let answer = self.store.revoke(self.lease(*slot)).await;
                if self.model.revoke(*slot) {
                    answer.unwrap();
                } else {
                    self.no_lease(&answer.unwrap_err(), &[*slot]);
                }
                self.witness().await;
            }
            Step::Reopen => unreachable!("the store changes hands"),
        }
    }

    async fn txn(&mut self, conditions: &[When], writes: &[Do], shape: Shape) {
        let mut txn = Txn::new();
        let mut model_conditions = Vec::new();
        for condition in conditions {
            let (key, known) = match condition {
                When::Absent(key) => (*key, reference::Condition::Absent),
                When::Exists(key) => (*key, reference::Condition::Exists),
                When::Unchanged(key, at) => (
                    *key,
                    reference::Condition::Unchanged(self.turn_of(*key, *at)),
                ),
            };
            let name = Bytes::from_static(KEYS[key]);
            txn = txn.when(match condition {
                When::Absent(_) => Condition::Absent(name),
                When::Exists(_) => Condition::Exists(name),
                When::Unchanged(key, at) => Condition::Unchanged(name, self.revision_of(*key, *at)),
            });
            model_conditions.push((KEYS[key].to_vec(), known));
        }
        let mut model_writes = Vec::new();
        for write in writes {
            let (key, known) = match *write {
                Do::Put(key, value) => {
                    txn = txn.put(KEYS[key], vec![value]);
                    (key, reference::Write::Put(vec![value], None))
                }
                Do::PutLeased(key, value, slot) => {
                    txn = txn.put_leased(KEYS[key], vec![value], self.lease(slot));
                    (key, reference::Write::Put(vec![value], Some(slot)))
                }
                Do::Delete(key) => {
                    txn = txn.delete(KEYS[key]);
                    (key, reference::Write::Delete)
                }
            };
            model_writes.push((KEYS[key].to_vec(), known));
        }
        let before = self.model.now();
        let answer = shape.send(&self.store, txn).await;
        match self.model.txn(&model_conditions, &model_writes) {
            Ok(previous) => {
                let (revision, found) = answer.expect("the reference commits");
                self.witness().await;
                if self.model.now() > before {
                    assert_eq!(revision, self.real[self.model.now()]);
                } else {
                    assert!(revision >= self.real[before]);
                }
                for (found, want) in found.iter().flatten().zip(&previous) {
                    self.same_item(found.as_deref(), want.as_ref());
                }
                assert!(found.is_none_or(|found| found.len() == previous.len()));
            }
            Err(refusal) => self.refused(&answer.expect_err("the reference refuses"), &refusal),
        }
    }

    fn refused(&self, error: &Error, refusal: &Refusal) {
        match (error, refusal) {
            (Error::DuplicateKey(key), Refusal::Duplicate(want)) => {
                // Any key written twice may be named.
                assert!(KEYS.contains(&&key[..]), "{want:?}");
            }
            (Error::Conflict { key, current }, Refusal::Conflict(failed)) => {
                assert!(
                    failed.iter().any(|it| it == key),
                    "{key:?} is not one of {failed:?}"
                );
                self.same_item(current.as_deref(), self.model.state().get(&key[..]));
            }
            (error, Refusal::NoLease(dead)) => self.no_lease(error, dead),
            _ => panic!("{refusal:?} expected, not {error:?}"),
        }
    }

    fn no_lease(&self, error: &Error, dead: &[usize]) {
        assert!(dead.iter().all(|slot| !self.model.alive.contains(slot)));
        assert!(
            matches!(error, Error::NoLease(id) if dead.iter().any(|slot| self.lease(*slot) == *id)),
            "{error:?}"
        );
    }

    /// The changes of the newest turn are there as soon as it is answered, together.
    async fn witness(&mut self) {
        let turn = self.real.len();
        if turn > self.model.now() {
            assert!(
                self.witness.try_next().is_none(),
                "an event without a change"
            );
            return;
        }
        let changes = soon("the witness", self.witness.next()).await.unwrap();
        assert!(changes[0].revision > self.real[turn - 1]);
        self.real.push(changes[0].revision);
        self.same_changes(&changes, &self.model.since(b"", turn - 1));
    }

    /// Every watch has seen exactly what it should.
    async fn drain(&mut self) {
        for (mut watch, prefix, after) in std::mem::take(&mut self.watches) {
            let want = self.model.since(prefix, after);
            let mut seen = Vec::new();
            while seen.len() < want.len() {
                seen.extend_from_slice(&soon("a watch", watch.next()).await.unwrap());
            }
            assert!(watch.try_next().is_none(), "more events than changes");
            self.same_changes(&seen, &want);
            assert!(watch.progress() >= self.real[self.model.now()]);
        }
    }

    async fn reopen(mut self, backing: &impl Backing) -> Option<Self> {
        self.drain().await;
        drop(self.witness);
        let store = backing.reopen(self.store, &options()).await?;
        let revision = store.snapshot().await.unwrap().revision();
        let now = self.model.now();
        assert!(revision >= self.real[now]);
        if revision > self.real[now] {
            // Others have written meanwhile: a turn that changes nothing here.
            self.model.states.push(self.model.states[now].clone());
            self.real.push(revision);
        }
        if !backing.keeps_history() {
            self.model.floor = self.model.now();
            self.compacted = false;
        }
        Some(Self {
            witness: store.watch(b"", revision).await.unwrap(),
            store,
            ..self
        })
    }

    async fn snapshot_at(&self, at: At) -> Option<(Snapshot, Turn)> {
        let answer = self.store.snapshot_at(self.revision(at)).await;
        self.of_the_past(answer, at)
    }

    /// What was asked at a revision is answered from the floor on, and refused below it and in the future.
    fn of_the_past<T>(&self, answer: Result<T, Error>, at: At) -> Option<(T, Turn)> {
        let requested = self.revision(at);
        match (answer, self.turn(at)) {
            (Ok(found), Some(turn)) if turn >= self.model.floor => Some((found, turn)),
            (
                Err(Error::Compacted {
                    requested: it,
                    floor: named,
                }),
                Some(turn),
            ) => {
                assert!(turn < self.model.floor);
                assert_eq!(it, requested);
                self.same_floor(named);
                None
            }
            (Err(Error::FutureRevision { requested: it, .. }), None) => {
                assert_eq!(it, requested);
                None
            }
            (Err(error), turn) => panic!("turn {turn:?}, floor {}: {error}", self.model.floor),
            (Ok(_), turn) => panic!("turn {turn:?} was answered, floor {}", self.model.floor),
        }
    }

    fn turn(&self, at: At) -> Option<Turn> {
        match at {
            At::Now => Some(self.model.now()),
            At::Past(number) => Some(number % self.real.len()),
            At::Future => None,
        }
    }

    fn revision(&self, at: At) -> Revision {
        let turn = self.turn(at);
        turn.map_or(self.real[self.model.now()] + 1_000_000_000, |turn| {
            self.real[turn]
        })
    }

    /// `Now` is when the key was last written.
    fn turn_of(&self, key: usize, at: At) -> Option<Turn> {
        match at {
            At::Now => self.model.state().get(KEYS[key]).map(|item| item.modified),
            at => self.turn(at),
        }
    }

    fn revision_of(&self, key: usize, at: At) -> Revision {
        let turn = self.turn_of(key, at);
        turn.map_or(self.revision(At::Future), |turn| self.real[turn])
    }

    fn lease(&self, slot: usize) -> LeaseId {
        self.leases.get(slot).copied().unwrap_or(UNKNOWN)
    }
}

/// Which of the store's functions takes the transaction.
#[derive(Clone, Copy)]
enum Shape {
    Create,
    Put,
    Update,
    Delete,
    Txn,
}

impl Shape {
    /// The revision, and the previous values where they are told.
    async fn send(
        self,
        store: &Store,
        txn: Txn,
    ) -> Result<(Revision, Option<Vec<Option<Arc<Entry>>>>), Error> {
        if let Self::Txn = self {
            let committed = store.txn(txn).await?;
            return Ok((committed.revision, Some(committed.previous)));
        }
        let (key, value) = match &txn.writes[0] {
            store::Write::Put { key, value, .. } => (key.clone(), value.clone()),
            store::Write::Delete { key } => (key.clone(), Bytes::new()),
        };
        let expected = match txn.conditions.first() {
            Some(Condition::Unchanged(_, revision)) => *revision,
            _ => 0,
        };
        let revision = match self {
            Self::Create => store.create(key, value).await?,
            Self::Update => store.update(key, value, expected).await?,
            Self::Delete => store.delete(key, expected).await?,
            Self::Put | Self::Txn => store.put(key, value).await?,
        };
        Ok((revision, None))
    }
}
