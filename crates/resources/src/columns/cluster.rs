//! Access, certificates, admission policies, flow control and extension.

use std::fmt::Write as _;

use json::{Object, Value};

use super::cell::{NONE, UNSET, cells, join, labels, name, or, some_of, text_or};
use super::workload::count;
use crate::clock::{self, Now};
use crate::read::{Read, condition, is_true, texts};

pub(crate) fn role_binding(it: &Value, now: Now) -> Vec<Value> {
    let [users, groups, accounts] = ["User", "Group", "ServiceAccount"].map(|kind| {
        let all = it
            .list("subjects")
            .iter()
            .filter(|it| it.text("kind") == kind);
        let names = all.map(|it| match kind {
            "ServiceAccount" => format!("{}/{}", it.text("namespace"), it.text("name")),
            _ => it.text("name").to_owned(),
        });
        names.collect::<Vec<_>>().join(", ")
    });
    cells![
        name(it),
        format!("{}/{}", it.text("roleRef.kind"), it.text("roleRef.name")),
        now.age(it),
        users,
        groups,
        accounts,
    ]
}

pub(crate) fn signing_request(it: &Value, now: Now) -> Vec<Value> {
    let seconds = it.find("spec.expirationSeconds").and_then(Value::as_i64);
    let duration = seconds.map(|it| clock::human(i128::from(it) * 1_000_000_000));
    let has = |kind| condition(it, kind).is_some();
    let mut status = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (_, true) => "Approved",
        _ => "Pending",
    }
    .to_owned();
    if has("Failed") {
        status.push_str(",Failed");
    }
    if !it.text("status.certificate").is_empty() {
        status.push_str(",Issued");
    }
    cells![
        name(it),
        now.age(it),
        or(it.text("spec.signerName"), NONE),
        it.text("spec.username"),
        duration.unwrap_or_else(|| NONE.into()),
        status,
    ]
}

pub(crate) fn trust_bundle(it: &Value, _: Now) -> Vec<Value> {
    cells![name(it), or(it.text("spec.signerName"), NONE)]
}

pub(crate) fn pod_certificate_request(it: &Value, _: Now) -> Vec<Value> {
    let decided = it
        .list("status.conditions")
        .iter()
        .map(|it| it.text("type"));
    let mut decided = decided.filter(|it| ["Issued", "Denied", "Failed"].contains(it));
    cells![
        name(it),
        it.text("spec.podName"),
        it.text("spec.serviceAccountName"),
        it.text("spec.nodeName"),
        it.text("spec.signerName"),
        decided.next_back().unwrap_or("Pending"),
        labels(it, "spec.unverifiedUserAnnotations"),
    ]
}

pub(crate) fn validating_policy(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        count(it.list("spec.validations")),
        param_kind(it),
        now.age(it)
    ]
}

pub(crate) fn mutating_policy(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        count(it.list("spec.mutations")),
        param_kind(it),
        now.age(it)
    ]
}

fn param_kind(it: &Value) -> String {
    let kind = it.find("spec.paramKind");
    kind.map_or_else(
        || UNSET.into(),
        |it| format!("{}/{}", it.text("apiVersion"), it.text("kind")),
    )
}

pub(crate) fn policy_binding(it: &Value, now: Now) -> Vec<Value> {
    let param = it.find("spec.paramRef");
    let param = param.map_or_else(
        || UNSET.into(),
        |it| match (it.text("name"), it.find("selector")) {
            ("", None) => UNSET.into(),
            ("", Some(selector)) => go_selector(selector),
            (name, _) => format!("{}/{name}", or(it.text("namespace"), "*")),
        },
    );
    cells![name(it), it.text("spec.policyName"), param, now.age(it)]
}

