//! Containers of all three sorts.

use std::collections::HashMap;

use super::env;
use super::mounts;
use super::probes;
use super::resources;
use super::security;
use crate::validate::errors::Errors;
use crate::validate::field::{Field, int, text};
use crate::validate::seen::Seen;
use meta::names;

/// What containers need to know of the pod they are in.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    /// Valid volumes only, by their names: a mount of another is not found.
    pub(super) volumes: HashMap<&'a str, Field<'a>>,
    pub(super) claims: Seen<&'a str>,
    pub(super) restart_policy: &'a str,
    pub(super) grace_period: Option<i64>,
    pub(super) os: Option<&'a str>,
    pub(super) host_users: bool,
}

pub(super) fn regular(e: &mut Errors, all: &Field, pod: &Surroundings) {
    if all.is_empty() {
        return e.required(all, "");
    }
    let mut names = Seen::default();
    for it in all.items() {
        common(e, &it, pod);
        unique_name(e, &it, &mut names);
        long_running(e, &it, pod);
        restart_policy(e, &it, false);
    }
    host_ports(e, all.items());
}

pub(super) fn init(e: &mut Errors, all: &Field, regular: &Field, pod: &Surroundings) {
    if all.is_empty() {
        return;
    }
    let mut names: Seen<&str> = regular.items().map(|it| it.text("name")).collect();
    for it in all.items() {
        common(e, &it, pod);
        let sidecar = it.text("restartPolicy") == "Always";
        restart_policy(e, &it, true);
        unique_name(e, &it, &mut names);
        // They run one after the other, so that ports only collide within one.
        host_ports(e, std::iter::once(it));
        if sidecar {
            long_running(e, &it, pod);
        } else {
            for name in [
                "lifecycle",
                "livenessProbe",
                "readinessProbe",
                "startupProbe",
            ] {
                if it.has(name) {
                    let text = "may not be set for init containers without restartPolicy=Always";
                    e.forbidden(&it.child(name), text);
                }
            }
            let policies = it.child("resizePolicy");
            for policy in policies.items() {
                if policy.text("restartPolicy") == "RestartContainer" {
                    let text =
                        "must not be set to 'RestartContainer' for non-sidecar initContainers";
                    e.invalid(&policy.child("restartPolicy"), text);
                }
            }
        }
    }
}

/// In the order of the struct's fields.
const NOT_EPHEMERAL: &[&str] = &[
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

pub(super) fn ephemeral(e: &mut Errors, spec: &Field, pod: &Surroundings) {
    let all = spec.child("ephemeralContainers");
    if all.is_empty() {
        return;
    }
    let text = "cannot be set for an Ephemeral Container";
    let (regular, init) = (spec.child("containers"), spec.child("initContainers"));
    let others = || {
        regular
            .items()
            .chain(init.items())
            .map(|it| it.text("name"))
    };
    let (others, mut names): (Seen<&str>, Seen<&str>) = (others().collect(), others().collect());
    for it in all.items() {
        common(e, &it, pod);
        image_without_space(e, &it);
        unique_name(e, &it, &mut names);
        let target = it.child("targetContainerName");
        if !target.is_empty() && !others.contains(&target.str()) {
            e.not_found(&target);
        }
        for name in NOT_EPHEMERAL {
            let field = it.child(name);
            if field.is_set() && !(field.value.as_object().is_some() && field.is_empty()) {
                e.forbidden(&field, text);
            }
        }
        for mount in it.child("volumeMounts").items() {
            for name in ["subPath", "subPathExpr"] {
                if !mount.text(name).is_empty() {
                    e.forbidden(&mount.child(name), text);
                }
            }
        }
    }
}

/// Only pods refuse this: templates may hold anything there.
pub(super) fn image_without_space(e: &mut Errors, container: &Field) {
    let image = container.child("image");
    if image.str().trim().len() != image.len() {
        e.invalid(&image, "must not have leading or trailing whitespace");
    }
}

fn unique_name<'a>(e: &mut Errors, container: &Field<'a>, names: &mut Seen<&'a str>) {
    let name = container.text("name");
    // One without a name is told so, unless a container of another sort has none.
    let again = if name.is_empty() {
        names.contains(&name)
    } else {
        !names.insert(name)
    };
    if again {
        e.duplicate(&container.child("name"));
    }
}

