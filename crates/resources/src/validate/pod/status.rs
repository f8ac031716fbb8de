//! What the kubelet says of a pod.

use std::collections::HashMap;

use json::Value;

use crate::validate::errors::Errors;
use crate::validate::field::{Field, text};
use crate::validate::seen::Seen;
use crate::validate::{ip, object_meta};

const STATUSES: [(&str, &str); 2] = [
    ("containerStatuses", "containers"),
    ("initContainerStatuses", "initContainers"),
];

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    super::update::annotation_updates(e, new, old);
    let (status, was) = (new.child("status"), old.child("status"));
    let (spec, had) = (new.child("spec"), old.child("spec"));
    for condition in status.child("conditions").items() {
        let generation = condition.child("observedGeneration");
        if generation.int() < 0 {
            e.invalid(&generation, "must be a non-negative integer");
        }
        if !matches!(
            condition.text("type"),
            "PodScheduled" | "Ready" | "Initialized"
        ) {
            e.qualified_name(&condition.child_as("type", "Type"));
        }
    }
    if spec.text("nodeName") != had.text("nodeName") {
        e.forbidden(&status.child("nodeName"), "may not be changed directly");
    }
    let nominated = status.child("nominatedNodeName");
    if !nominated.is_empty() && nominated.str() != was.text("nominatedNodeName") {
        e.dns_subdomain(&nominated);
        if !had.text("nodeName").is_empty() {
            let text = "may not be set on pods that are already bound to a node";
            e.forbidden(&nominated, text);
        }
    }
    let generation = status.child("observedGeneration");
    if generation.int() < 0 {
        e.invalid(&generation, "must be a non-negative integer");
    }
    e.immutable(&status.child("qosClass"), &was.child("qosClass"));
    let any_restarts_all = restarts_all(&had);
    for (statuses, containers) in STATUSES {
        let mut all = HashMap::new();
        for it in had.child(containers).list() {
            all.entry(text(it, "name")).or_insert(it);
        }
        transitions(
            e,
            &status.child(statuses),
            &was.child(statuses),
            |name, code| {
                any_restarts_all || (all.get(name)).is_some_and(|it| may_restart(&had, it, code))
            },
        );
    }
    let name = "ephemeralContainerStatuses";
    transitions(e, &status.child(name), &was.child(name), |_, _| false);
    claim_statuses(
        e,
        &status.child("resourceClaimStatuses"),
        &spec.child("resourceClaims"),
    );
    pod_ips(e, &status, &was);
    host_ips(e, &status, &was);
    for name in [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ] {
        users(e, &status.child(name), spec.child("os").text("name"));
    }
}

/// What has ended stays ended, unless it is to run again.
fn transitions(e: &mut Errors, new: &Field, old: &Field, may: impl Fn(&str, i64) -> bool) {
    let mut now_of = HashMap::new();
    for it in new.list() {
        now_of.entry(text(it, "name")).or_insert(it);
    }
    for (index, was) in old.list().iter().enumerate() {
        let Some(ended) = was.at(&["state", "terminated"]).filter(|it| !it.is_null()) else {
            continue;
        };
        let code = ended
            .get("exitCode")
            .and_then(Value::as_i64)
            .unwrap_or_default();
        let name = text(was, "name");
        let now = now_of.get(name);
        let runs = now.is_some_and(|it| it.at(&["state", "terminated"]).is_none_or(Value::is_null));
        if runs && !may(name, code) {
            let at = new.item(index);
            e.forbidden(
                &at.child("state"),
                "may not be transitioned to non-terminated state",
            );
        }
    }
}

/// Whether the end of one container restarts all of them.
fn restarts_all(spec: &Field) -> bool {
    let mut all = false;
    super::each_container(spec, |it| {
        all |= (it.child("restartPolicyRules").list().iter())
            .any(|rule| text(rule, "action") == "RestartAllContainers");
    });
    all
}

