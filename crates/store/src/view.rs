//! Hot path. What readers see: the latest state, the recent past, and the watchers. Readers never wait for writers.
//!
//! The writer of the view (the embedded writer, the etcd feed) calls [`View::publish`] after a change is durable, from
//! one thread at a time, with growing revisions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use bytes::Bytes;

use crate::history::History;
use crate::snapshot::State;
use crate::tree::Tree;
use crate::watch::{Hub, WatchEnd};
use crate::{Entry, Error, Event, LeaseId, Options, Revision, Snapshot, Watch};

/// Rebuilt past states kept for the next page of the same list.
const RECENT: usize = 8;

#[derive(Debug)]
pub struct View {
    state: ArcSwap<State>,
    shared: Mutex<Shared>,
    published: Arc<AtomicU64>,
    waiting: tokio::sync::watch::Sender<Revision>,
}

#[derive(Debug)]
struct Shared {
    history: History,
    hub: Hub,
    recent: VecDeque<Arc<State>>,
    closed: bool,
}

/// A new state being drafted from the published one. It is not visible before [`View::publish`].
#[derive(Clone, Debug)]
pub struct Draft {
    state: State,
    events: Vec<Arc<Event>>,
}

impl Draft {
    pub fn revision(&self) -> Revision {
        self.state.revision
    }

    pub fn get(&self, key: &[u8]) -> Option<&Arc<Entry>> {
        self.state.tree.get(key)
    }

    pub fn events(&self) -> &[Arc<Event>] {
        &self.events
    }

    pub fn put(&mut self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let previous = self.state.tree.insert(entry.clone());
        self.follow(entry, previous)
    }

    /// Writes a value at `revision`, keeping when the key was created.
    pub fn write(
        &mut self,
        key: Bytes,
        value: Bytes,
        lease: LeaseId,
        revision: Revision,
    ) -> (Arc<Entry>, Option<Arc<Entry>>) {
        let mut written = None;
        let previous = self.state.tree.insert_with(&key.clone(), |previous| {
            let created = previous.map_or(revision, |entry| entry.created);
            let entry = Arc::new(Entry {
                key,
                value,
                created,
                modified: revision,
                lease,
            });
            written.insert(entry).clone()
        });
        let entry = written.expect("the tree has asked for it");
        (entry.clone(), self.follow(entry, previous))
    }

    fn follow(&mut self, entry: Arc<Entry>, previous: Option<Arc<Entry>>) -> Option<Arc<Entry>> {
        let (revision, key) = (entry.modified, entry.key.clone());
        self.state.revision = revision;
        self.events.push(Arc::new(Event {
            revision,
            key,
            current: Some(entry),
            previous: previous.clone(),
        }));
        previous
    }

    /// Deletes a key; does nothing if it is not there.
    pub fn delete(&mut self, key: &Bytes, revision: Revision) -> Option<Arc<Entry>> {
        let previous = self.state.tree.remove(key)?;
        self.state.revision = revision;
        let (key, previous) = (previous.key.clone(), Some(previous));
        self.events.push(Arc::new(Event {
            revision,
            key,
            current: None,
            previous: previous.clone(),
        }));
        previous
    }

    /// Moves on without a change: revisions that others spent on keys outside this store.
    pub fn advance(&mut self, revision: Revision) {
        self.state.revision = self.state.revision.max(revision);
    }
}

impl View {
    /// `entries` are in strictly ascending key order; the past before `revision` is unknown.
    pub fn new(entries: Vec<Arc<Entry>>, revision: Revision, options: &Options) -> Self {
        let state = State {
            revision,
            tree: Tree::from_sorted(entries),
        };
        Self {
            state: ArcSwap::from_pointee(state),
            shared: Mutex::new(Shared {
                history: History::new(revision, options.history_bytes),
                hub: Hub::new(options.watch_buffer_bytes),
                recent: VecDeque::new(),
                closed: false,
            }),
            published: Arc::new(AtomicU64::new(revision)),
            waiting: tokio::sync::watch::Sender::new(revision),
        }
    }

    pub fn revision(&self) -> Revision {
        self.published.load(Ordering::Acquire)
    }

    pub fn latest(&self) -> Snapshot {
        Snapshot::new(self.state.load_full())
    }

    pub fn draft(&self) -> Draft {
        Draft {
            state: State::clone(&self.state.load()),
            events: Vec::new(),
        }
    }

