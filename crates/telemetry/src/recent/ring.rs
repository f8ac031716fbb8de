//! Which traces are kept, and for how long.
//!
//! All that is new is kept. When there is no more room the oldest goes, unless it failed or is among the slowest of its
//! name: such ones have a share of their own, in which they make room only for each other.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Numbers;
use super::kept::{Kept, Piece};

/// So many of the slowest of each name.
const SLOWEST: usize = 8;
/// Who was slow so long ago is in the way of those that are now.
const STALE: Duration = Duration::from_secs(3600);

type Id = [u8; 16];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    Newest,
    Errors,
    Slowest,
}

#[derive(Debug)]
struct Entry {
    kept: Arc<Kept>,
    share: Share,
    arrived: Instant,
}

/// One of the slowest of its name.
#[derive(Clone, Copy, Debug)]
struct Slow {
    duration: u64,
    arrived: Instant,
    /// In the order in which they came to be among them.
    turn: u64,
}

#[derive(Debug)]
pub(super) struct Ring {
    capacity: usize,
    traces: HashMap<Id, Entry>,
    /// The oldest first.
    newest: VecDeque<Id>,
    errors: VecDeque<Id>,
    slowest: HashMap<Box<str>, Vec<Slow>>,
    turns: BTreeMap<u64, (Box<str>, Id)>,
    next_turn: u64,
    /// In all, in `errors` and in `slowest`.
    bytes: usize,
    error_bytes: usize,
    slow_bytes: usize,
    /// What is counted rather than looked up.
    pub(super) numbers: Numbers,
}

impl Ring {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            traces: HashMap::new(),
            newest: VecDeque::new(),
            errors: VecDeque::new(),
            slowest: HashMap::new(),
            turns: BTreeMap::new(),
            next_turn: 0,
            bytes: 0,
            error_bytes: 0,
            slow_bytes: 0,
            numbers: Numbers::default(),
        }
    }

    /// A quarter for those that failed, and one for the slowest; the rest, and what they leave free, is for the new.
    fn share(&self) -> usize {
        self.capacity / 4
    }

    /// Adds spans to a trace, which may be new. False if that would make it too large to keep.
    pub(super) fn keep(&mut self, id: Id, piece: Piece, now: Instant) -> bool {
        // No trace may push out all others of its share.
        let most = self.share() / 4;
        if let Some(entry) = self.traces.get_mut(&id) {
            // A reader that holds it at this moment keeps its reference.
            let kept = Arc::make_mut(&mut entry.kept);
            let before = kept.size;
            let joined = kept.join(piece, most);
            let more = kept.size - before;
            match entry.share {
                Share::Newest => {}
                Share::Errors => self.error_bytes += more,
                Share::Slowest => self.slow_bytes += more,
            }
            self.bytes += more;
            self.make_room();
            return joined;
        }
        let kept = Kept::new(id, piece);
        if kept.size > most {
            return false;
        }
        self.bytes += kept.size;
        let entry = Entry {
            kept: Arc::new(kept),
            share: Share::Newest,
            arrived: now,
        };
        self.traces.insert(id, entry);
        self.newest.push_back(id);
        self.make_room();
        true
    }

    pub(super) fn get(&self, id: Id) -> Option<Arc<Kept>> {
        self.traces.get(&id).map(|it| it.kept.clone())
    }

    pub(super) fn all(&self) -> Vec<Arc<Kept>> {
        self.traces.values().map(|it| it.kept.clone()).collect()
    }

    pub(super) fn numbers(&self) -> Numbers {
        Numbers {
            newest: self.newest.len() as u64,
            errors: self.errors.len() as u64,
            slowest: self.turns.len() as u64,
            bytes: self.bytes as u64,
            capacity: self.capacity as u64,
            ..self.numbers
        }
    }

    fn make_room(&mut self) {
        self.shrink();
        while self.bytes > self.capacity
            && let Some(id) = self.newest.pop_front()
        {
            self.grow_old(id);
        }
    }

    /// A trace is no longer among the newest.
    fn grow_old(&mut self, id: Id) {
        let Some(entry) = self.traces.get_mut(&id) else {
            return;
        };
        let (size, arrived) = (entry.kept.size, entry.arrived);
        if entry.kept.errors > 0 {
            entry.share = Share::Errors;
            self.error_bytes += size;
            self.errors.push_back(id);
        } else {
            let (name, duration) = (entry.kept.top.name.clone(), entry.kept.duration());
            self.offer(name, duration, arrived, id);
        }
        self.shrink();
    }

    /// Is it among the slowest of its name?
    fn offer(&mut self, name: Box<str>, duration: u64, arrived: Instant, id: Id) {
        let all = self.slowest.entry(name.clone()).or_default();
        let mut out = None;
        if all.len() >= SLOWEST {
            let is_stale = |it: &&Slow| arrived.saturating_duration_since(it.arrived) > STALE;
            let stale = all.iter().filter(is_stale).min_by_key(|it| it.turn);
            let fastest = || all.iter().min_by_key(|it| it.duration);
            let worst = stale.or_else(|| fastest().filter(|it| it.duration < duration));
            match worst.copied() {
                Some(worst) => out = Some(worst),
                None => return self.forget(id),
            }
        }
        let turn = self.next_turn;
        self.next_turn += 1;
        all.push(Slow {
            duration,
            arrived,
            turn,
        });
        self.turns.insert(turn, (name, id));
        if let Some(entry) = self.traces.get_mut(&id) {
            entry.share = Share::Slowest;
            self.slow_bytes += entry.kept.size;
        }
        if let Some(worst) = out {
            self.drop_slow(worst.turn);
        }
    }

    fn drop_slow(&mut self, turn: u64) {
        let Some((name, id)) = self.turns.remove(&turn) else {
            return;
        };
        if let Some(all) = self.slowest.get_mut(&name) {
            all.retain(|it| it.turn != turn);
            if all.is_empty() {
                self.slowest.remove(&name);
            }
        }
        self.forget(id);
    }

    /// Those that have a share of their own stay within it.
    fn shrink(&mut self) {
        while self.error_bytes > self.share()
            && let Some(id) = self.errors.pop_front()
        {
            self.forget(id);
        }
        while self.slow_bytes > self.share()
            && let Some(turn) = self.turns.keys().next().copied()
        {
            self.drop_slow(turn);
        }
    }

    fn forget(&mut self, id: Id) {
        let Some(entry) = self.traces.remove(&id) else {
            return;
        };
        let size = entry.kept.size;
        match entry.share {
            Share::Newest => {}
            Share::Errors => self.error_bytes -= size,
            Share::Slowest => self.slow_bytes -= size,
        }
        self.bytes -= size;
        self.numbers.evicted += 1;
    }
}

#[cfg(test)]
pub(super) mod tests;
