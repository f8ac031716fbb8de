//! What a status means to people.

use std::fmt::Write as _;

use super::Inputs;
use super::status::{Dangling, FeatureStatus, State};
use super::task::{Blockers, TaskState, name};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub kind: ConditionType,
    /// Nothing: unknown.
    pub status: Option<bool>,
    pub reason: &'static str,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionType {
    Agreed,
    UsesSettled,
    Clean,
    Blocked,
    DependenciesSatisfied,
    Known,
    Flapping,
}

pub(super) fn of(status: &FeatureStatus, inputs: &Inputs<'_>, is_flapping: bool) -> Vec<Condition> {
    let plain = |kind, holds: bool, yes, no| Condition {
        kind,
        status: Some(holds),
        reason: if holds { yes } else { no },
        message: String::new(),
    };
    vec![
        plain(
            ConditionType::Known,
            inputs.known,
            "Registered",
            "NoServerKnowsIt",
        ),
        plain(
            ConditionType::Agreed,
            inputs.target.is_some(),
            "SameTarget",
            "DifferentTargets",
        ),
        dependencies(inputs),
        blocked(status, inputs),
        clean(status),
        plain(
            ConditionType::UsesSettled,
            uses_settled(status),
            "Settled",
            "WaitingForReports",
        ),
        plain(
            ConditionType::Flapping,
            is_flapping,
            "TooManyFlips",
            "Stable",
        ),
    ]
}

fn dependencies(inputs: &Inputs<'_>) -> Condition {
    let unmet = inputs.unmet_dependencies;
    let reason = if unmet.is_empty() { "AllOn" } else { "NotOn" };
    Condition {
        kind: ConditionType::DependenciesSatisfied,
        status: Some(unmet.is_empty()),
        reason,
        message: unmet.join(", "),
    }
}

fn blocked(status: &FeatureStatus, inputs: &Inputs<'_>) -> Condition {
    let turns_off = inputs.target.is_some_and(|it| !it.enabled) && status.state == State::On;
    let task = status.current_task();
    let (holds, reason, message) = match task {
        _ if !inputs.plan.knows_all(status) => {
            (true, "UnknownTask", "a newer server has to lead".to_owned())
        }
        None if turns_off && !inputs.active_dependents.is_empty() => {
            (true, "DependentsOn", inputs.active_dependents.join(", "))
        }
        Some(task) if task.state == TaskState::Blocked => {
            let Blockers { count, samples } = &task.blockers;
            let mut objects = samples.join(", ");
            let more = count.saturating_sub(samples.len() as u64);
            if more > 0 {
                let _ = write!(objects, " and {more} more");
            }
            (
                true,
                "WaitingForObjects",
                format!("{}: {objects}", task.name),
            )
        }
        Some(task) if task.state == TaskState::Failed => {
            let why = task.message.clone().unwrap_or_default();
            (true, "TaskFailed", format!("{}: {why}", task.name))
        }
        _ => (false, "NotBlocked", String::new()),
    };
    Condition {
        kind: ConditionType::Blocked,
        status: Some(holds),
        reason,
        message,
    }
}

fn clean(status: &FeatureStatus) -> Condition {
    let (holds, reason, message) = match (status.state, status.dangling) {
        (State::Off, Dangling::None) => (Some(true), "Verified", String::new()),
        (State::Off | State::TurningOff, Dangling::Found(count)) => {
            (Some(false), "UsesRemain", format!("{count} uses"))
        }
        (State::Off | State::TurningOff, _) => (None, "NotVerified", String::new()),
        (State::On | State::TurningOn, _) => (None, "MayBeUsed", String::new()),
    };
    Condition {
        kind: ConditionType::Clean,
        status: holds,
        reason,
        message,
    }
}

fn uses_settled(status: &FeatureStatus) -> bool {
    let mut tasks = status.transition.iter().flat_map(|it| &it.tasks);
    tasks.all(|it| it.name != name::WAIT_USES || it.state == TaskState::Done)
}
