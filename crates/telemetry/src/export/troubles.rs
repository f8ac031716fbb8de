//! What goes wrong with sending, as the log has it: when it begins and when it is over, and not too often.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{Outcome, Signal};
use crate::logs::{self, Field, TELEMETRY};

/// Between two lines about one signal. What is told of logs is a line of the log, too, and must not feed itself.
const PAUSE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Troubles {
    signal: Signal,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What went wrong last, if all is not well again.
    now: Option<String>,
    /// The same, as far as the log knows.
    told: Option<String>,
    /// How many were dropped, as far as the log knows.
    dropped: u64,
    next: Option<Instant>,
}

/// What the log is to be told.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Trouble(String),
    Well,
    Dropped(u64),
}

impl Troubles {
    pub(super) fn new(signal: Signal) -> Self {
        Self {
            signal,
            state: Mutex::default(),
        }
    }

    /// What went wrong last, if all is not well again.
    pub(super) fn last(&self) -> Option<String> {
        self.lock().now.clone()
    }

    pub(super) fn note(&self, outcome: &Outcome) {
        let trouble = (outcome.rejected > 0).then(|| outcome.said.clone());
        self.lock().now = trouble.map(Option::unwrap_or_default);
    }

    /// Tells what is new; to be called now and then, with the number of all that were dropped so far.
    pub(super) fn tell(&self, dropped: u64) {
        // Not told under the lock: the line may be of use to who reads it.
        let line = self.lock().line(dropped, Instant::now());
        let signal = match self.signal {
            Signal::Traces => "traces",
            Signal::Metrics => "metrics",
            Signal::Logs => "logs",
        };
        let signal = ("signal", Field::Text(signal));
        match line {
            None => {}
            Some(Line::Trouble(why)) => {
                let fields = [signal, ("error", Field::Text(&why))];
                logs::warning(&TELEMETRY, "Export failed", &fields);
            }
            Some(Line::Well) => {
                logs::info(&TELEMETRY, "Export works again", &[signal]);
            }
            Some(Line::Dropped(count)) => {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                let fields = [signal, ("count", Field::Number(count))];
                logs::warning(
                    &TELEMETRY,
                    "There was no room for all, some are lost",
                    &fields,
                );
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn line(&mut self, dropped: u64, now: Instant) -> Option<Line> {
        if self.next.is_some_and(|next| now < next) {
            return None;
        }
        let line = if self.now != self.told {
            self.told.clone_from(&self.now);
            self.told.clone().map_or(Line::Well, Line::Trouble)
        } else if dropped > self.dropped {
            let new = dropped - self.dropped;
            self.dropped = dropped;
            Line::Dropped(new)
        } else {
            return None;
        };
        self.next = Some(now + PAUSE);
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_told_once_and_not_too_often() {
        let (start, mut state) = (Instant::now(), State::default());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(state.line(0, at(0)), None);
        state.now = Some("gone".into());
        assert_eq!(state.line(0, at(0)), Some(Line::Trouble("gone".into())));
        assert_eq!(state.line(0, at(100)), None, "the same");
        state.now = None;
        assert_eq!(state.line(0, at(100)), Some(Line::Well));
        // Comes and goes: what counts when the pause is over is told.
        state.now = Some("gone".into());
        assert_eq!(state.line(0, at(101)), None);
        state.now = Some("late".into());
        assert_eq!(state.line(0, at(109)), None);
        assert_eq!(state.line(0, at(110)), Some(Line::Trouble("late".into())));
        state.now = None;
        assert_eq!(state.line(7, at(120)), Some(Line::Well));
        assert_eq!(state.line(9, at(125)), None);
        assert_eq!(state.line(9, at(130)), Some(Line::Dropped(9)));
        assert_eq!(state.line(10, at(140)), Some(Line::Dropped(1)));
        assert_eq!(state.line(10, at(150)), None);
    }
}
