//! The store says itself in which order things happened: its revisions. That order must make sense as well.

use super::{Call, History, Op, Outcome, Violation};

impl History {
    /// Goes through commits and reads in the order of their revisions: each answer fits, none is out of its time, and
    /// no revision is given twice. Says nothing if an outcome is unknown.
    pub fn check_revisions(&self) -> Result<(), Violation> {
        if self
            .calls
            .iter()
            .any(|call| call.outcome == Outcome::Unknown)
        {
            return Ok(());
        }
        let mut ordered: Vec<_> = self
            .calls
            .iter()
            .filter_map(|call| Some((call.revision?, !changes(call), call)))
            .collect();
        // A read at a revision comes after the commit that made it.
        ordered.sort_by_key(|(revision, reads, call)| (*revision, *reads, call.invoked));
        let mut state = self.initial;
        let mut last_commit = None;
        for (revision, reads, call) in &ordered {
            if !reads && last_commit.replace(*revision) == Some(*revision) {
                return violation("its revision was given twice", call);
            }
            state = match call.op.apply(&state, &call.outcome) {
                Some(next) => next,
                None => return violation("its answer is not that of its revision", call),
            };
        }
        // The latest invocation among all that come later in the order must not be before any return earlier in time.
        let mut latest_invoked = 0;
        for (_, _, call) in &ordered {
            if call.returned < latest_invoked {
                return violation(
                    "it returned before one with a lower revision was invoked",
                    call,
                );
            }
            latest_invoked = latest_invoked.max(call.invoked);
        }
        Ok(())
    }
}

fn changes(call: &Call) -> bool {
    match (&call.op, &call.outcome) {
        (Op::Write { writes, .. }, Outcome::Committed(Some(previous))) => writes
            .iter()
            .zip(previous)
            .any(|((_, value), previous)| *value != 0 || *previous != 0),
        (Op::Write { .. }, Outcome::Committed(None)) => true,
        _ => false,
    }
}

fn violation(why: &str, call: &Call) -> Result<(), Violation> {
    Err(Violation {
        why: format!("{why}: {call:?}"),
    })
}
