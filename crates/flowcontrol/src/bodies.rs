//! How many bytes of bodies may be in memory whose requests hold no seat, because their clients take their time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Room for bodies, which users share: each may have as much as is left free. One alone gets half of it, `n` that want all
/// of it get a part of `n + 1` each, and whoever comes next finds as much.
#[derive(Debug)]
pub struct BodyBudget {
    total: usize,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    all: usize,
    users: HashMap<String, usize>,
}

/// A user has as much in memory as it may have now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{used} bytes of request bodies are being received already")]
pub struct OverBudget {
    /// By this user.
    pub used: usize,
}

/// The part of the room that exempt requests find, whatever others do: one of so many.
const RESERVED: usize = 4;

impl BodyBudget {
    pub fn new(total: usize) -> Self {
        Self {
            total,
            used: Mutex::default(),
        }
    }

    /// Takes room for more of a user's bytes.
    pub fn take(&self, user: &str, bytes: usize, is_exempt: bool) -> Result<(), OverBudget> {
        let mut used = self.used();
        let own = used.users.get(user).copied().unwrap_or_default();
        let most = if is_exempt {
            self.total - used.all.min(self.total) + own
        } else {
            (self.total - self.total / RESERVED).saturating_sub(used.all)
        };
        if own.saturating_add(bytes) > most {
            return Err(OverBudget { used: own });
        }
        used.all += bytes;
        match used.users.get_mut(user) {
            Some(own) => *own += bytes,
            None => drop(used.users.insert(user.to_owned(), bytes)),
        }
        Ok(())
    }

    pub fn give_back(&self, user: &str, bytes: usize) {
        let mut used = self.used();
        used.all = used.all.saturating_sub(bytes);
        if let Some(own) = used.users.get_mut(user) {
            *own = own.saturating_sub(bytes);
            if *own == 0 {
                used.users.remove(user);
            }
        }
    }

    /// By all users.
    pub fn used_bytes(&self) -> usize {
        self.used().all
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a user gets by asking for one after the other.
    fn fill(budget: &BodyBudget, user: &str) -> usize {
        let taken = (0..).take_while(|_| budget.take(user, 1, false).is_ok());
        taken.count()
    }

    #[test]
    fn users_share_what_there_is() {
        let budget = BodyBudget::new(800);
        assert_eq!(fill(&budget, "greedy"), 300);
        assert_eq!(fill(&budget, "second"), 150);
        assert_eq!(fill(&budget, "third"), 75);
        let refused = budget.take("greedy", 1, false);
        assert_eq!(refused, Err(OverBudget { used: 300 }));
        budget.take("admin", 200, true).unwrap();
        budget.give_back("greedy", 300);
        budget.give_back("second", 150);
        budget.give_back("third", 75);
        budget.give_back("admin", 200);
        assert_eq!(budget.used_bytes(), 0);
        assert!(budget.used().users.is_empty());
    }

    #[test]
    fn exempt_requests_find_room_until_all_is_full() {
        let budget = BodyBudget::new(800);
        for user in 0..1000 {
            fill(&budget, &user.to_string());
        }
        assert!(budget.used_bytes() <= 600);
        budget.take("admin", 200, true).unwrap();
        assert!(budget.take("admin", 2, true).is_err());
    }
}