/// Rules of a container go before its policy, and that before the pod's.
fn may_restart(spec: &Field, container: &Value, code: i64) -> bool {
    let rules = container.get("restartPolicyRules");
    for rule in rules.and_then(Value::as_array).into_iter().flatten() {
        let values = rule.at(&["exitCodes", "values"]).and_then(Value::as_array);
        let listed = values.is_some_and(|it| it.contains(&code.into()));
        let applies = match rule.str_at(&["exitCodes", "operator"]) {
            Some("In") => listed,
            Some("NotIn") => !listed,
            _ => false,
        };
        if applies && text(rule, "action") == "Restart" {
            return true;
        }
    }
    let own = text(container, "restartPolicy");
    match if own.is_empty() {
        spec.text("restartPolicy")
    } else {
        own
    } {
        "Always" => true,
        "OnFailure" => code != 0,
        _ => false,
    }
}

fn claim_statuses(e: &mut Errors, all: &Field, claims: &Field) {
    let claims: Seen<&str> = claims.list().iter().map(|it| text(it, "name")).collect();
    let mut seen = Seen::default();
    for it in all.items() {
        let name = it.child("name");
        if !claims.contains(&name.str()) {
            e.invalid(
                &name,
                "must match the name of an entry in `spec.resourceClaims`",
            );
        }
        if !seen.insert(it.text("name")) {
            e.duplicate(&name);
        }
        let claim = it.child("resourceClaimName");
        if claim.is_set() {
            e.dns_subdomain(&claim);
        }
    }
}

fn addresses<'a>(all: &Field<'a>) -> Vec<&'a str> {
    all.list().iter().map(|it| text(it, "ip")).collect()
}

fn family_each(e: &mut Errors, all: &Field, addresses: &[&str]) {
    let many = addresses.len() > 1;
    if many && (!ip::is_dual_stack(addresses.iter().copied()) || addresses.len() > 2) {
        let text = "may specify no more than one IP for each IP family";
        e.invalid_as("[]PodIP", all, text);
    }
}

fn pod_ips(e: &mut Errors, status: &Field, was: &Field) {
    let all = status.child("podIPs");
    let (now, before) = (addresses(&all), addresses(&was.child("podIPs")));
    let before: Seen<&str> = before.into_iter().collect();
    for it in all.items() {
        let ip = it.child("ip");
        e.ip(&it.with(ip.value), before.contains(&ip.str()));
    }
    family_each(e, &all, &now);
    let one = status.text("podIP");
    if one.is_empty() != now.is_empty() {
        let text = "podIP and podIPs must either both be set or both be unset";
        e.invalid_as("[]PodIP", &all, text);
    } else if now.first().is_some_and(|first| *first != one) {
        let first = all.item(0);
        e.invalid(&first.child("ip"), "must be equal to `podIP`");
    }
}

fn host_ips(e: &mut Errors, status: &Field, was: &Field) {
    let all = status.child("hostIPs");
    let (now, before) = (addresses(&all), addresses(&was.child("hostIPs")));
    let before: Seen<&str> = before.into_iter().collect();
    if now
        .first()
        .is_some_and(|first| *first != status.text("hostIP"))
    {
        let first = all.item(0);
        e.invalid(&first.child("ip"), "must be equal to `hostIP`");
    }
    for it in all.items() {
        let ip = it.child("ip");
        e.ip(&it.with(ip.value), before.contains(&ip.str()));
    }
    family_each(e, &all, &now);
}

fn users(e: &mut Errors, all: &Field, os: &str) {
    for it in all.items() {
        let user = it.children(&["user", "linux"]);
        if !user.is_set() {
            continue;
        }
        if os == "windows" {
            e.forbidden(&user, "cannot be set for a windows pod");
        } else {
            e.range(&user.child("uid"), 0, i64::from(u32::MAX));
            e.user_id(&user.child("gid"));
            for group in user.child("supplementalGroups").items() {
                e.user_id(&group);
            }
        }
    }
}
