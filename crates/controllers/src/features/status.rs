//! The status of a Feature as JSON, from and to what the transition function reads and writes.

use features::Source;
use features::lifecycle::{
    Admission, Blockers, Dangling, FeatureStatus, HistoryEntry, Progress, State, Task, TaskState,
    Transition,
};
use json::{Object, Value, json};
use meta::time::Time;

/// What is stored; nothing if the feature was never announced.
pub(super) fn read(status: &Value) -> Option<FeatureStatus> {
    let state = state(status.str_at(&["state"])?)?;
    let list = |key: &str| {
        let found = status.get(key).and_then(Value::as_array);
        found.map_or(&[][..], Vec::as_slice)
    };
    let history: Vec<HistoryEntry> = list("history").iter().filter_map(history_entry).collect();
    let flips = history.iter();
    let flips = flips.filter(|it| matches!(it.to, State::TurningOn | State::TurningOff));
    let admission = match status.str_at(&["admission"]) {
        Some("Open") => Admission::Open,
        _ => Admission::Closed,
    };
    let dangling = match status.get("dangling") {
        None => Dangling::Unknown,
        Some(it) => match number(it, "count") {
            0 => Dangling::None,
            count => Dangling::Found(count),
        },
    };
    Some(FeatureStatus {
        state,
        since: time(status, "stateSince"),
        epoch: number(status, "epoch"),
        admission,
        transition: status.get("transition").map(transition),
        dangling,
        flips: flips.map(|it| it.at).collect(),
        history,
    })
}

fn transition(value: &Value) -> Transition {
    let tasks = value.get("tasks").and_then(Value::as_array);
    Transition {
        source: source(value.str_at(&["source"]).unwrap_or_default()),
        started_at: time(value, "startedAt"),
        tasks: tasks.into_iter().flatten().map(task).collect(),
    }
}

fn task(value: &Value) -> Task {
    let text = |key: &str| value.str_at(&[key]).unwrap_or_default();
    let progress = value.get("progress");
    let samples = value.get("blockers").and_then(Value::as_array);
    Task {
        name: text("name").to_owned(),
        state: match text("state") {
            "Running" => TaskState::Running,
            "Blocked" => TaskState::Blocked,
            "Retrying" => TaskState::Retrying,
            "Failed" => TaskState::Failed,
            "Done" => TaskState::Done,
            _ => TaskState::Pending,
        },
        attempts: u32::try_from(number(value, "attempts")).unwrap_or(u32::MAX),
        next_attempt: time(value, "nextAttemptTime"),
        progress: Progress {
            done: progress.map_or(0, |it| number(it, "done")),
            total: progress.map_or(0, |it| number(it, "total")),
            cursor: progress
                .and_then(|it| it.str_at(&["cursor"]))
                .map(str::to_owned),
        },
        blockers: Blockers {
            count: number(value, "blockedCount"),
            samples: samples.into_iter().flatten().map(blocker_text).collect(),
        },
        message: value.str_at(&["message"]).map(str::to_owned),
    }
}

fn history_entry(value: &Value) -> Option<HistoryEntry> {
    Some(HistoryEntry {
        epoch: number(value, "epoch"),
        from: value.str_at(&["from"]).and_then(state),
        to: state(value.str_at(&["to"])?)?,
        at: time(value, "endedAt"),
        source: source(value.str_at(&["source"]).unwrap_or_default()),
        partial_cleanup: value.str_at(&["result"]) == Some(PARTIAL),
    })
}

const PARTIAL: &str = "InterruptedAfterPartialCleanup";