fn common(e: &mut Errors, it: &Field, pod: &Surroundings) {
    let name = it.child("name");
    if e.required_text(&name) {
        e.dns_label(&name);
    }
    e.required_text(&it.child("image"));
    e.required_one_of(
        &it.child("terminationMessagePolicy"),
        &["File", "FallbackToLogsOnError"],
    );
    ports(e, &it.child("ports"));
    env::variables(e, &it.child("env"));
    env::sources(e, &it.child("envFrom"));
    mounts::mounts(e, it, pod);
    mounts::devices(e, it, pod);
    e.required_one_of(&it.child("imagePullPolicy"), PULL_POLICIES);
    resources::container(e, &it.child("resources"), &pod.claims);
    resize_policy(e, &it.child("resizePolicy"), pod.restart_policy);
    security::container(e, &it.child("securityContext"), pod.host_users);
}

pub(super) const PULL_POLICIES: &[&str] = &["Always", "IfNotPresent", "Never"];

fn long_running(e: &mut Errors, it: &Field, pod: &Surroundings) {
    probes::lifecycle(e, &it.child("lifecycle"), pod);
    probes::liveness(e, &it.child("livenessProbe"), pod.grace_period);
    probes::readiness(e, &it.child("readinessProbe"), pod.grace_period);
    probes::liveness(e, &it.child("startupProbe"), pod.grace_period);
}

pub(crate) const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];

fn ports(e: &mut Errors, all: &Field) {
    let mut seen = Seen::default();
    for port in all.items() {
        let name = port.child("name");
        if !name.is_empty() {
            let wrong = names::port_name(name.str());
            if !wrong.is_empty() {
                e.invalid_all(&name, wrong);
            } else if !seen.insert(port.text("name")) {
                e.duplicate(&name);
            }
        }
        let number = port.child("containerPort");
        if number.int() == 0 {
            e.required(&number, "");
        } else {
            e.port_number(&number);
        }
        let host = port.child("hostPort");
        if host.int() != 0 {
            e.port_number(&host);
        }
        e.required_one_of(&port.child("protocol"), PROTOCOLS);
    }
}

/// Unless they have different protocols or addresses.
fn host_ports<'a>(e: &mut Errors, containers: impl Iterator<Item = Field<'a>>) {
    let mut seen: Seen<(&str, &str, i64)> = Seen::default();
    for container in containers {
        let all = container.value.get("ports").and_then(json::Value::as_array);
        let ports = container.child("ports");
        for (index, port) in all.into_iter().flatten().enumerate() {
            let number = int(port, "hostPort");
            if number == 0 {
                continue;
            }
            let key = (text(port, "protocol"), text(port, "hostIP"), number);
            if !seen.insert(key) {
                let shown = format!("{}/{}/{number}", key.0, key.1);
                e.duplicate_value(&ports.item(index).child("hostPort"), shown);
            }
        }
    }
}

fn resize_policy(e: &mut Errors, all: &Field, pod_policy: &str) {
    let mut seen = Seen::default();
    for it in all.items() {
        let (resource, policy) = (it.text("resourceName"), it.text("restartPolicy"));
        if !seen.insert(resource) {
            e.duplicate_value(&it, resource);
        }
        e.required_one_of(
            &all.with(it.child("resourceName").value),
            &["cpu", "memory"],
        );
        let restart = all.with(it.child("restartPolicy").value);
        e.required_one_of(&restart, &["NotRequired", "RestartContainer"]);
        if pod_policy == "Never" && policy != "NotRequired" {
            let text = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            e.invalid(&restart, text);
        }
    }
}

fn restart_policy(e: &mut Errors, container: &Field, init: bool) {
    let policy = container.child("restartPolicy");
    let rules = container.child("restartPolicyRules");
    if policy.is_set() {
        e.one_of(&policy, &["Always", "Never", "OnFailure"]);
    } else if !rules.is_empty() {
        let why = "must specify restartPolicy when restart rules are used";
        e.required(&policy, why);
        if init {
            return;
        }
    }
    if rules.len() > 20 {
        e.too_many(&rules, 20);
    }
    for rule in rules.items() {
        e.one_of(&rule.child("action"), &["Restart", "RestartAllContainers"]);
        let codes = rule.child("exitCodes");
        if codes.is_set() {
            e.one_of(&codes.child("operator"), &["In", "NotIn"]);
            let values = codes.child("values");
            if values.len() > 255 {
                e.too_many(&values, 255);
            }
        } else {
            e.required(&codes, "must be specified");
        }
    }
}
