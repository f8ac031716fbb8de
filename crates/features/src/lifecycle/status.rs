//! What is stored of a feature.

use super::task::{Plan, Task, TaskState};
use super::{Inputs, Source, Target};

/// So many state changes are remembered.
pub const HISTORY_LIMIT: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Off, and what was to be cleaned is clean or accepted.
    Off,
    /// On its way to on.
    TurningOn,
    /// On everywhere.
    On,
    /// On its way to off.
    TurningOff,
}

impl State {
    pub fn is_towards_on(self) -> bool {
        matches!(self, Self::On | Self::TurningOn)
    }
}

/// Whether new uses may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Admission {
    Open,
    Closed,
}

/// Uses in storage while the feature is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dangling {
    /// Nobody has looked since the feature could be used.
    Unknown,
    /// Verified: there are none.
    None,
    Found(u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FeatureStatus {
    pub state: State,
    pub since: u64,
    /// Rises by one with each transition: the fencing token of tasks.
    pub epoch: u64,
    pub admission: Admission,
    /// In `TurningOn` and `TurningOff` only.
    pub transition: Option<Transition>,
    pub dangling: Dangling,
    /// When transitions began, the latest last.
    pub flips: Vec<u64>,
    /// Every state change, the latest last.
    pub history: Vec<HistoryEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transition {
    pub source: Source,
    pub started_at: u64,
    /// In the order in which they run.
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HistoryEntry {
    pub epoch: u64,
    /// Nothing for the first one.
    pub from: Option<State>,
    pub to: State,
    pub at: u64,
    pub source: Source,
    /// The change interrupted a transition that had already removed some uses.
    pub partial_cleanup: bool,
}

impl FeatureStatus {
    /// Of a feature that a server has announced for the first time: off. It may hold uses of an earlier time.
    pub(super) fn announced(now: u64) -> Self {
        Self {
            state: State::Off,
            since: now,
            epoch: 1,
            admission: Admission::Closed,
            transition: None,
            dangling: Dangling::Unknown,
            flips: Vec::new(),
            history: vec![HistoryEntry {
                epoch: 1,
                from: None,
                to: State::Off,
                at: now,
                source: Source::Default,
                partial_cleanup: false,
            }],
        }
    }

    /// Of a feature that was on before it was announced.
    pub(super) fn adopted(inputs: &Inputs<'_>) -> Self {
        let mut status = Self::announced(inputs.now);
        status.state = State::On;
        status.admission = Admission::Open;
        for entry in &mut status.history {
            entry.to = State::On;
            entry.source = inputs.target.map_or(entry.source, |it| it.source);
        }
        status
    }

    /// The first task that is not done.
    pub fn current_task(&self) -> Option<&Task> {
        let mut tasks = self.transition.iter().flat_map(|it| &it.tasks);
        tasks.find(|it| it.state != TaskState::Done)
    }

    pub(super) fn current_task_mut(&mut self) -> Option<&mut Task> {
        let tasks = self.transition.iter_mut().flat_map(|it| &mut it.tasks);
        let mut tasks = tasks;
        tasks.find(|it| it.state != TaskState::Done)
    }

    pub(super) fn begin(&mut self, target: Target, tasks: Vec<Task>, plan: &Plan, now: u64) {
        let interrupted = self.transition.iter().flat_map(|it| &it.tasks);
        let mut cleanup = interrupted.filter(|it| plan.is_cleanup(&it.name));
        let partial_cleanup = cleanup.any(Task::has_begun);
        let state = if target.enabled {
            self.dangling = Dangling::Unknown;
            State::TurningOn
        } else {
            State::TurningOff
        };
        self.epoch += 1;
        self.transition = Some(Transition {
            source: target.source,
            started_at: now,
            tasks,
        });
        // The history limit is more than enough to tell a flapping feature.
        self.flips.push(now);
        let surplus = self.flips.len().saturating_sub(HISTORY_LIMIT);
        self.flips.drain(..surplus);
        self.change(state, target.source, partial_cleanup, now);
    }

    pub(super) fn complete(&mut self, now: u64) {
        let Some(transition) = self.transition.take() else {
            return;
        };
        let state = if self.state == State::TurningOn {
            State::On
        } else {
            State::Off
        };
        self.change(state, transition.source, false, now);
    }

    fn change(&mut self, to: State, source: Source, partial_cleanup: bool, now: u64) {
        self.history.push(HistoryEntry {
            epoch: self.epoch,
            from: Some(self.state),
            to,
            at: now,
            source,
            partial_cleanup,
        });
        let surplus = self.history.len().saturating_sub(HISTORY_LIMIT);
        self.history.drain(..surplus);
        self.state = to;
        self.since = now;
    }
}
