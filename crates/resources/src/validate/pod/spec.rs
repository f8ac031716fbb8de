//! The spec of a pod, in a pod or in a template.

use std::collections::HashMap;

use super::containers::{self, Surroundings};
use super::{each_container, resources, scheduling, security, volumes};
use crate::validate::errors::Errors;
use crate::validate::field::{Field, text};
use crate::validate::seen::Seen;

/// Only a pod has a name that its volumes depend on.
pub(super) fn spec(e: &mut Errors, spec: &Field, pod: Option<&Field>) {
    let grace = spec.child("terminationGracePeriodSeconds");
    if !grace.is_set() {
        e.required(&grace, "");
    }
    let metadata = pod.map(|pod| pod.child("metadata"));
    let all_volumes = spec.child("volumes");
    let pod_name = metadata.map_or("", |it| it.text("name"));
    let claims = spec.child("resourceClaims");
    let surroundings = Surroundings {
        volumes: volumes::volumes(e, &all_volumes, pod_name),
        claims: claims
            .list()
            .iter()
            .map(|it| text(it, "name"))
            .filter(|it| !it.is_empty())
            .collect(),
        restart_policy: spec.text("restartPolicy"),
        grace_period: grace.opt_int(),
        os: spec.has("os").then(|| spec.child("os").text("name")),
        host_users: spec.child("hostUsers").opt_bool().unwrap_or(true),
    };
    resource_claims(e, &claims, metadata.as_ref());
    let regular = spec.child("containers");
    containers::regular(e, &regular, &surroundings);
    containers::init(e, &spec.child("initContainers"), &regular, &surroundings);
    containers::ephemeral(e, spec, &surroundings);
    resources::of_pod(e, spec, &surroundings.claims);
    host_network_ports(e, spec, pod.is_some());
    e.required_one_of(
        &spec.child("restartPolicy"),
        &["Always", "OnFailure", "Never"],
    );
    let dns_policies = &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    e.required_one_of(&spec.child("dnsPolicy"), dns_policies);
    e.labels(&spec.child("nodeSelector"));
    security::pod(e, &spec.child("securityContext"), spec);
    if spec.flag("hostPID") && spec.flag("shareProcessNamespace") {
        let text = "ShareProcessNamespace and HostPID cannot both be enabled";
        e.invalid(&spec.child("shareProcessNamespace"), text);
    }
    scheduling::affinity(e, &spec.child("affinity"));
    dns_config(e, &spec.child("dnsConfig"), spec.text("dnsPolicy"));
    for gate in spec.child("readinessGates").items() {
        e.qualified_name(&gate.child("conditionType"));
    }
    scheduling_gates(e, &spec.child("schedulingGates"));
    scheduling::spread(e, &spec.child("topologySpreadConstraints"));
    security::host_process(e, spec);
    security::users(e, spec);
    security::names_of_host(e, spec);
    identity(e, spec);
    if spec.has("overhead") {
        resources::overhead(e, &spec.child("overhead"));
    }
    security::os(e, spec);
    scheduling_group(e, &spec.child("schedulingGroup"));
    file_key_volumes(e, spec);
}

fn identity(e: &mut Errors, spec: &Field) {
    let account = spec.child("serviceAccountName");
    if !account.is_empty() {
        e.dns_subdomain(&account);
    }
    let deprecated = spec.text("serviceAccount");
    if !deprecated.is_empty() && deprecated != account.str() {
        let why = format!(
            "must be the same as serviceAccountName: {}",
            meta::go::quote(account.str())
        );
        e.invalid(
            &spec.child_as("serviceAccount", "deprecatedServiceAccount"),
            &why,
        );
    }
    let node = spec.child("nodeName");
    if !node.is_empty() {
        e.dns_subdomain(&node);
    }
    let deadline = spec.child("activeDeadlineSeconds");
    if deadline.is_set() {
        e.range(&deadline, 1, i64::from(i32::MAX));
    }
    for name in ["hostname", "subdomain"] {
        let name = spec.child(name);
        if !name.is_empty() {
            e.dns_label(&name);
        }
    }
    scheduling::tolerations(e, &spec.child("tolerations"));
    for alias in spec.child("hostAliases").items() {
        e.ip(&alias.child("ip"), false);
        for name in alias.child("hostnames").items() {
            e.dns_subdomain(&name);
        }
    }
    let priority = spec.child("priorityClassName");
    if !priority.is_empty() {
        e.dns_subdomain(&priority);
    }
    let runtime = spec.child("runtimeClassName");
    if runtime.is_set() {
        e.dns_subdomain(&runtime);
    }
    let preemption = spec.child("preemptionPolicy");
    if preemption.is_set() {
        e.required_one_of(&preemption, &["PreemptLowerPriority", "Never"]);
    }
}

