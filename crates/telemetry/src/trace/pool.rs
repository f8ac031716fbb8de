//! Arenas that wait for their next request.

use std::cell::RefCell;

use super::arena::Arena;

/// Each thread keeps so many.
const KEPT: usize = 64;

thread_local! {
    // The boxes are what is handed around: an arena is not moved.
    #[allow(clippy::vec_box)]
    static FREE: RefCell<Vec<Box<Arena>>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn take() -> Box<Arena> {
    let free = FREE.with_borrow_mut(Vec::pop);
    free.unwrap_or_else(|| Box::new(Arena::new()))
}

/// For the next request on this thread: it finds the memory where the last one had it.
pub(super) fn give_back(mut arena: Box<Arena>) {
    arena.clear();
    if !arena.is_small() {
        return;
    }
    FREE.with_borrow_mut(|free| {
        if free.len() < KEPT {
            free.push(arena);
        }
    });
}
