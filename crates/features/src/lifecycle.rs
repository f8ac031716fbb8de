//! The life of a feature: a pure function from the stored status and what is observed to the next status.
//!
//! Whoever believes to lead a feature reads its status, calls [`step`], writes the result with a compare-and-swap, and only then runs
//! the task that it names. Leadership is a hint. Safety comes from the compare-and-swap, the epoch, and these rules:
//!
//! * A server may write new uses only while [`admits`] says so, and acknowledges an epoch and its admission only after the writes that
//!   it admitted before have ended ([`Acknowledgement`]).
//! * A server that cannot renew its Lease stops admitting before others stop to count it as fresh. It admits again only after it has
//!   renewed its Lease, and then read the status.
//! * A task that removes uses lists them first, checks the epoch then, and writes with the resource versions of the list.
//! * What `wait-dependencies` and `wait-dependents` look at is read after the status with this task has been stored.

mod conditions;
mod servers;
mod status;
mod task;

pub use self::conditions::{Condition, ConditionType};
pub use self::servers::{Acknowledgement, admits, wait_servers};
pub use self::status::{
    Admission, Dangling, FeatureStatus, HISTORY_LIMIT, HistoryEntry, State, Transition,
};
pub use self::task::{Blockers, Outcome, Plan, Progress, RunTask, Task, TaskState, name};
use crate::Source;

/// What a leader has observed.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Seconds since any fixed moment.
    pub now: u64,
    /// Whether any fresh server knows the feature.
    pub known: bool,
    /// What the servers want; nothing if they disagree.
    pub target: Option<Target>,
    pub on_dangling: OnDangling,
    /// Dependencies that are not on.
    pub unmet_dependencies: &'a [String],
    /// Features that depend on this one and are not off.
    pub active_dependents: &'a [String],
    /// What the feature needs done to be turned on and off.
    pub plan: &'a Plan,
    /// How the task that ran last ended.
    pub outcome: Option<&'a TaskOutcome>,
    /// How many uses a scan has found since the last step, if there was one.
    pub scanned: Option<u64>,
    /// A feature that is announced is taken over as it is: on, if that is the target. A cluster that ran without the record of
    /// features, or has just begun, has nothing to turn on. Not for a feature whose dependencies could be turned off meanwhile.
    pub adopts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub enabled: bool,
    pub source: Source,
    /// A kill switch: flapping does not delay it.
    pub immediate: bool,
}

/// What to do with uses that cleaning leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDangling {
    Hold,
    Accept,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskOutcome {
    /// The epoch in which the task was started: the outcome of another epoch does not count.
    pub epoch: u64,
    pub task: String,
    pub outcome: Outcome,
}

/// What to store and what to do then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub status: FeatureStatus,
    /// The task to run once the status is stored.
    pub run: Option<RunTask>,
    /// When to look again without a reason from outside.
    pub retry_at: Option<u64>,
    pub conditions: Vec<Condition>,
}

/// So many flips within [`FLAPPING_WINDOW`] are too many.
const FLAPPING_FLIPS: usize = 3;
const FLAPPING_WINDOW: u64 = 600;
/// How long a flapping feature keeps its direction; doubles with each further flip.
const DWELL: u64 = 60;
const LONGEST_DWELL: u64 = 3600;

/// The next status. Nothing if the feature has no status and no server knows it.
pub fn step(current: Option<&FeatureStatus>, inputs: &Inputs<'_>) -> Option<Step> {
    let mut status = match current {
        Some(status) => status.clone(),
        None if inputs.known && is_adopted(inputs) => FeatureStatus::adopted(inputs),
        None if inputs.known => FeatureStatus::announced(inputs.now),
        None => return None,
    };
    let mut retry_at = None;
    if inputs.known && inputs.plan.knows_all(&status) {
        apply_outcome(&mut status, inputs);
        apply_scan(&mut status, inputs.scanned);
        retry_at = flip(&mut status, inputs);
        if is_wanted(&status, inputs) {
            advance(&mut status, inputs);
        }
    }
    let may_run = inputs.known && is_wanted(&status, inputs) && inputs.plan.knows_all(&status);
    let task = status.current_task().filter(|_| may_run);
    let (run, later) = match task {
        Some(task) if task.state == TaskState::Failed => (None, None),
        Some(task) if task.next_attempt > inputs.now => (None, Some(task.next_attempt)),
        Some(task) => (Some(RunTask::of(task, status.epoch)), None),
        None => (None, None),
    };
    Some(Step {
        conditions: conditions::of(&status, inputs, retry_at.is_some()),
        run,
        retry_at: retry_at.into_iter().chain(later).min(),
        status,
    })
}