    /// Makes a draft of the current state visible, all at once.
    pub fn publish(&self, draft: Draft) {
        let Draft { state, events } = draft;
        let revision = state.revision;
        let mut shared = self.shared();
        for event in &events {
            shared.history.push(event.clone());
        }
        let garbage = shared.history.trim();
        // Readable before it is told: whoever hears of a change finds it. Whoever reads it first and then asks for its
        // past or a watch waits for the lock.
        self.state.store(Arc::new(state));
        shared.hub.publish(&events);
        self.published.store(revision, Ordering::Release);
        drop(shared);
        drop(garbage);
        self.waiting.send_replace(revision);
    }

    /// Starts over from a full read after a gap that cannot be filled. Ends every watch: they would miss events.
    pub fn reset(&self, entries: Vec<Arc<Entry>>, revision: Revision) {
        let state = State {
            revision,
            tree: Tree::from_sorted(entries),
        };
        let mut shared = self.shared();
        let garbage = shared.history.compact(revision);
        shared.recent.clear();
        self.state.store(Arc::new(state));
        shared.hub.end(&WatchEnd::Compacted { floor: revision });
        self.published.store(revision, Ordering::Release);
        drop(shared);
        discard(garbage);
        self.waiting.send_replace(revision);
    }

    /// Forgets the past up to and including `revision`.
    pub fn compact(&self, revision: Revision) {
        let mut shared = self.shared();
        let garbage = shared.history.compact(revision.min(self.revision()));
        let recent = std::mem::take(&mut shared.recent);
        drop(shared);
        discard((garbage, recent));
    }

    /// The oldest revision that can still be read or watched from.
    pub fn floor(&self) -> Revision {
        self.shared().history.floor()
    }

    /// Waits until this revision is visible here. Errs when the store closes first.
    pub async fn reached(&self, revision: Revision) -> Result<(), Error> {
        if self.revision() >= revision {
            return Ok(());
        }
        let mut waiting = self.waiting.subscribe();
        waiting
            .wait_for(|reached| *reached >= revision)
            .await
            .map_err(|_| Error::Closed)?;
        if self.revision() >= revision {
            Ok(())
        } else {
            Err(Error::Closed)
        }
    }

    /// The state as it was at `revision`.
    pub fn at(&self, revision: Revision) -> Result<Snapshot, Error> {
        let shared = self.shared();
        let state = self.state.load_full();
        if revision > state.revision {
            return Err(Error::FutureRevision {
                requested: revision,
                current: state.revision,
            });
        }
        if revision == state.revision {
            return Ok(Snapshot::new(state));
        }
        let past = shared.history.since(revision)?;
        if let Some(kept) = shared.recent.iter().find(|kept| kept.revision == revision) {
            return Ok(Snapshot::new(kept.clone()));
        }
        drop(shared);
        let state = Arc::new(past.undo(State::clone(&state)));
        let mut shared = self.shared();
        shared.recent.truncate(RECENT - 1);
        shared.recent.push_front(state.clone());
        Ok(Snapshot::new(state))
    }

    /// Changes under `prefix` after `revision`.
    pub fn watch(&self, prefix: &[u8], after: Revision) -> Result<Watch, Error> {
        let mut shared = self.shared();
        if shared.closed {
            return Err(Error::Closed);
        }
        let current = self.revision();
        if after > current {
            return Err(Error::FutureRevision {
                requested: after,
                current,
            });
        }
        let past = shared.history.since(after)?;
        let cursor = shared.hub.join(prefix);
        drop(shared);
        let past: Vec<_> = past
            .events()
            .filter(|event| event.key.starts_with(prefix))
            .cloned()
            .collect();
        Ok(Watch::new(past, cursor, self.published.clone(), after))
    }

    /// Ends every watch and every wait.
    pub fn close(&self) {
        let mut shared = self.shared();
        shared.closed = true;
        shared.hub.end(&WatchEnd::Closed);
        drop(shared);
        self.waiting.send_replace(Revision::MAX);
    }

    pub fn stats(&self) -> ViewStats {
        let state = self.state.load();
        let shared = self.shared();
        ViewStats {
            revision: state.revision,
            floor: shared.history.floor(),
            keys: state.tree.len() as u64,
            history_bytes: shared.history.weight() as u64,
            watchers: shared.hub.watchers(),
            watchers_lagged: shared.hub.lagged(),
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Frees what may be much without keeping anybody waiting.
fn discard<T: Send + 'static>(garbage: T) {
    // Without a thread to do it, it is freed here as the closure goes.
    let _ = std::thread::Builder::new()
        .name("store-free".into())
        .spawn(move || drop(garbage));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewStats {
    pub revision: Revision,
    /// The past up to here is compacted.
    pub floor: Revision,
    pub keys: u64,
    pub history_bytes: u64,
    pub watchers: u64,
    /// Watchers dropped for being too slow since the start.
    pub watchers_lagged: u64,
}
