//! Pods: what of all its states a pod is said to be in.

use std::collections::HashSet;

use json::{Value, json};

use super::cell::{NONE, cells, containers, deleted, labels, name, or};
use crate::clock::{self, Now};
use crate::read::{Read, is_true};

pub(crate) fn pod(pod: &Value, now: Now) -> Vec<Value> {
    let summary = Summary::of(pod);
    let mut restarts = summary.restarts.count.to_string();
    if summary.restarts.count != 0
        && let Some(last) = summary.restarts.last
    {
        restarts = format!("{restarts} ({} ago)", clock::human(now.0 - last));
    }
    cells![
        name(pod),
        format!("{}/{}", summary.ready, summary.total),
        summary.reason,
        restarts,
        now.age(pod),
        or(
            pod.list("status.podIPs")
                .first()
                .map_or("", |it| it.text("ip")),
            NONE
        ),
        or(pod.text("spec.nodeName"), NONE),
        or(pod.text("status.nominatedNodeName"), NONE),
        readiness_gates(pod),
    ]
}

pub(crate) fn template(it: &Value, _: Now) -> Vec<Value> {
    let [names, images] = containers(it, "template.spec.containers");
    cells![
        name(it),
        names,
        images,
        labels(it, "template.metadata.labels")
    ]
}

#[derive(Default)]
struct Summary {
    ready: usize,
    total: usize,
    reason: String,
    restarts: Restarts,
}

#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<i128>,
}

impl Restarts {
    fn add(&mut self, status: &Value) {
        self.count = self.count.saturating_add(status.int("restartCount"));
        let finished = clock::parse(status.text("lastState.terminated.finishedAt"));
        self.last = self.last.max(finished);
    }
}

impl Summary {
    fn of(pod: &Value) -> Self {
        let mut it = Self {
            total: pod.list("spec.containers").len(),
            reason: or(pod.text("status.reason"), pod.text("status.phase")).to_owned(),
            ..Self::default()
        };
        let gated = |it: &Value| {
            it.text("type") == "PodScheduled" && it.text("reason") == "SchedulingGated"
        };
        if pod.list("status.conditions").iter().any(gated) {
            it.reason = "SchedulingGated".into();
        }
        it.total += pod
            .list("spec.initContainers")
            .iter()
            .filter(|it| is_sidecar(it))
            .count();
        let (initializing, sidecars) = it.init_containers(pod);
        if !initializing || is_true(pod, "Initialized") {
            it.restarts = sidecars;
            it.containers(pod);
        }
        if deleted(pod) {
            if pod.text("status.reason") == "NodeLost" {
                it.reason = "Unknown".into();
            } else if !matches!(pod.text("status.phase"), "Failed" | "Succeeded") {
                it.reason = "Terminating".into();
            }
        }
        it
    }

    /// Up to the first that is not done. Gives whether there is one, and the restarts of sidecars.
    fn init_containers(&mut self, pod: &Value) -> (bool, Restarts) {
        let specs = pod.list("spec.initContainers");
        let sidecar_specs = specs.iter().filter(|it| is_sidecar(it));
        let sidecars_by_name: HashSet<&str> = sidecar_specs.map(|it| it.text("name")).collect();
        let mut sidecars = Restarts::default();
        for (index, status) in pod.list("status.initContainerStatuses").iter().enumerate() {
            self.restarts.add(status);
            let sidecar = sidecars_by_name.contains(status.text("name"));
            if sidecar {
                sidecars.add(status);
            }
            let terminated = status.find("state.terminated");
            if terminated.is_some_and(|it| it.int("exitCode") == 0) {
                continue;
            }
            if sidecar && status.flag("started") {
                self.ready += usize::from(status.flag("ready"));
                continue;
            }
            let waiting = status.text("state.waiting.reason");
            self.reason = match terminated {
                Some(terminated) => format!("Init:{}", end(terminated)),
                None if !waiting.is_empty() && waiting != "PodInitializing" => {
                    format!("Init:{waiting}")
                }
                None => format!("Init:{index}/{}", specs.len()),
            };
            return (true, sidecars);
        }
        (false, sidecars)
    }

    fn containers(&mut self, pod: &Value) {
        let mut running = false;
        let mut failure = None;
        for status in pod.list("status.containerStatuses").iter().rev() {
            self.restarts.add(status);
            let waiting = status.text("state.waiting.reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if let Some(terminated) = status.find("state.terminated") {
                self.reason = end(terminated);
                if terminated.int("exitCode") != 0 {
                    failure = Some(self.reason.clone());
                }
            } else if status.flag("ready") && status.has("state.running") {
                running = true;
                self.ready += 1;
            }
        }
        // One that completed beside others that still run does not speak for the pod.
        if self.reason == "Completed" {
            if running && is_true(pod, "Ready") {
                self.reason = "Running".into();
            } else if let Some(failure) = failure {
                self.reason = failure;
            } else if running {
                self.reason = "NotReady".into();
            }
        }
    }
}

fn end(terminated: &Value) -> String {
    let (reason, signal) = (terminated.text("reason"), terminated.int("signal"));
    if !reason.is_empty() {
        reason.to_owned()
    } else if signal != 0 {
        format!("Signal:{signal}")
    } else {
        format!("ExitCode:{}", terminated.int("exitCode"))
    }
}

/// An init container that goes on running.
fn is_sidecar(container: &Value) -> bool {
    container.text("restartPolicy") == "Always"
}

fn readiness_gates(pod: &Value) -> String {
    let gates = pod.list("spec.readinessGates");
    if gates.is_empty() {
        return NONE.into();
    }
    let open = gates
        .iter()
        .filter(|it| is_true(pod, it.text("conditionType")))
        .count();
    format!("{open}/{}", gates.len())
}

/// A pod that is done.
pub(crate) fn conditions(pod: &Value) -> Vec<Value> {
    let (reason, message) = match pod.text("status.phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return Vec::new(),
    };
    vec![json!({"type": "Completed", "status": "True", "reason": reason, "message": message})]
}
