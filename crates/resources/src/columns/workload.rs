//! Controllers of pods.

use json::Value;

use super::cell::{
    NONE, UNSET, cells, containers, deleted, int_or_text, labels, name, or, selector, selector_text,
};
use crate::clock::{self, Now};
use crate::read::{Read, is_true};

const CONTAINERS: &str = "spec.template.spec.containers";

pub(crate) fn deployment(it: &Value, now: Now) -> Vec<Value> {
    let [names, images] = containers(it, CONTAINERS);
    cells![
        name(it),
        ready(it),
        it.int("status.updatedReplicas"),
        it.int("status.availableReplicas"),
        now.age(it),
        names,
        images,
        selector(it.find("spec.selector")).unwrap_or_else(|| "<invalid>".into()),
    ]
}

pub(crate) fn stateful_set(it: &Value, now: Now) -> Vec<Value> {
    let [names, images] = containers(it, CONTAINERS);
    cells![name(it), ready(it), now.age(it), names, images]
}

fn ready(it: &Value) -> String {
    format!(
        "{}/{}",
        it.int("status.readyReplicas"),
        it.int("spec.replicas")
    )
}

pub(crate) fn replica_set(it: &Value, now: Now) -> Vec<Value> {
    replicas(it, now, selector_text(it.find("spec.selector")))
}

pub(crate) fn replication_controller(it: &Value, now: Now) -> Vec<Value> {
    replicas(it, now, labels(it, "spec.selector"))
}

fn replicas(it: &Value, now: Now, selector: String) -> Vec<Value> {
    let [names, images] = containers(it, CONTAINERS);
    cells![
        name(it),
        it.int("spec.replicas"),
        it.int("status.replicas"),
        it.int("status.readyReplicas"),
        now.age(it),
        names,
        images,
        selector,
    ]
}

pub(crate) fn daemon_set(it: &Value, now: Now) -> Vec<Value> {
    let [names, images] = containers(it, CONTAINERS);
    cells![
        name(it),
        it.int("status.desiredNumberScheduled"),
        it.int("status.currentNumberScheduled"),
        it.int("status.numberReady"),
        it.int("status.updatedNumberScheduled"),
        it.int("status.numberAvailable"),
        labels(it, "spec.template.spec.nodeSelector"),
        now.age(it),
        names,
        images,
        selector_text(it.find("spec.selector")),
    ]
}

pub(crate) fn job(it: &Value, now: Now) -> Vec<Value> {
    let succeeded = it.int("status.succeeded");
    let completions = match (it.find("spec.completions"), it.int("spec.parallelism")) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let start = clock::parse(it.text("status.startTime"));
    let end = clock::parse(it.text("status.completionTime")).unwrap_or(now.0);
    let [names, images] = containers(it, CONTAINERS);
    cells![
        name(it),
        job_status(it),
        completions,
        start
            .map(|start| clock::human(end - start))
            .unwrap_or_default(),
        now.age(it),
        names,
        images,
        selector_text(it.find("spec.selector")),
    ]
}

fn job_status(it: &Value) -> &'static str {
    let first = |types: &[(&'static str, &'static str)]| {
        let found = types.iter().find(|(condition, _)| is_true(it, condition));
        found.map(|(_, status)| *status)
    };
    if let Some(over) = first(&[("Complete", "Complete"), ("Failed", "Failed")]) {
        return over;
    }
    if deleted(it) {
        return "Terminating";
    }
    let going = first(&[
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ]);
    going.unwrap_or("Running")
}

pub(crate) fn cron_job(it: &Value, now: Now) -> Vec<Value> {
    let last = it.find("status.lastScheduleTime");
    let suspend = match it.find("spec.suspend").and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => UNSET,
    };
    let [names, images] = containers(it, "spec.jobTemplate.spec.template.spec.containers");
    cells![
        name(it),
        it.text("spec.schedule"),
        it.find("spec.timeZone")
            .and_then(Value::as_str)
            .unwrap_or(NONE),
        suspend,
        count(it.list("status.active")),
        last.map_or_else(|| NONE.into(), |last| now.since(Some(last))),
        now.age(it),
        names,
        images,
        selector_text(it.find("spec.jobTemplate.spec.selector")),
    ]
}

pub(crate) fn controller_revision(it: &Value, now: Now) -> Vec<Value> {
    let owner = it
        .list("metadata.ownerReferences")
        .iter()
        .find(|it| it.flag("controller"));
    let controller = owner.map_or_else(
        || NONE.into(),
        |owner| {
            let kind = owner.text("kind").to_lowercase();
            match owner.text("apiVersion").split_once('/') {
                Some((group, _)) => {
                    format!("{kind}.{}/{}", group.to_lowercase(), owner.text("name"))
                }
                None => format!("{kind}/{}", owner.text("name")),
            }
        },
    );
    cells![name(it), controller, it.int("revision"), now.age(it)]
}

pub(crate) fn disruption_budget(it: &Value, now: Now) -> Vec<Value> {
    let limit = |path| it.find(path).map_or_else(|| "N/A".into(), int_or_text);
    cells![
        name(it),
        limit("spec.minAvailable"),
        limit("spec.maxUnavailable"),
        it.int("status.disruptionsAllowed"),
        now.age(it),
    ]
}

pub(crate) fn pod_group(it: &Value, now: Now) -> Vec<Value> {
    let status = match crate::read::condition(it, "DisruptionTarget") {
        Some(target) => target.text("reason"),
        None if is_true(it, "PodGroupInitiallyScheduled") => "Scheduled",
        None if crate::read::condition(it, "PodGroupInitiallyScheduled").is_some() => {
            "Unschedulable"
        }
        None => "Pending",
    };
    cells![
        name(it),
        scheduling_policy(it),
        workload(it),
        status,
        now.age(it)
    ]
}

pub(crate) fn composite_pod_group(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), scheduling_policy(it), workload(it), now.age(it)]
}

fn scheduling_policy(it: &Value) -> &'static str {
    if it.has("spec.schedulingPolicy.gang") {
        "Gang"
    } else {
        "Basic"
    }
}

fn workload(it: &Value) -> &str {
    match it.find("spec.workloadRef") {
        Some(workload) => workload.text("workloadName"),
        None => NONE,
    }
}

pub(crate) fn scale(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        it.int("spec.replicas"),
        it.int("status.replicas"),
        now.age(it)
    ]
}

pub(crate) fn count<T>(items: &[T]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

pub(crate) fn priority_class(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        it.int("value"),
        it.flag("globalDefault"),
        now.age(it),
        or(it.text("preemptionPolicy"), ""),
    ]
}
