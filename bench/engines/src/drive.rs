//! Feeds an engine as the store's writer does: draft, append, publish, and an image when the engine wants one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use bytes::Bytes;
use store::engine::{AppendError, Engine, Image, Record, Recovered};
use store::{Draft, Entry, Error, Options, Revision, View};

use crate::candidate::Candidate;

pub(crate) const VALUE: usize = 2000;

pub(crate) struct Driver {
    pub(crate) engine: Candidate,
    pub(crate) view: Arc<View>,
    random: u64,
    /// Numbers of the keys there are.
    live: Vec<u64>,
    next: u64,
}

impl Driver {
    /// For an engine opened on an empty directory.
    pub(crate) fn new(engine: Candidate, empty: Recovered, options: &Options) -> Self {
        Self {
            engine,
            view: Arc::new(View::new(empty.entries, empty.revision, options)),
            random: 0x9e37_79b9_7f4a_7c15,
            live: Vec::new(),
            next: 0,
        }
    }

    /// Appends a batch of new keys.
    pub(crate) fn create(&mut self, count: usize) -> Result<Duration, AppendError> {
        let mut draft = self.view.draft();
        let (live, next) = (self.live.len(), self.next);
        let batch: Vec<_> = (0..count).map(|_| self.put_new(&mut draft)).collect();
        let appended = self.append(&batch, draft);
        if appended.is_err() {
            // Not acknowledged: as if never asked for.
            self.live.truncate(live);
            self.next = next;
        }
        appended
    }

    /// Appends a batch of 80 % overwrites, 10 % deletes, 10 % creates.
    pub(crate) fn change(&mut self, count: usize) -> Result<Duration, AppendError> {
        let mut draft = self.view.draft();
        let batch: Vec<_> = (0..count)
            .map(|_| match self.below(10) {
                0 => self.put_new(&mut draft),
                1 => {
                    let at = self.below(self.live.len());
                    let key = key(self.live.swap_remove(at));
                    let revision = draft.revision() + 1;
                    draft.delete(&key, revision);
                    Record::Delete { key, revision }
                }
                _ => {
                    let at = self.below(self.live.len());
                    put(&mut draft, key(self.live[at]))
                }
            })
            .collect();
        self.append(&batch, draft)
    }

    fn put_new(&mut self, draft: &mut Draft) -> Record {
        let number = self.next;
        self.next += 1;
        self.live.push(number);
        put(draft, key(number))
    }

    /// How long the engine took.
    fn append(&mut self, batch: &[Record], draft: Draft) -> Result<Duration, AppendError> {
        let start = Instant::now();
        self.engine.append(batch, draft.revision())?;
        let taken = start.elapsed();
        self.view.publish(draft);
        if self.engine.wants_image(self.view.floor()) {
            let view = self.view.clone();
            self.engine.start_image(Box::new(move || image(&view)));
        }
        Ok(taken)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random = next(self.random);
        usize::try_from(self.random % (limit.max(1) as u64)).expect("below a usize")
    }
}

/// As the store's writer makes it: at the floor of history, which may rise meanwhile.
fn image(view: &View) -> Result<Image, Error> {
    loop {
        match view.at(view.floor()) {
            Err(Error::Compacted { .. }) => {}
            snapshot => {
                return Ok(Image {
                    snapshot: snapshot?,
                    leases: Vec::new(),
                    next_lease: 1,
                });
            }
        }
    }
}

fn put(draft: &mut Draft, key: Bytes) -> Record {
    let modified = draft.revision() + 1;
    let created = draft.get(&key).map_or(modified, |entry| entry.created);
    let entry = Arc::new(Entry {
        key,
        value: value(modified),
        created,
        modified,
        lease: 0,
    });
    draft.put(entry.clone());
    Record::Put(entry)
}

fn key(number: u64) -> Bytes {
    format!("/registry/configmaps/default/object-{number:010}").into()
}

/// Noise that only this revision has: a value read back can be checked against it.
pub(crate) fn value(revision: Revision) -> Bytes {
    let mut random = revision.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut value = Vec::with_capacity(VALUE);
    while value.len() < VALUE {
        random = next(random);
        value.extend_from_slice(&random.to_le_bytes());
    }
    value.into()
}

/// xorshift64.
fn next(mut random: u64) -> u64 {
    random ^= random << 13;
    random ^= random >> 7;
    random ^ (random << 17)
}
