//! Namespaces, nodes, events and the plain data of the core group.

use std::collections::BTreeSet;

use json::{Object, Value};

use super::cell::{NONE, UNKNOWN, cells, name, or, quantity};
use super::workload::count;
use crate::clock::Now;
use crate::read::{Read, condition};

/// Name and age: kinds with nothing else to show.
pub(crate) fn plain(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), now.age(it)]
}

pub(crate) fn namespace(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), it.text("status.phase"), now.age(it)]
}

pub(crate) fn config_map(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        entries(it, "data") + entries(it, "binaryData"),
        now.age(it)
    ]
}

pub(crate) fn secret(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), it.text("type"), entries(it, "data"), now.age(it)]
}

fn entries(it: &Value, path: &str) -> i64 {
    let entries = it
        .find(path)
        .and_then(Value::as_object)
        .map_or(0, Object::len);
    i64::try_from(entries).unwrap_or(i64::MAX)
}

pub(crate) fn node(it: &Value, now: Now) -> Vec<Value> {
    let mut status = match condition(it, "Ready") {
        Some(ready) if ready.text("status") == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if it.flag("spec.unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    let address = |kind: &str| {
        let mut all = it.list("status.addresses").iter();
        all.find(|it| it.text("type") == kind)
            .map_or(NONE, |it| it.text("address"))
    };
    let info = |key| or(it.text(key), UNKNOWN);
    let mut kernel = info("status.nodeInfo.kernelVersion").to_owned();
    if let arch @ [_, ..] = it.text("status.nodeInfo.architecture").as_bytes() {
        kernel = format!("{kernel} ({})", String::from_utf8_lossy(arch));
    }
    cells![
        name(it),
        status,
        or(&roles(it), NONE),
        now.age(it),
        it.text("status.nodeInfo.kubeletVersion"),
        address("InternalIP"),
        address("ExternalIP"),
        info("status.nodeInfo.osImage"),
        kernel,
        info("status.nodeInfo.containerRuntimeVersion"),
    ]
}

/// From the labels `node-role.kubernetes.io/<role>` and `kubernetes.io/role: <role>`.
fn roles(node: &Value) -> String {
    let labels = node.find("metadata.labels").and_then(Value::as_object);
    let role =
        |(key, value): (&json::Text, &Value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role.to_owned()),
            None if **key == *"kubernetes.io/role" => value.as_str().map(str::to_owned),
            None => None,
        };
    let roles = labels.into_iter().flat_map(Object::iter).filter_map(role);
    let roles: BTreeSet<String> = roles.filter(|it| !it.is_empty()).collect();
    roles.into_iter().collect::<Vec<_>>().join(",")
}

pub(crate) fn event(it: &Value, now: Now) -> Vec<Value> {
    let first = it.find("firstTimestamp").or_else(|| it.find("eventTime"));
    let mut last = it.find("lastTimestamp").or(first);
    let mut times = it.int("count").max(0);
    if let Some(series) = it.find("series") {
        last = series.find("lastObservedTime");
        times = series.int("count");
    } else if times == 0 {
        times = 1;
    }
    let mut object = it.text("involvedObject.kind").to_lowercase();
    if let [_, ..] = it.text("involvedObject.name").as_bytes() {
        object = format!("{object}/{}", it.text("involvedObject.name"));
    }
    let component = or(it.text("source.component"), it.text("reportingComponent"));
    let instance = or(it.text("source.host"), it.text("reportingInstance"));
    let source = match instance {
        "" => component.to_owned(),
        _ => format!("{component}, {instance}"),
    };
    cells![
        now.since(last),
        it.text("type"),
        it.text("reason"),
        object,
        it.text("involvedObject.fieldPath"),
        source,
        it.text("message").trim(),
        now.since(first),
        times,
        name(it),
    ]
}

pub(crate) fn component_status(it: &Value, _: Now) -> Vec<Value> {
    let healthy = it
        .list("conditions")
        .iter()
        .find(|it| it.text("type") == "Healthy");
    match healthy {
        Some(found) => {
            let status = if found.text("status") == "True" {
                "Healthy"
            } else {
                "Unhealthy"
            };
            cells![name(it), status, found.text("message"), found.text("error")]
        }
        None => cells![name(it), "Unknown", "", ""],
    }
}

/// Requests and limits each in a column of their own.
pub(crate) fn resource_quota(it: &Value, now: Now) -> Vec<Value> {
    let hard = it.find("status.hard").and_then(Value::as_object);
    let mut hard: Vec<_> = hard.into_iter().flat_map(Object::iter).collect();
    hard.sort_by_key(|(key, _)| key.as_str());
    let used = it.find("status.used");
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, amount) in hard {
        let used = quantity(used.and_then(|it| it.get(resource)));
        let text = format!("{resource}: {used}/{}", quantity(Some(amount)));
        if resource.starts_with("limits.") {
            limits.push(text);
        } else {
            requests.push(text);
        }
    }
    cells![
        name(it),
        requests.join(", "),
        limits.join(", "),
        now.age(it)
    ]
}

pub(crate) fn lease(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), it.text("spec.holderIdentity"), now.age(it)]
}

pub(crate) fn lease_candidate(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        it.text("spec.leaseName"),
        it.text("spec.binaryVersion"),
        it.text("spec.emulationVersion"),
        now.age(it),
    ]
}

pub(crate) fn runtime_class(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), it.text("handler"), now.age(it)]
}

pub(crate) fn status(it: &Value, _: Now) -> Vec<Value> {
    cells![it.text("status"), it.text("reason"), it.text("message")]
}

pub(crate) fn webhooks(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), count(it.list("webhooks")), now.age(it)]
}
