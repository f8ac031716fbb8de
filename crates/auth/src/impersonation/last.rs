//! Which mode a sender used last.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use super::mode::Mode;

/// More senders than this are not remembered.
const MOST: usize = 10_000;

/// The mode that last allowed each sender to be someone else. It is tried first, so that who uses the old verb is
/// not asked about the new ones each time. It is more than speed: an answer may depend on it, for a node is in the
/// group of nodes in the new modes only, and the refusal shown is that of the mode tried first.
#[derive(Debug, Default)]
pub struct LastModes {
    // Names are as long as their issuer likes: only their hashes are kept. Two of one hash share an order.
    modes: Mutex<HashMap<u64, Mode>>,
    hasher: RandomState,
}

impl LastModes {
    pub(super) fn get(&self, sender: &str) -> Option<Mode> {
        let modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        modes.get(&self.hasher.hash_one(sender)).copied()
    }

    pub(super) fn set(&self, sender: &str, mode: Mode) {
        let key = self.hasher.hash_one(sender);
        let mut modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        if modes.len() >= MOST && !modes.contains_key(&key) {
            modes.clear();
        }
        modes.insert(key, mode);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_are_remembered_until_there_are_too_many() {
        let last = LastModes::default();
        let modes = [Mode::Legacy, Mode::UserInfo];
        last.set("first", modes[0]);
        for at in 1..MOST {
            last.set(&at.to_string(), modes[1]);
        }
        assert_eq!(last.get("first"), Some(modes[0]));
        last.set("first", modes[1]);
        assert_eq!(last.get("first"), Some(modes[1]));
        assert_eq!(last.get("1"), Some(modes[1]), "no new sender came");
        last.set("one more", modes[0]);
        assert_eq!(last.get("first"), None);
        assert_eq!(last.get("one more"), Some(modes[0]));
    }
}