fn resource_claims(e: &mut Errors, all: &Field, metadata: Option<&Field>) {
    let mirror = super::annotations::MIRROR;
    let is_static = metadata.is_some_and(|it| it.child("annotations").has(mirror));
    let mut seen = Seen::default();
    for it in all.items() {
        if is_static {
            e.push_with(|| {
                meta::field::Error::forbidden(
                    meta::field::Path::new(""),
                    "static pods do not support resource claims",
                )
            });
            continue;
        }
        let again = !seen.insert(it.text("name"));
        let name = it.child("name");
        if e.required_text(&name) {
            if again {
                e.duplicate(&name);
            } else {
                e.dns_label(&name);
            }
        }
        let (claim, template) = (
            it.child("resourceClaimName"),
            it.child("resourceClaimTemplateName"),
        );
        if claim.is_set() && template.is_set() {
            let text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
            e.invalid_as("PodResourceClaim", &it, text);
        }
        if !claim.is_set() && !template.is_set() {
            let text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
            e.invalid_as("PodResourceClaim", &it, text);
        }
        for name in [claim, template] {
            if name.is_set() {
                e.dns_subdomain(&name);
            }
        }
    }
}

/// A template may leave host ports to defaulting.
fn host_network_ports(e: &mut Errors, spec: &Field, is_pod: bool) {
    if !spec.flag("hostNetwork") {
        return;
    }
    for container in spec.child("containers").items() {
        for port in container.child("ports").items() {
            let (host, own) = (port.number("hostPort"), port.number("containerPort"));
            if (is_pod || host != 0) && host != own {
                let text = "must match `containerPort` when `hostNetwork` is true";
                e.invalid_value(&port.child("hostPort"), host, text);
            }
        }
    }
}

fn dns_config(e: &mut Errors, it: &Field, policy: &str) {
    let servers = it.child("nameservers");
    if policy == "None" {
        if !it.is_set() {
            return e.required(it, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if servers.is_empty() {
            let text = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return e.required(&servers, text);
        }
    }
    if servers.len() > 3 {
        e.invalid(&servers, "must not have more than 3 nameservers");
    }
    for server in servers.items() {
        e.ip(&server, false);
    }
    let searches = it.child("searches");
    if searches.len() > 32 {
        e.invalid(&searches, "must not have more than 32 search paths");
    }
    let length = searches.texts().map(|it| it.len() + 1).sum::<usize>();
    if length > 2048 + 1 {
        let text = "must not have more than 2048 characters (including spaces) in the search list";
        e.invalid(&searches, text);
    }
    for search in searches.items().filter(|it| it.str() != ".") {
        let name = search.str().strip_suffix('.').unwrap_or(search.str());
        for wrong in meta::names::dns1123_subdomain_with_underscore(name) {
            e.invalid_value(&search, name, &wrong);
        }
    }
    for option in it.child("options").items() {
        if option.text("name").is_empty() {
            e.required(&option, "must not be empty");
        }
    }
}

fn scheduling_gates(e: &mut Errors, all: &Field) {
    let mut seen = Seen::default();
    for gate in all.items() {
        let name = gate.text("name");
        for wrong in meta::names::qualified_name(name) {
            e.invalid_value(&gate, name, &wrong);
        }
        if !seen.insert(gate.text("name")) {
            e.duplicate_value(&gate, name);
        }
    }
}

fn scheduling_group(e: &mut Errors, it: &Field) {
    if !it.is_set() {
        return;
    }
    let name = it.child("podGroupName");
    if name.is_set() {
        e.dns_subdomain(&name);
    } else {
        e.invalid_value(
            &name,
            json::Value::Null,
            "must specify one of: `podGroupName`",
        );
    }
}

fn file_key_volumes(e: &mut Errors, spec: &Field) {
    let mut volumes = HashMap::new();
    for volume in spec.child("volumes").list() {
        volumes.entry(text(volume, "name")).or_insert(volume);
    }
    each_container(spec, |container| {
        for variable in container.child("env").items() {
            let from = variable.children(&["valueFrom", "fileKeyRef"]);
            if !from.is_set() {
                continue;
            }
            let name = from.child("volumeName");
            match volumes.get(name.str()) {
                None => e.not_found(&name),
                Some(it) if it.get("emptyDir").is_some_and(|it| !it.is_null()) => {}
                Some(_) => e.invalid(&name, "referenced volume must be of type emptyDir"),
            }
        }
    });
}
