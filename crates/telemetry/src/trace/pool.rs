//! Arenas that wait for their next request.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use super::arena::Arena;

/// Each thread keeps so many of those that were not recorded, and all together so many of the others.
const HERE: usize = 8;
const SHARED: usize = 1024;

// The boxes are what is handed around: an arena is not moved.
#[derive(Debug, Default)]
#[allow(clippy::vec_box)]
pub(super) struct Pool(Mutex<Vec<Box<Arena>>>);

thread_local! {
    #[allow(clippy::vec_box)]
    static FREE: RefCell<Vec<Box<Arena>>> = const { RefCell::new(Vec::new()) };
}

impl Pool {
    pub(super) fn take(&self) -> Box<Arena> {
        let here = FREE.with_borrow_mut(|free| {
            if free.is_empty() {
                // One look at the shared ones is good for several requests.
                let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let rest = shared.len().saturating_sub(HERE);
                free.extend(shared.drain(rest..));
            }
            free.pop()
        });
        here.unwrap_or_else(|| Box::new(Arena::new()))
    }

    /// From the exporter's thread.
    pub(super) fn give_back(&self, mut arena: Box<Arena>) {
        arena.clear();
        if !arena.is_small() {
            return;
        }
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.len() < SHARED {
            shared.push(arena);
        }
    }
}

/// For the next request on this thread.
pub(super) fn keep_here(mut arena: Box<Arena>) {
    arena.clear();
    if !arena.is_small() {
        return;
    }
    FREE.with_borrow_mut(|free| {
        if free.len() < HERE {
            free.push(arena);
        }
    });
}
