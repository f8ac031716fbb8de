//! The recent past: every event above the floor, in order, bounded in bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::snapshot::State;
use crate::{Error, Event, Revision};

/// Events a chunk holds: a scan clones chunk pointers under the lock and reads them outside of it.
const CHUNK: usize = 256;

#[derive(Debug)]
pub(crate) struct History {
    chunks: VecDeque<Arc<Vec<Arc<Event>>>>,
    /// Events up to here are gone.
    floor: Revision,
    weight: usize,
    /// Weight of the chunk still open.
    open_weight: usize,
    limit: usize,
}

impl History {
    pub(crate) fn new(floor: Revision, limit: usize) -> Self {
        Self {
            chunks: VecDeque::new(),
            floor,
            weight: 0,
            open_weight: 0,
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
        // Only whole chunks are trimmed: one of large values must not grow to a large part of the limit.
        let light = self.open_weight + weight <= self.limit / 16;
        match self.chunks.back_mut() {
            // A scan that still holds the open chunk makes this a copy of at most CHUNK pointers.
            Some(open) if light && open.len() < CHUNK => {
                Arc::make_mut(open).push(event);
                self.open_weight += weight;
            }
            _ => {
                self.chunks.push_back(Arc::new(vec![event]));
                self.open_weight = weight;
            }
        }
    }

    /// Drops the oldest events until the rest fits the limit. Whole chunks go, never the one still open.
    pub(crate) fn trim(&mut self) {
        while self.weight > self.limit && self.chunks.len() > 1 {
            self.drop_chunk();
        }
    }

    /// Forgets all events up to and including `revision`.
    pub(crate) fn compact(&mut self, revision: Revision) {
        while self
            .chunks
            .front()
            .is_some_and(|chunk| chunk[chunk.len() - 1].revision <= revision)
        {
            self.drop_chunk();
        }
        if let Some(first) = self.chunks.front_mut() {
            let gone = first.partition_point(|event| event.revision <= revision);
            self.weight -= first[..gone]
                .iter()
                .map(|event| event.weight())
                .sum::<usize>();
            if gone > 0 {
                Arc::make_mut(first).drain(..gone);
            }
        }
        self.floor = self.floor.max(revision);
    }

    fn drop_chunk(&mut self) {
        let Some(chunk) = self.chunks.pop_front() else {
            return;
        };
        self.weight -= chunk.iter().map(|event| event.weight()).sum::<usize>();
        let last = chunk[chunk.len() - 1].revision;
        self.floor = self.floor.max(last);
        // A revision is never split: what is left of it goes with its first events.
        if let Some(next) = self.chunks.front_mut() {
            let gone = next.partition_point(|event| event.revision <= last);
            if gone == next.len() {
                self.drop_chunk();
            } else if gone > 0 {
                self.weight -= next[..gone]
                    .iter()
                    .map(|event| event.weight())
                    .sum::<usize>();
                Arc::make_mut(next).drain(..gone);
            }
        }
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
            .partition_point(|chunk| chunk[chunk.len() - 1].revision <= revision);
        Ok(Past {
            chunks: self.chunks.range(first..).cloned().collect(),
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
