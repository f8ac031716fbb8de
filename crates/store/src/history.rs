//! The recent past: every event above the floor, in order, bounded in bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::snapshot::State;
use crate::{Error, Event, Revision};

/// Events a chunk holds: a scan clones chunk pointers under the lock and reads them outside of it.
const CHUNK: usize = 256;

#[derive(Debug)]
pub(crate) struct History {
    chunks: VecDeque<Chunk>,
    /// Events up to here are gone.
    floor: Revision,
    weight: usize,
    limit: usize,
}

#[derive(Debug)]
struct Chunk {
    events: Arc<Vec<Arc<Event>>>,
    weight: usize,
}

impl Chunk {
    fn last(&self) -> Revision {
        self.events[self.events.len() - 1].revision
    }
}

/// Events no longer needed. To free many takes time: not under a lock, not on the writer's thread.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Garbage(Vec<Arc<Vec<Arc<Event>>>>);

impl History {
    pub(crate) fn new(floor: Revision, limit: usize) -> Self {
        Self {
            chunks: VecDeque::new(),
            floor,
            weight: 0,
            limit,
        }
    }

    pub(crate) fn floor(&self) -> Revision {
        self.floor
    }

    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    pub(crate) fn push(&mut self, event: Arc<Event>) {
        let weight = event.weight();
        self.weight += weight;
        match self.chunks.back_mut() {
            // Only whole chunks are trimmed: one of large values must not grow to a large part of the limit.
            Some(open) if open.events.len() < CHUNK && open.weight + weight <= self.limit / 16 => {
                // A scan that still holds the open chunk makes this a copy of at most CHUNK pointers.
                Arc::make_mut(&mut open.events).push(event);
                open.weight += weight;
            }
            _ => self.chunks.push_back(Chunk {
                events: Arc::new(vec![event]),
                weight,
            }),
        }
    }

    /// Drops the oldest events until the rest fits the limit. Whole chunks go, never the one still open.
    pub(crate) fn trim(&mut self) -> Garbage {
        let mut garbage = Garbage::default();
        while self.weight > self.limit && self.chunks.len() > 1 {
            let last = self.chunks[0].last();
            self.drop_until(last, &mut garbage);
        }
        garbage
    }

    /// Forgets all events up to and including `revision`.
    pub(crate) fn compact(&mut self, revision: Revision) -> Garbage {
        let mut garbage = Garbage::default();
        self.drop_until(revision, &mut garbage);
        garbage
    }

    /// A revision is never split: all of its events go or stay, in however many chunks they are.
    fn drop_until(&mut self, revision: Revision, garbage: &mut Garbage) {
        while self
            .chunks
            .front()
            .is_some_and(|chunk| chunk.last() <= revision)
        {
            let Some(chunk) = self.chunks.pop_front() else {
                break;
            };
            self.weight -= chunk.weight;
            garbage.0.push(chunk.events);
        }
        if let Some(first) = self.chunks.front_mut() {
            let gone = first
                .events
                .partition_point(|event| event.revision <= revision);
            if gone > 0 {
                let weight: usize = first.events[..gone]
                    .iter()
                    .map(|event| event.weight())
                    .sum();
                first.weight -= weight;
                self.weight -= weight;
                Arc::make_mut(&mut first.events).drain(..gone);
            }
        }
        self.floor = self.floor.max(revision);
    }

    /// The events after `revision`. Cheap: pointers to chunks, read later outside the lock.
    pub(crate) fn since(&self, revision: Revision) -> Result<Past, Error> {
        if revision < self.floor {
            return Err(Error::Compacted {
                requested: revision,
                floor: self.floor,
            });
        }
        let first = self
            .chunks
            .partition_point(|chunk| chunk.last() <= revision);
        Ok(Past {
            chunks: self
                .chunks
                .range(first..)
                .map(|chunk| chunk.events.clone())
                .collect(),
            after: revision,
        })
    }
}

/// A stretch of history up to the moment it was taken.
#[derive(Debug)]
pub(crate) struct Past {
    chunks: Vec<Arc<Vec<Arc<Event>>>>,
    after: Revision,
}

impl Past {
    pub(crate) fn events(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        self.chunks
            .iter()
            .flat_map(|chunk| chunk.iter())
            .filter(|event| event.revision > self.after)
    }

    /// The state as it was at `after`, given the state at the end of this stretch.
    pub(crate) fn undo(&self, mut state: State) -> State {
        for event in self.events().rev() {
            match &event.previous {
                Some(entry) => state.tree.insert(entry.clone()),
                None => state.tree.remove(&event.key),
            };
        }
        state.revision = self.after;
        state
    }
}
