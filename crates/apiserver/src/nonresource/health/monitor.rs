//! Logs each change of a health check once, with its reason, also when no client asks for it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use telemetry::logs::{self, Field, SERVER};
use tokio::time::Instant;

use super::checks;
use crate::state::Api;

/// How often the checks are looked at. They read memory only.
const PERIOD: Duration = Duration::from_secs(1);
/// Between two lines that a check fails: it may come and go.
const PAUSE: Duration = Duration::from_secs(10);
/// Between two lines that it fails for another reason than before.
const OTHER_REASON: Duration = Duration::from_secs(60);

const STARTED: &str = "informer-sync";

/// What can change while a server runs, each once.
const WATCHED: [checks::Check; 4] = [
    ("etcd", checks::etcd),
    ("storage", checks::storage),
    (STARTED, checks::started),
    ("storage-checkpoint", checks::checkpoints),
];

/// Looks at the checks until the server stops, counts their changes and logs them.
pub fn monitor(api: &Arc<Api>) {
    tokio::spawn(run(Arc::downgrade(api)));
}

async fn run(api: Weak<Api>) {
    let mut states = WATCHED.map(|_| State::default());
    let begun = Instant::now();
    loop {
        tokio::time::sleep(PERIOD).await;
        let Some(api) = api.upgrade() else {
            return;
        };
        if api.lifecycle().is_stopping() {
            return;
        }
        for ((name, check), state) in WATCHED.iter().zip(&mut states) {
            // A start that takes its time has not failed yet.
            if *name == STARTED && begun.elapsed() < PAUSE {
                continue;
            }
            let outcome = check(&api);
            let is_well = outcome.is_ok();
            if state.is_failing == is_well {
                state.is_failing = !is_well;
                api.metrics().health.changed(name, is_well);
            }
            if let Some(line) = state.line(outcome.err(), Instant::now()) {
                tell(name, &line);
            }
        }
    }
}

fn tell(name: &str, line: &Line) {
    let check = ("check", Field::Text(name));
    match line {
        Line::Failed(reason) => {
            let fields = [check, ("reason", Field::Text(reason))];
            logs::error(&SERVER, "Health check failed", &fields);
        }
        Line::Passed(after) => {
            let fields = [check, ("after", Field::Took(*after))];
            logs::info(&SERVER, "Health check passes again", &fields);
        }
    }
}

#[derive(Debug, Default)]
struct State {
    is_failing: bool,
    /// Why it fails and since when, as far as the log knows.
    told: Option<(String, Instant)>,
    /// When the next failure may be logged.
    next: Option<Instant>,
}

/// What is logged.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Failed(String),
    Passed(Duration),
}

impl State {
    fn line(&mut self, failure: Option<String>, now: Instant) -> Option<Line> {
        let is_early = |after: Option<Instant>| after.is_some_and(|next| now < next);
        match (failure, &mut self.told) {
            (None, None) => None,
            (None, Some((_, since))) => {
                let after = now - *since;
                self.told = None;
                Some(Line::Passed(after))
            }
            (Some(_), None) if is_early(self.next) => None,
            (Some(reason), None) => {
                self.told = Some((reason.clone(), now));
                self.next = Some(now + PAUSE);
                Some(Line::Failed(reason))
            }
            (Some(reason), Some((told, since))) => {
                if reason == *told || is_early(Some(*since + OTHER_REASON).max(self.next)) {
                    return None;
                }
                told.clone_from(&reason);
                self.next = Some(now + OTHER_REASON);
                Some(Line::Failed(reason))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told_once_and_not_too_often() {
        let (start, mut state) = (Instant::now(), State::default());
        let at = |seconds| start + Duration::from_secs(seconds);
        let failed = |reason: &str| Some(Line::Failed(reason.to_owned()));
        let passed = |seconds| Some(Line::Passed(Duration::from_secs(seconds)));
        let mut line = |reason: Option<&str>, seconds| {
            let reason = reason.map(str::to_owned);
            state.line(reason, at(seconds))
        };
        assert_eq!(line(None, 0), None);
        assert_eq!(line(Some("full"), 1), failed("full"));
        assert_eq!(line(Some("full"), 100), None, "the same");
        assert_eq!(line(None, 101), passed(100));
        assert_eq!(line(None, 102), None);
        // Comes and goes.
        assert_eq!(line(Some("full"), 103), failed("full"));
        assert_eq!(line(None, 104), passed(1));
        assert_eq!(line(Some("full"), 105), None, "too early");
        assert_eq!(line(None, 106), None, "nobody was told");
        assert_eq!(line(Some("full"), 113), failed("full"));
        // Another reason, again and again.
        assert_eq!(line(Some("revision 1"), 120), None);
        assert_eq!(line(Some("revision 2"), 173), failed("revision 2"));
        assert_eq!(line(Some("revision 3"), 200), None);
        assert_eq!(line(Some("revision 4"), 233), failed("revision 4"));
        assert_eq!(line(None, 234), passed(121));
    }
}
