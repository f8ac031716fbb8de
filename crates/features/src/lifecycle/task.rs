//! The tasks of a transition: ordered, stored, run at least once, and idempotent.

use super::status::FeatureStatus;

/// The tasks that every transition has.
pub mod name {
    pub const WAIT_DEPENDENCIES: &str = "wait-dependencies";
    pub const WAIT_DEPENDENTS: &str = "wait-dependents";
    pub const WAIT_SERVERS: &str = "wait-servers";
    pub const WAIT_USES: &str = "wait-uses";
    pub const OPEN_ADMISSION: &str = "open-admission";
    pub const CLOSE_ADMISSION: &str = "close-admission";
    pub const VERIFY_CLEAN: &str = "verify-clean";

    pub(super) const ALL: [&str; 7] = [
        WAIT_DEPENDENCIES,
        WAIT_DEPENDENTS,
        WAIT_SERVERS,
        WAIT_USES,
        OPEN_ADMISSION,
        CLOSE_ADMISSION,
        VERIFY_CLEAN,
    ];
}

/// What a feature needs beyond that, in order: `ensure-crd(...)`, `strip-field(...)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub ensure: Vec<String>,
    pub cleanup: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    pub name: String,
    pub state: TaskState,
    /// Attempts that failed since the last progress.
    pub attempts: u32,
    pub next_attempt: u64,
    pub progress: Progress,
    /// Objects that keep the task from ending.
    pub blockers: Blockers,
    /// Why the last attempt failed.
    pub message: Option<String>,
}

/// How far a task is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// Objects that were changed.
    pub done: u64,
    /// Objects that were looked at.
    pub total: u64,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// What keeps a task from ending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Blockers {
    pub count: u64,
    /// Some of them: `statefulsets.apps/default/web`.
    pub samples: Vec<String>,
}

impl Blockers {
    /// So many samples are kept.
    pub const SAMPLES: usize = 20;
}

impl From<Vec<String>> for Blockers {
    fn from(mut all: Vec<String>) -> Self {
        let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
        all.truncate(Self::SAMPLES);
        Self {
            count,
            samples: all,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskState {
    Pending,
    Running,
    /// Waits for the objects in `blockers`.
    Blocked,
    /// Waits for its next attempt.
    Retrying,
    /// No attempt can succeed: only a flip ends this.
    Failed,
    Done,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Done,
    /// Not at the end yet; the next attempt goes on at the cursor.
    Progress(Progress),
    Blocked(Blockers),
    Retry(String),
    Fatal(String),
}

/// A task to run, with the epoch that must still be the stored one whenever it writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunTask {
    pub epoch: u64,
    pub name: String,
    pub progress: Progress,
}

/// The delay after the first failure; doubles up to [`LONGEST_BACKOFF`]. Whoever runs tasks adds jitter.
const BACKOFF: u64 = 1;
const LONGEST_BACKOFF: u64 = 300;

/// How long after a scan found uses again they are cleaned again.
const RESTART_DELAY: u64 = 5;

impl Plan {
    pub(super) fn tasks_on(&self) -> Vec<Task> {
        let before = [name::WAIT_DEPENDENCIES].into_iter();
        let ensure = self.ensure.iter().map(String::as_str);
        let after = [name::WAIT_SERVERS, name::OPEN_ADMISSION, name::WAIT_USES];
        before.chain(ensure).chain(after).map(Task::new).collect()
    }

    /// Uses are removed only after all servers and clients have stopped to write them, else they would come back.
    pub(super) fn tasks_off(&self) -> Vec<Task> {
        let before = [
            name::WAIT_DEPENDENTS,
            name::CLOSE_ADMISSION,
            name::WAIT_SERVERS,
            name::WAIT_USES,
        ];
        let cleanup = self.cleanup.iter().map(String::as_str);
        let after = [name::VERIFY_CLEAN];
        let all = before.into_iter().chain(cleanup).chain(after);
        all.map(Task::new).collect()
    }

    pub(super) fn is_cleanup(&self, task: &str) -> bool {
        self.cleanup.iter().any(|it| it == task)
    }

    /// Whether this binary can lead the feature: it knows every stored task that is not done.
    pub fn knows_all(&self, status: &FeatureStatus) -> bool {
        let tasks = status.transition.iter().flat_map(|it| &it.tasks);
        let mut open = tasks.filter(|it| it.state != TaskState::Done);
        open.all(|task| {
            let own = || self.ensure.iter().chain(&self.cleanup);
            name::ALL.contains(&&*task.name) || own().any(|it| *it == task.name)
        })
    }
}

impl Task {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            state: TaskState::Pending,
            attempts: 0,
            next_attempt: 0,
            progress: Progress::default(),
            blockers: Blockers::default(),
            message: None,
        }
    }

    /// Starts over, after a while.
    pub(super) fn restart(&mut self, now: u64) {
        *self = Self::new(&self.name);
        self.next_attempt = now.saturating_add(RESTART_DELAY);
    }

    pub(super) fn has_begun(&self) -> bool {
        self.state != TaskState::Pending
    }

    pub(super) fn record(&mut self, outcome: &Outcome, now: u64) {
        self.blockers = Blockers::default();
        self.message = None;
        self.next_attempt = now;
        match outcome {
            Outcome::Done => {
                self.state = TaskState::Done;
                self.attempts = 0;
            }
            Outcome::Progress(progress) => {
                self.state = TaskState::Running;
                self.attempts = 0;
                self.progress.clone_from(progress);
            }
            Outcome::Blocked(objects) => {
                self.state = TaskState::Blocked;
                self.attempts = 0;
                self.blockers.clone_from(objects);
            }
            Outcome::Retry(why) => {
                self.state = TaskState::Retrying;
                let delay = BACKOFF.saturating_mul(2_u64.saturating_pow(self.attempts));
                self.next_attempt = now.saturating_add(delay.min(LONGEST_BACKOFF));
                self.attempts = self.attempts.saturating_add(1);
                self.message = Some(why.clone());
            }
            Outcome::Fatal(why) => {
                self.state = TaskState::Failed;
                self.message = Some(why.clone());
            }
        }
    }
}

impl RunTask {
    pub(super) fn of(task: &Task, epoch: u64) -> Self {
        Self {
            epoch,
            name: task.name.clone(),
            progress: task.progress.clone(),
        }
    }
}