/// The parts of the status that the transition function decides; `before` is what is stored, `leader` who writes.
pub(super) fn write(status: &FeatureStatus, before: &Value, leader: &str, actor: &str) -> Object {
    let mut out = Object::new();
    out.insert("state", state_name(status.state));
    out.insert("stateSince", moment(status.since));
    out.insert("epoch", int(status.epoch));
    let is_open = status.admission == Admission::Open;
    out.insert("admission", if is_open { "Open" } else { "Closed" });
    if let Some(transition) = &status.transition {
        let from = if status.state == State::TurningOn {
            State::Off
        } else {
            State::On
        };
        let tasks = transition.tasks.iter().map(task_value);
        out.insert(
            "transition",
            json!({
                "from": (state_name(from)),
                "startedAt": (moment(transition.started_at)),
                "source": (transition.source.as_str()),
                "leader": leader,
                "tasks": (tasks.collect::<Vec<Value>>()),
            }),
        );
    }
    let known = before.get("history").and_then(Value::as_array);
    let known = known.map_or(&[][..], Vec::as_slice);
    let history = status.history.iter().map(|entry| {
        let is_same = |it: &&Value| {
            let same = history_entry(it);
            same.is_some_and(|it| (it.epoch, it.to, it.from) == (entry.epoch, entry.to, entry.from))
        };
        let found = known.iter().find(is_same).cloned();
        found.unwrap_or_else(|| history_value(entry, status, actor))
    });
    out.insert("history", history.collect::<Vec<Value>>());
    out
}

fn history_value(entry: &HistoryEntry, status: &FeatureStatus, actor: &str) -> Value {
    let is_final = matches!(entry.to, State::On | State::Off);
    let result = match (entry.from, entry.partial_cleanup) {
        (None, _) => "Announced",
        (_, true) => PARTIAL,
        (Some(State::TurningOn | State::TurningOff), _) if !is_final => "Interrupted",
        (Some(_), _) if !is_final => "Started",
        _ if entry.to == State::Off && matches!(status.dangling, Dangling::Found(_)) => "Dangling",
        _ => "Completed",
    };
    let started = status
        .flips
        .last()
        .filter(|_| is_final && entry.from.is_some());
    let started = started.copied().unwrap_or(entry.at);
    json!({
        "epoch": (int(entry.epoch)),
        "from": (entry.from.map_or("", state_name)),
        "to": (state_name(entry.to)),
        "source": (entry.source.as_str()),
        "actor": actor,
        "startedAt": (moment(started)),
        "endedAt": (moment(entry.at)),
        "result": result,
    })
}

fn task_value(task: &Task) -> Value {
    let mut out = Object::new();
    out.insert("name", &*task.name);
    let (state, reason) = match task.state {
        TaskState::Pending => ("Pending", ""),
        TaskState::Running => ("Running", "InProgress"),
        TaskState::Blocked => ("Blocked", "WaitingForObjects"),
        TaskState::Retrying => ("Retrying", "AttemptFailed"),
        TaskState::Failed => ("Failed", "CannotSucceed"),
        TaskState::Done => ("Done", ""),
    };
    out.insert("state", state);
    if !reason.is_empty() {
        out.insert("reason", reason);
    }
    if let Some(message) = &task.message {
        out.insert("message", &**message);
    }
    if task.attempts > 0 {
        out.insert("attempts", i64::from(task.attempts));
    }
    // Only who has to wait is told until when.
    if matches!(task.state, TaskState::Retrying | TaskState::Pending) && task.next_attempt > 0 {
        out.insert("nextAttemptTime", moment(task.next_attempt));
    }
    if task.progress != Progress::default() {
        let mut progress = Object::new();
        progress.insert("done", int(task.progress.done));
        progress.insert("total", int(task.progress.total));
        if let Some(cursor) = &task.progress.cursor {
            progress.insert("cursor", &**cursor);
        }
        out.insert("progress", progress);
    }
    if task.blockers.count > 0 {
        let samples = task.blockers.samples.iter().map(|it| blocker_value(it));
        out.insert("blockers", samples.collect::<Vec<Value>>());
        out.insert("blockedCount", int(task.blockers.count));
    }
    out.into()
}

/// `statefulsets.apps/default/web`, or a name alone.
fn blocker_value(text: &str) -> Value {
    let parts: Vec<&str> = text.splitn(3, '/').collect();
    let (kind, namespace, name) = match parts[..] {
        [name] => return json!({"name": name}),
        [kind, name] => (kind, "", name),
        [kind, namespace, name] => (kind, namespace, name),
        _ => return Value::Null,
    };
    let (resource, group) = kind.split_once('.').unwrap_or((kind, ""));
    json!({"group": group, "resource": resource, "namespace": namespace, "name": name})
}

fn blocker_text(value: &Value) -> String {
    let text = |key: &str| value.str_at(&[key]).unwrap_or_default();
    let kind = match (text("resource"), text("group")) {
        ("", _) => String::new(),
        (resource, "") => format!("{resource}/"),
        (resource, group) => format!("{resource}.{group}/"),
    };
    match text("namespace") {
        "" => format!("{kind}{}", text("name")),
        namespace => format!("{kind}{namespace}/{}", text("name")),
    }
}