/// Whether the direction is the target's. Where servers disagree, or a flip has to wait, nothing goes on: a task could remove what the
/// new target wants to keep.
fn is_wanted(status: &FeatureStatus, inputs: &Inputs<'_>) -> bool {
    let direction = status.state.is_towards_on();
    inputs.target.is_some_and(|it| it.enabled == direction)
}

/// Nothing has to be done for the feature to be on.
fn is_adopted(inputs: &Inputs<'_>) -> bool {
    let is_target = inputs.target.is_some_and(|it| it.enabled);
    let is_ready = inputs.unmet_dependencies.is_empty() && inputs.plan.ensure.is_empty();
    inputs.adopts && is_target && is_ready
}

fn apply_outcome(status: &mut FeatureStatus, inputs: &Inputs<'_>) {
    let Some(result) = inputs.outcome else { return };
    let epoch = status.epoch;
    let Some(task) = status.current_task_mut() else {
        return;
    };
    if result.epoch != epoch || result.task != task.name {
        return;
    }
    task.record(&result.outcome, inputs.now);
    let accepts = inputs.on_dangling == OnDangling::Accept && inputs.plan.is_cleanup(&task.name);
    if accepts && task.state == TaskState::Blocked {
        // What cannot be removed is counted by the scan that follows.
        task.record(&Outcome::Done, inputs.now);
    }
    if task.name == name::VERIFY_CLEAN {
        verified(status, &result.outcome, inputs);
    }
}

/// Uses that are left: accepted, or cleaned once more.
fn verified(status: &mut FeatureStatus, outcome: &Outcome, inputs: &Inputs<'_>) {
    match outcome {
        Outcome::Done => status.dangling = Dangling::None,
        Outcome::Blocked(_) => {
            let count = status.current_task().map_or(0, |it| it.blockers.count);
            status.dangling = Dangling::Found(count);
            let accept = inputs.on_dangling == OnDangling::Accept;
            let Some(transition) = &mut status.transition else {
                return;
            };
            for task in &mut transition.tasks {
                if accept && task.name == name::VERIFY_CLEAN {
                    task.state = TaskState::Done;
                } else if !accept && inputs.plan.is_cleanup(&task.name) {
                    task.restart(inputs.now);
                }
            }
        }
        _ => {}
    }
}

fn apply_scan(status: &mut FeatureStatus, scanned: Option<u64>) {
    if let (State::Off, Some(count)) = (status.state, scanned) {
        status.dangling = if count == 0 {
            Dangling::None
        } else {
            Dangling::Found(count)
        };
    }
}

/// Starts a transition if the target is the other direction. When a flip has to wait because the feature flaps: until when.
fn flip(status: &mut FeatureStatus, inputs: &Inputs<'_>) -> Option<u64> {
    let target = inputs.target?;
    if status.state.is_towards_on() == target.enabled {
        return None;
    }
    let unmet = if target.enabled {
        inputs.unmet_dependencies
    } else {
        inputs.active_dependents
    };
    if !unmet.is_empty() {
        return None;
    }
    let is_kill_switch = target.immediate && !target.enabled;
    if let Some(until) = dwells_until(status, inputs.now).filter(|_| !is_kill_switch) {
        return Some(until);
    }
    let plan = inputs.plan;
    let tasks = if target.enabled {
        plan.tasks_on()
    } else {
        plan.tasks_off()
    };
    status.begin(target, tasks, plan, inputs.now);
    None
}

/// Until when a flapping feature keeps its direction.
fn dwells_until(status: &FeatureStatus, now: u64) -> Option<u64> {
    let recent = status.flips.iter();
    let recent = recent.filter(|at| now.saturating_sub(**at) < FLAPPING_WINDOW);
    let count = recent.count();
    let last = status.flips.last()?;
    let beyond = u32::try_from(count.checked_sub(FLAPPING_FLIPS)?).unwrap_or(u32::MAX);
    let dwell = DWELL.saturating_mul(2_u64.saturating_pow(beyond));
    let until = last.saturating_add(dwell.min(LONGEST_DWELL));
    (until > now).then_some(until)
}

/// Does what needs nobody else, and ends the transition after the last task.
fn advance(status: &mut FeatureStatus, inputs: &Inputs<'_>) {
    loop {
        let admission = match status.current_task() {
            Some(task) if task.name == name::OPEN_ADMISSION => Admission::Open,
            Some(task) if task.name == name::CLOSE_ADMISSION => Admission::Closed,
            Some(_) => return,
            None => break,
        };
        status.admission = admission;
        if let Some(task) = status.current_task_mut() {
            task.record(&Outcome::Done, inputs.now);
        }
    }
    if status.transition.is_some() {
        status.complete(inputs.now);
    }
}