/// A label selector as Go's generated `String` writes it.
fn go_selector(selector: &Value) -> String {
    let mut text = String::from("&LabelSelector{MatchLabels:map[string]string{");
    let labels = selector.find("matchLabels").and_then(Value::as_object);
    let mut labels: Vec<_> = labels.into_iter().flat_map(Object::iter).collect();
    labels.sort_by_key(|(key, _)| key.as_str());
    for (key, value) in labels {
        write!(text, "{key}: {},", value.as_str().unwrap_or_default()).expect("a String takes all");
    }
    text.push_str("},MatchExpressions:[]LabelSelectorRequirement{");
    for it in selector.list("matchExpressions") {
        let values = join(texts(it, "values"), " ");
        let (key, operator) = (it.text("key"), it.text("operator"));
        write!(
            text,
            "LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},"
        )
        .expect("a String takes all");
    }
    text.push_str("},}");
    text
}

pub(crate) fn flow_schema(it: &Value, now: Now) -> Vec<Value> {
    let method = it
        .find("spec.distinguisherMethod")
        .map_or(NONE, |it| it.text("type"));
    cells![
        name(it),
        it.text("spec.priorityLevelConfiguration.name"),
        it.int("spec.matchingPrecedence"),
        method,
        now.age(it),
        condition(it, "Dangling").map_or("?", |it| it.text("status")),
    ]
}

pub(crate) fn priority_level(it: &Value, now: Now) -> Vec<Value> {
    let number = |holder: &str, key: &str| match it.find(holder) {
        Some(holder) => Value::from(holder.int(key)),
        None => NONE.into(),
    };
    let queuing = |key| number("spec.limited.limitResponse.queuing", key);
    cells![
        name(it),
        it.text("spec.type"),
        number("spec.limited", "nominalConcurrencyShares"),
        queuing("queues"),
        queuing("handSize"),
        queuing("queueLengthLimit"),
        now.age(it),
    ]
}

pub(crate) fn storage_version(it: &Value, now: Now) -> Vec<Value> {
    let versions = it.list("status.storageVersions").iter();
    let versions =
        versions.map(|it| format!("{}={}", it.text("apiServerID"), it.text("encodingVersion")));
    cells![
        name(it),
        text_or(it, "status.commonEncodingVersion", UNSET),
        or(&some_of(&versions.collect::<Vec<_>>(), 3, ","), UNSET),
        now.age(it),
    ]
}

pub(crate) fn migration(it: &Value, _: Now) -> Vec<Value> {
    let (resource, group) = (
        it.text("spec.resource.resource"),
        it.text("spec.resource.group"),
    );
    let resource = match group {
        "" => resource.to_owned(),
        _ => format!("{resource}.{group}"),
    };
    let reached = it
        .list("status.conditions")
        .iter()
        .filter(|it| it.text("status") == "True");
    let reached = reached.map(|it| it.text("type"));
    let mut reached = reached.filter(|it| ["Running", "Failed", "Succeeded"].contains(it));
    cells![name(it), resource, reached.next_back().unwrap_or("Unknown")]
}

pub(crate) fn api_service(it: &Value, now: Now) -> Vec<Value> {
    let service = it.find("spec.service");
    let service = service.map(|it| format!("{}/{}", it.text("namespace"), it.text("name")));
    let available = condition(it, "Available").map_or_else(
        || "Unknown".to_owned(),
        |it| match (it.text("status"), it.text("reason")) {
            (status @ "True", _) | (status, "") => status.to_owned(),
            (status, reason) => format!("{status} ({reason})"),
        },
    );
    cells![
        name(it),
        service.unwrap_or_else(|| "Local".into()),
        available,
        now.age(it)
    ]
}

pub(crate) fn definition(it: &Value, _: Now) -> Vec<Value> {
    let served = it
        .list("spec.versions")
        .iter()
        .filter(|it| it.flag("served"));
    let mut served: Vec<_> = served
        .map(|it| {
            format!(
                "{}{}",
                it.text("name"),
                if it.flag("storage") { "(storage)" } else { "" }
            )
        })
        .collect();
    served.sort_unstable();
    let created = text_or(it, "metadata.creationTimestamp", "0001-01-01T00:00:00Z");
    cells![
        name(it),
        it.text("spec.scope"),
        served.join(","),
        created,
        it.text("spec.group"),
        it.text("spec.names.kind"),
        join(texts(it, "spec.names.shortNames"), ","),
        is_true(it, "Established"),
    ]
}
