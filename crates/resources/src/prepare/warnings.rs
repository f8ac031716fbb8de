//! Things an object may say but better should not. The texts are what `kubectl` shows after `Warning:`.

mod definitions;
mod list;
mod paths;
mod pod;
mod webhooks;

#[cfg(test)]
mod tests;

use json::Value;
use meta::field::Path;
use meta::names;

use crate::read::{Read, annotation};
use crate::validate::{STATIC_NAMES, STATIC_SUFFIX};
use list::Warnings;
pub(crate) use pod::template;

/// What is said of a new object before it is prepared.
pub fn before_create(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let mut all = Warnings::default();
    if let ("", "Pod") = (group, kind) {
        pod::armor(object, &mut all);
    }
    all.into_vec()
}

/// A certificate and its key, in base64: that they belong together is for others to say.
pub fn key_pair<'a>(group: &str, kind: &str, object: &'a Value) -> Option<(&'a str, &'a str)> {
    let is_tls = (group, kind) == ("", "Secret") && object.text("type") == "kubernetes.io/tls";
    let data = object.find("data").filter(|_| is_tls)?;
    let text = |key: &str| data.str_at(&[key]).unwrap_or_default();
    Some((text("tls.crt"), text("tls.key")))
}

pub fn on_create(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let mut all = Warnings::default();
    let name = object.text("metadata.name");
    if let ("", "Pod") = (group, kind) {
        dns_label(name, "the Pod's hostname", &mut all);
        pod::pod(object, &mut all);
        return all.into_vec();
    }
    let named = matches!(
        (group, kind),
        ("", "ReplicationController")
            | ("apps", "Deployment" | "ReplicaSet")
            | ("batch", "Job" | "CronJob")
    );
    if named {
        dns_label(name, "Pod names and hostnames", &mut all);
    }
    of_template(group, kind, object, &mut all);
    if (group, kind) == ("networking.k8s.io", "Ingress")
        && annotation(object, "kubernetes.io/ingress.class").is_some()
    {
        let key = "kubernetes.io/ingress.class";
        all.push(format!(
            "annotation {key:?} is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
    if (group, kind) == ("apiextensions.k8s.io", "CustomResourceDefinition") {
        definitions::check(object, None, &mut all);
    }
    mountable(group, kind, object, None, &mut all);
    both(group, kind, object, &mut all);
    all.into_vec()
}

fn mountable(group: &str, kind: &str, object: &Value, old: Option<&Value>, all: &mut Warnings) {
    let key = "kubernetes.io/enforce-mountable-secrets";
    if (group, kind) == ("", "ServiceAccount")
        && annotation(object, key).is_some()
        && old.is_none_or(|old| annotation(old, key).is_none())
    {
        all.push(format!(
            "metadata.annotations[{key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        ));
    }
}

/// `new` has been prepared: a template is looked at only where the generation counted up.
pub fn on_update(group: &str, kind: &str, new: &Value, old: &Value) -> Vec<String> {
    let mut all = Warnings::default();
    if (group, kind) == ("", "Pod") {
        return Vec::new();
    }
    if new.int("metadata.generation") != old.int("metadata.generation") {
        of_template(group, kind, new, &mut all);
    }
    if (group, kind) == ("batch", "CronJob") && new.text("spec.schedule").contains("TZ") {
        all.push(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                .into(),
        );
    }
    let name = new.text("metadata.name");
    if group == "admissionregistration.k8s.io" && name.ends_with(STATIC_SUFFIX) {
        all.push(format!("metadata.name: {STATIC_NAMES}"));
    }
    if (group, kind) == ("apiextensions.k8s.io", "CustomResourceDefinition") {
        definitions::check(new, Some(old), &mut all);
    }
    mountable(group, kind, new, Some(old), &mut all);
    both(group, kind, new, &mut all);
    all.into_vec()
}

fn of_template(group: &str, kind: &str, object: &Value, all: &mut Warnings) {
    let path = match (group, kind) {
        ("", "ReplicationController")
        | ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet") => "spec.template",
        ("", "PodTemplate") => "template",
        ("batch", "Job") => {
            many_indexes(object.find("spec"), "spec", all);
            "spec.template"
        }
        ("batch", "CronJob") => {
            many_indexes(
                object.find("spec.jobTemplate.spec"),
                "spec.jobTemplate.spec",
                all,
            );
            "spec.jobTemplate.spec.template"
        }
        _ => return,
    };
    if let Some(found) = object.find(path) {
        template(found, path, all);
    }
}

fn many_indexes(spec: Option<&Value>, path: &str, all: &mut Warnings) {
    let Some(spec) = spec else { return };
    if spec.text("completionMode") == "Indexed"
        && spec.int("completions") > 100_000
        && spec.int("parallelism") > 10_000
    {
        all.push(format!(
            "{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
             Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ));
    }
}

/// What is said on create and on update alike.
fn both(group: &str, kind: &str, object: &Value, all: &mut Warnings) {
    match (group, kind) {
        ("", "Service") => service(object, all),
        ("", "Node") => {
            if object.has("spec.configSource") {
                all.push("spec.configSource: the feature is removed".into());
            }
            if !object.text("spec.externalID").is_empty() {
                all.push(
                    "spec.externalID: this field is deprecated, and is unused by Kubernetes".into(),
                );
            }
        }
        ("", "PersistentVolume") => volume(object, all),
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => webhooks::unseen(object, all),
        ("", "PersistentVolumeClaim") => {
            class_by_annotation(object, all);
            if let Some(spec) = object.find("spec") {
                pod::claim(spec, "spec", all);
            }
        }
        ("", "Endpoints") => {
            for (i, subset) in object.list("subsets").iter().enumerate() {
                for list in ["addresses", "notReadyAddresses"] {
                    for (j, it) in subset.list(list).iter().enumerate() {
                        address(&format!("subsets[{i}].{list}[{j}].ip"), it.text("ip"), all);
                    }
                }
            }
        }
        ("discovery.k8s.io", "EndpointSlice") if object.text("addressType") == "FQDN" => {
            all.push("spec.addressType: FQDN endpoints are deprecated".into());
        }
        ("storage.k8s.io", "StorageClass") => {
            for (i, term) in object.list("allowedTopologies").iter().enumerate() {
                for (j, it) in term.list("matchLabelExpressions").iter().enumerate() {
                    if let Some(text) = pod::deprecated_label(it.text("key")) {
                        all.push(format!(
                            "allowedTopologies[{i}].matchLabelExpressions[{j}].key: {text}"
                        ));
                    }
                }
            }
        }
        ("apps", "StatefulSet") => {
            for (index, claim) in object.list("spec.volumeClaimTemplates").iter().enumerate() {
                if let Some(spec) = claim.find("spec") {
                    pod::claim(spec, &format!("spec.volumeClaimTemplates[{index}]"), all);
                }
            }
            if object.int("spec.revisionHistoryLimit") < 0 {
                all.push(
                    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is \
                     recommended"
                        .into(),
                );
            }
        }
        _ => {}
    }
}

fn service(service: &Value, all: &mut Warnings) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    const MODE: &str = "service.kubernetes.io/topology-mode";
    if annotation(service, HINTS).is_some() {
        all.push(format!(
            "annotation {HINTS} is deprecated, please use {MODE} instead"
        ));
    }
    let kind = service.text("spec.type");
    let texts = |path| crate::read::texts(service, path);
    let headless = kind == "ClusterIP" && service.text("spec.clusterIP") == "None";
    if !headless && kind != "ExternalName" {
        for (index, ip) in texts("spec.clusterIPs").into_iter().enumerate() {
            address(&format!("spec.clusterIPs[{index}]"), ip, all);
        }
    }
    let external = texts("spec.externalIPs");
    if headless {
        if !service.text("spec.loadBalancerIP").is_empty() {
            all.push("spec.loadBalancerIP is ignored for headless services".into());
        }
        if !external.is_empty() {
            all.push("spec.externalIPs is ignored for headless services".into());
        }
        if service.text("spec.sessionAffinity") != "None" {
            all.push("spec.SessionAffinity is ignored for headless services".into());
        }
    }
    for (index, ip) in external.iter().enumerate() {
        address(&format!("spec.externalIPs[{index}]"), ip, all);
    }
    if !external.is_empty() && !headless && kind != "ExternalName" {
        all.push(
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
                .into(),
        );
    }
    address(
        "spec.loadBalancerIP",
        service.text("spec.loadBalancerIP"),
        all,
    );
    for (index, range) in texts("spec.loadBalancerSourceRanges")
        .into_iter()
        .enumerate()
    {
        let path = format!("spec.loadBalancerSourceRanges[{index}]");
        all.extend(names::cidr_warnings(&Path::new(&path), range));
    }
    if kind == "ExternalName" && !external.is_empty() {
        all.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".into());
    }
    if kind != "ExternalName" && !service.text("spec.externalName").is_empty() {
        all.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".into());
    }
    if service.text("spec.trafficDistribution") == "PreferClose" {
        all.push(
            "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\""
                .into(),
        );
    }
}

fn class_by_annotation(object: &Value, all: &mut Warnings) {
    let text = "deprecated since v1.8; use \"storageClassName\" attribute instead";
    by_annotation(object, "volume.beta.kubernetes.io/storage-class", text, all);
}

fn by_annotation(object: &Value, key: &str, text: &str, all: &mut Warnings) {
    if annotation(object, key).is_some() {
        all.push(format!("metadata.annotations[{key}]: {text}"));
    }
}

fn volume(volume: &Value, all: &mut Warnings) {
    class_by_annotation(volume, all);
    let text = "deprecated since v1.31; use \"mountOptions\" attribute instead";
    by_annotation(volume, "volume.beta.kubernetes.io/mount-options", text, all);
    if volume.text("spec.persistentVolumeReclaimPolicy") == "Recycle" {
        all.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended \
             approach is to use dynamic provisioning."
                .into(),
        );
    }
    for (index, term) in volume
        .list("spec.nodeAffinity.required.nodeSelectorTerms")
        .iter()
        .enumerate()
    {
        pod::selector_term(
            term,
            &format!("spec.nodeAffinity.required.nodeSelectorTerms[{index}]"),
            all,
        );
    }
    for (plugin, text) in pod::PLUGINS {
        if !matches!(*plugin, "gitRepo" | "flocker" | "quobyte")
            && volume.at(&["spec", plugin]).is_some()
        {
            all.push(format!("spec.{plugin}: {text}"));
        }
    }
}

fn dns_label(name: &str, used_in: &str, all: &mut Warnings) {
    let wrong = names::dns1123_label(name);
    if !wrong.is_empty() {
        all.push(format!(
            "metadata.name: this is used in {used_in}, which can result in surprising behavior; a DNS label is \
             recommended: [{}]",
            wrong.join(" ")
        ));
    }
}

/// An address in a form that was once taken and may mean different things to different readers.
fn address(path: &str, text: &str, all: &mut Warnings) {
    all.extend(names::ip_warnings(&Path::new(path), text));
}