pub(super) fn state_name(state: State) -> &'static str {
    match state {
        State::Off => "Off",
        State::TurningOn => "TurningOn",
        State::On => "On",
        State::TurningOff => "TurningOff",
    }
}

fn state(name: &str) -> Option<State> {
    Some(match name {
        "Off" => State::Off,
        "TurningOn" => State::TurningOn,
        "On" => State::On,
        "TurningOff" => State::TurningOff,
        _ => return None,
    })
}

fn source(name: &str) -> Source {
    match name {
        "CommandLine" => Source::CommandLine,
        "Central" => Source::Central,
        "Dynamic" => Source::Dynamic,
        _ => Source::Default,
    }
}

pub(super) fn moment(seconds: u64) -> String {
    Time::from_unix(i64::try_from(seconds).unwrap_or(i64::MAX), 0).to_string()
}

fn time(value: &Value, key: &str) -> u64 {
    let text = value.str_at(&[key]).unwrap_or_default();
    let seconds = Time::parse(text).map_or(0, Time::unix_seconds);
    u64::try_from(seconds).unwrap_or(0)
}

fn number(value: &Value, key: &str) -> u64 {
    let number = value.get(key).and_then(Value::as_i64).unwrap_or(0);
    u64::try_from(number).unwrap_or(0)
}

pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use features::lifecycle::{Inputs, OnDangling, Outcome, Plan, Target, TaskOutcome, step};

    use super::*;

    /// Whatever the transition function writes is read back as the same, at every step of a life.
    #[test]
    fn a_status_survives_storage() {
        let plan = Plan {
            ensure: vec!["ensure-crd(a)".to_owned()],
            cleanup: vec!["strip-field(statefulsets.apps)".to_owned()],
        };
        let mut stored: Option<FeatureStatus> = None;
        let mut value = Value::Null;
        let mut outcome: Option<TaskOutcome> = None;
        let outcomes = [
            Outcome::Progress(Progress {
                done: 3,
                total: 9,
                cursor: Some("ns/a".to_owned()),
            }),
            Outcome::Blocked(vec!["statefulsets.apps/ns/web".to_owned(), "a".to_owned()].into()),
            Outcome::Retry("the store is full".to_owned()),
            Outcome::Done,
        ];
        for round in 0_usize..120 {
            let inputs = Inputs {
                now: 1_700_000_000 + round as u64 * 40,
                known: true,
                target: Some(Target {
                    enabled: round % 60 < 30,
                    source: Source::CommandLine,
                    immediate: false,
                }),
                on_dangling: OnDangling::Hold,
                unmet_dependencies: &[],
                active_dependents: &[],
                plan: &plan,
                outcome: outcome.as_ref(),
                scanned: None,
                adopts: false,
            };
            let next = step(stored.as_ref(), &inputs).expect("known");
            let mut written = write(&next.status, &value, "a", "b");
            match next.status.dangling {
                Dangling::Unknown => {}
                Dangling::None => drop(written.insert("dangling", json!({"count": 0}))),
                Dangling::Found(count) => {
                    written.insert("dangling", json!({"count": (int(count))}));
                }
            }
            value = written.into();
            let mut again = read(&value).expect("announced");
            // Older flips than the history tells do not count for anything.
            let surplus = next.status.flips.len().saturating_sub(again.flips.len());
            let mut expected = next.status.clone();
            expected.flips.drain(..surplus);
            for status in [&mut again, &mut expected] {
                let tasks = status.transition.iter_mut().flat_map(|it| &mut it.tasks);
                for task in
                    tasks.filter(|it| !matches!(it.state, TaskState::Retrying | TaskState::Pending))
                {
                    task.next_attempt = 0;
                }
            }
            assert_eq!(again, expected, "round {round}");
            outcome = next.run.map(|run| TaskOutcome {
                epoch: run.epoch,
                task: run.name,
                outcome: outcomes[round % outcomes.len()].clone(),
            });
            stored = Some(again);
        }
        assert!(stored.is_some_and(|it| it.epoch > 3));
    }
}
