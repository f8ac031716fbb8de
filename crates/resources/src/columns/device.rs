//! Dynamic resource allocation and evictions.

use json::Value;

use super::cell::{NONE, UNSET, cells, deleted, name, or, some_of};
use super::workload::count;
use crate::clock::{self, Now};
use crate::read::{Read, condition, is_true};

pub(crate) fn resource_claim(it: &Value, now: Now) -> Vec<Value> {
    let allocated = it.has("status.allocation");
    let reserved = allocated && !it.list("status.reservedFor").is_empty();
    let states = [
        (deleted(it), "deleted"),
        (!allocated && !deleted(it), "pending"),
        (allocated, "allocated"),
        (reserved, "reserved"),
    ];
    let states: Vec<_> = states
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, text)| *text)
        .collect();
    cells![name(it), states.join(","), now.age(it)]
}

pub(crate) fn resource_slice(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        it.text("spec.nodeName"),
        it.text("spec.driver"),
        it.text("spec.pool.name"),
        now.age(it),
    ]
}

pub(crate) fn taint_rule(it: &Value, now: Now) -> Vec<Value> {
    let added = it
        .find("spec.taint.timeAdded")
        .map(|it| now.since(Some(it)));
    cells![
        name(it),
        it.text("spec.taint.key"),
        it.text("spec.taint.value"),
        it.text("spec.taint.effect"),
        added.unwrap_or_default(),
        now.age(it),
    ]
}

pub(crate) fn pool_status_request(it: &Value, now: Now) -> Vec<Value> {
    let decided = it
        .list("status.conditions")
        .iter()
        .find(|it| it.text("status") == "True" && matches!(it.text("type"), "Complete" | "Failed"));
    let mut status = decided.map_or("Pending", |it| it.text("type")).to_owned();
    let completed = decided.filter(|it| it.text("type") == "Complete");
    let pools = it.list("status.pools");
    let total = it.int("status.poolCount");
    if completed.is_some() && total > count(pools) {
        status = format!("Complete ({}/{total} pools)", pools.len());
    }
    let counted = it.has("status") && status != "Failed";
    let sum = |key| {
        let all = pools
            .iter()
            .map(|it| it.int(key))
            .fold(0, i64::saturating_add);
        if counted { all.to_string() } else { "-".into() }
    };
    let errors = pools.iter().filter(|it| it.has("validationError")).count();
    let completed = completed.map(|it| now.since(it.find("lastTransitionTime")));
    cells![
        name(it),
        it.text("spec.driver"),
        sum("totalDevices"),
        sum("availableDevices"),
        sum("allocatedDevices"),
        sum("unavailableDevices"),
        if counted {
            errors.to_string()
        } else {
            "-".into()
        },
        total,
        status,
        completed.unwrap_or_else(|| NONE.into()),
    ]
}

pub(crate) fn eviction_request(it: &Value, now: Now) -> Vec<Value> {
    let [target, kind] = target(it);
    cells![
        name(it),
        target,
        kind,
        progress(it),
        it.text("spec.requester"),
        it.text("spec.intent"),
        now.age(it),
    ]
}

fn target(it: &Value) -> [&str; 2] {
    match it.find("spec.target.pod") {
        Some(pod) => [pod.text("name"), "Pod"],
        None => [UNSET, UNSET],
    }
}

fn progress(it: &Value) -> String {
    for kind in ["TargetEvicted", "Failed"] {
        if is_true(it, kind)
            && let Some(found) = condition(it, kind)
        {
            return format!("{kind} ({})", found.text("reason"));
        }
    }
    let seen = it.int("status.observedGeneration") > 0;
    if seen { "Progressing" } else { "Pending" }.into()
}

pub(crate) fn eviction(it: &Value, now: Now) -> Vec<Value> {
    let responders = it.list("status.targetResponders");
    let over = |it: &Value| matches!(it.text("state"), "Canceled" | "Interrupted" | "Completed");
    let begun = responders
        .iter()
        .filter(|it| over(it) || it.text("state") == "Active");
    let active = responders.iter().rfind(|it| it.text("state") == "Active");
    let active = active.or_else(|| responders.iter().rfind(|it| over(it)));
    let [target, kind] = target(it);
    let told = Told::of(it, active, now);
    let mut names: Vec<_> = it.list("status.requesters").iter().collect();
    let all_withdrawn = if names.is_empty() {
        NONE
    } else {
        "<withdrawn>"
    };
    names.retain(|it| it.text("intent") != "Withdrawn");
    let mut names: Vec<_> = names.iter().map(|it| it.text("name").to_owned()).collect();
    names.sort_unstable();
    cells![
        name(it),
        target,
        kind,
        progress(it),
        format!(
            "{} ({}/{})",
            active.map_or(UNSET, |it| it.text("name")),
            begun.count(),
            responders.len()
        ),
        told.status,
        told.finish,
        if names.is_empty() {
            all_withdrawn.into()
        } else {
            some_of(&names, 1, ",")
        },
        now.age(it),
        told.heartbeat,
        told.message,
    ]
}

/// What the responder in charge says of itself.
struct Told {
    status: String,
    finish: String,
    heartbeat: String,
    message: String,
}

impl Told {
    fn of(it: &Value, active: Option<&Value>, now: Now) -> Self {
        let mut told = Self {
            status: UNSET.into(),
            finish: "<unknown>".into(),
            heartbeat: UNSET.into(),
            message: UNSET.into(),
        };
        let Some(active) = active else { return told };
        let mut all = it.list("status.responders").iter();
        let Some(responder) = all.find(|it| it.text("name") == active.text("name")) else {
            return told;
        };
        let state = active.text("state");
        state.clone_into(&mut told.status);
        let since = |key| responder.find(key).map(|it| now.since(Some(it)));
        if state != "Active" {
            told.finish = "-".into();
            if state == "Completed"
                && let Some(end) = since("completionTime")
            {
                told.status = format!("{state} ({end} ago)");
            }
        } else if let Some(start) = since("startTime") {
            told.status = format!("Started ({start} ago)");
            if let Some(end) = clock::parse(responder.text("expectedCompletionTime")) {
                told.finish = if end > now.0 {
                    format!("in {}", clock::human(end - now.0))
                } else {
                    format!("{} ago", clock::human(now.0 - end))
                };
            }
        }
        if let Some(beat) = since("heartbeatTime") {
            told.heartbeat = format!("{beat} ago");
        }
        or(responder.text("message").trim(), UNSET).clone_into(&mut told.message);
        told
    }
}
