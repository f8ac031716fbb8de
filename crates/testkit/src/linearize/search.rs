//! The search for an order.

use std::collections::HashSet;

use super::{Call, History, Outcome, State, Violation};

/// Calls of a history, one bit each.
type Set = u128;

impl History {
    /// Finds an order of the calls, within their times, in which every answer is right.
    pub fn check(&self) -> Result<(), Violation> {
        assert!(
            self.calls.len() <= Set::BITS as usize,
            "a history is at most 128 calls"
        );
        let mut search = Search {
            calls: &self.calls,
            // Open calls may come last or never.
            needed: bits(&self.calls, |call| call.outcome != Outcome::Unknown),
            tried: HashSet::new(),
            furthest: (0, self.initial),
        };
        if search.from(0, self.initial) {
            return Ok(());
        }
        Err(search.violation())
    }
}

struct Search<'a> {
    calls: &'a [Call],
    needed: Set,
    tried: HashSet<(Set, State)>,
    /// The longest order that was right, and the state it led to.
    furthest: (Set, State),
}

fn bits(calls: &[Call], which: impl Fn(&Call) -> bool) -> Set {
    let chosen = calls.iter().enumerate().filter(|(_, call)| which(call));
    chosen.fold(0, |set, (index, _)| set | 1 << index)
}

impl Search<'_> {
    /// Depth is at most the number of calls.
    fn from(&mut self, done: Set, state: State) -> bool {
        if done & self.needed == self.needed {
            return true;
        }
        if !self.tried.insert((done, state)) {
            return false;
        }
        if (done & self.needed).count_ones() > (self.furthest.0 & self.needed).count_ones() {
            self.furthest = (done, state);
        }
        self.candidates(done).any(|index| {
            let call = &self.calls[index];
            call.op
                .apply(&state, &call.outcome)
                .is_some_and(|next| self.from(done | 1 << index, next))
        })
    }

    /// Calls that may come next: not done, and invoked before any other that is not done returned.
    fn candidates(&self, done: Set) -> impl Iterator<Item = usize> + use<> {
        let open = |index: usize| done & 1 << index == 0;
        let known = |index: usize| self.needed & 1 << index != 0;
        let calls = self.calls.iter().enumerate();
        let first_return = calls
            .filter(|(index, _)| open(*index) && known(*index))
            .map(|(_, call)| call.returned)
            .min()
            .unwrap_or(u64::MAX);
        let calls = self.calls.iter().enumerate();
        let mut next: Vec<_> = calls
            .filter(|(index, call)| open(*index) && call.invoked <= first_return)
            .map(|(index, _)| index)
            .collect();
        // What returned first probably happened first; what never returned is the last thing to try.
        next.sort_by_key(|index| (!known(*index), self.calls[*index].returned));
        next.into_iter()
    }

    fn violation(&self) -> Violation {
        let (done, state) = self.furthest;
        let list = |calls: Vec<&Call>| {
            let lines: Vec<_> = calls.iter().map(|call| format!("  {call:?}")).collect();
            lines.join("\n")
        };
        let stuck = list(
            self.candidates(done)
                .map(|index| &self.calls[index])
                .collect(),
        );
        let all = list(self.calls.iter().collect());
        let why = format!(
            "no order explains these calls; at best the state is {state:?} before\n{stuck}\nall calls:\n{all}"
        );
        Violation { why }
    }
}
