//! A line about something that may happen many times a second, at most once in a while.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lets the first through at once, and after that one in each `pause`.
#[derive(Debug)]
pub struct Limited {
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    next: Option<Instant>,
    held_back: u64,
}

impl Limited {
    pub const fn new(pause: Duration) -> Self {
        Self {
            pause,
            state: Mutex::new(State {
                next: None,
                held_back: 0,
            }),
        }
    }

    /// Whether to write a line now; if so, how many were held back since the last one.
    pub fn admit(&self) -> Option<u64> {
        self.admit_at(Instant::now())
    }

    fn admit_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.next.is_some_and(|next| now < next) {
            state.held_back += 1;
            return None;
        }
        state.next = Some(now + self.pause);
        Some(std::mem::take(&mut state.held_back))
    }
}

/// The same for each of several things, told apart by name. Names beyond the first thousand share one.
#[derive(Debug)]
pub struct LimitedBy {
    pause: Duration,
    all: Mutex<HashMap<Box<str>, Limited>>,
}

impl LimitedBy {
    const MOST: usize = 1000;

    pub fn new(pause: Duration) -> Self {
        Self {
            pause,
            all: Mutex::default(),
        }
    }

    /// Whether to write a line about this now; if so, how many were held back since the last one.
    pub fn admit(&self, name: &str) -> Option<u64> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = all.contains_key(name);
        let name = if is_known || all.len() < Self::MOST {
            name
        } else {
            ""
        };
        if let Some(known) = all.get(name) {
            return known.admit();
        }
        let limited = all.entry(name.into()).or_insert(Limited::new(self.pause));
        limited.admit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_at_once_then_one_in_a_while_with_their_number() {
        let limited = Limited::new(Duration::from_secs(60));
        let start = Instant::now();
        let at = |seconds| limited.admit_at(start + Duration::from_secs(seconds));
        assert_eq!(at(0), Some(0));
        assert_eq!(at(1), None);
        assert_eq!(at(59), None);
        assert_eq!(at(60), Some(2));
        assert_eq!(at(61), None);
        assert_eq!(at(1000), Some(1));
    }

    #[test]
    fn each_name_for_itself_up_to_a_number() {
        let limited = LimitedBy::new(Duration::from_secs(3600));
        for name in 0..LimitedBy::MOST {
            assert_eq!(limited.admit(&name.to_string()), Some(0));
        }
        assert_eq!(limited.admit("0"), None);
        assert_eq!(limited.admit("another"), Some(0), "the first of the rest");
        assert_eq!(limited.admit("and another"), None);
    }
}
