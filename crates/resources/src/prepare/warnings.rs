//! Things an object may say but better should not. The texts are what `kubectl` shows after `Warning:`.

pub(crate) mod definitions;
mod list;
mod paths;
pub(crate) mod pod;
pub(crate) mod webhooks;

#[cfg(test)]
mod tests;

use json::Value;
use meta::field::Path;
use meta::names;

use crate::read::{Read, annotation};
use crate::strategy;
use crate::validate::{STATIC_NAMES, STATIC_SUFFIX};
pub(crate) use list::Warnings;
pub(crate) use pod::template;

/// What a kind warns of. Functions get the object, the old one on an update, and where to put warnings.
#[derive(Clone, Copy)]
pub(crate) struct Warn {
    /// Before a new object is prepared.
    pub(crate) before_create: fn(&Value, &mut Warnings),
    /// What the name of the object becomes a part of, which wants a DNS label.
    pub(crate) name_used_in: Option<&'static str>,
    /// The path of a Job's spec.
    pub(crate) job: Option<&'static str>,
    /// The path of a pod template. On an update it is looked at if the generation counted up.
    pub(crate) template: Option<&'static str>,
    pub(crate) create: fn(&Value, &mut Warnings),
    pub(crate) update: fn(&Value, &Value, &mut Warnings),
    /// On create and on update, after the others.
    pub(crate) both: fn(&Value, &mut Warnings),
    /// A certificate and its key, in base64, that must belong together.
    pub(crate) key_pair: fn(&Value) -> Option<(&str, &str)>,
}

impl Warn {
    pub(crate) const NOTHING: Self = Self {
        before_create: |_, _| {},
        name_used_in: None,
        job: None,
        template: None,
        create: |_, _| {},
        update: |_, _, _| {},
        both: |_, _| {},
        key_pair: |_| None,
    };
}

/// What is said of a new object before it is prepared.
pub fn before_create(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let mut all = Warnings::default();
    (strategy::find(group, kind).warnings.before_create)(object, &mut all);
    all.into_vec()
}

/// A certificate and its key, in base64, if the object holds such a pair. Whether they belong together is checked by the
/// caller, who knows how to read them.
pub fn key_pair<'a>(group: &str, kind: &str, object: &'a Value) -> Option<(&'a str, &'a str)> {
    (strategy::find(group, kind).warnings.key_pair)(object)
}

pub fn on_create(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let mut all = Warnings::default();
    let warn = &strategy::find(group, kind).warnings;
    if let Some(used_in) = warn.name_used_in {
        dns_label(object.text("metadata.name"), used_in, &mut all);
    }
    of_template(warn, object, &mut all);
    (warn.create)(object, &mut all);
    (warn.both)(object, &mut all);
    all.into_vec()
}

/// `new` has been prepared: a template is looked at only where the generation counted up.
pub fn on_update(group: &str, kind: &str, new: &Value, old: &Value) -> Vec<String> {
    let mut all = Warnings::default();
    let warn = &strategy::find(group, kind).warnings;
    if new.int("metadata.generation") != old.int("metadata.generation") {
        of_template(warn, new, &mut all);
    }
    (warn.update)(new, old, &mut all);
    (warn.both)(new, &mut all);
    all.into_vec()
}

fn of_template(warn: &Warn, object: &Value, all: &mut Warnings) {
    if let Some(path) = warn.job {
        many_indexes(object.find(path), path, all);
    }
    if let Some(path) = warn.template
        && let Some(found) = object.find(path)
    {
        template(found, path, all);
    }
}

pub(crate) fn tls_pair(secret: &Value) -> Option<(&str, &str)> {
    let is_tls = secret.text("type") == "kubernetes.io/tls";
    let data = secret.find("data").filter(|_| is_tls)?;
    let text = |key: &str| data.str_at(&[key]).unwrap_or_default();
    Some((text("tls.crt"), text("tls.key")))
}

pub(crate) fn ingress(ingress: &Value, all: &mut Warnings) {
    let key = "kubernetes.io/ingress.class";
    if annotation(ingress, key).is_some() {
        all.push(format!(
            "annotation {key:?} is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
}

pub(crate) fn mountable_secrets(object: &Value, old: Option<&Value>, all: &mut Warnings) {
    let key = "kubernetes.io/enforce-mountable-secrets";
    if annotation(object, key).is_some() && old.is_none_or(|old| annotation(old, key).is_none()) {
        all.push(format!(
            "metadata.annotations[{key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        ));
    }
}

pub(crate) fn cron_time_zone(new: &Value, all: &mut Warnings) {
    if new.text("spec.schedule").contains("TZ") {
        all.push(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                .into(),
        );
    }
}

/// Names that end so are kept for manifests that are files on the server.
pub(crate) fn static_name(new: &Value, all: &mut Warnings) {
    if new.text("metadata.name").ends_with(STATIC_SUFFIX) {
        all.push(format!("metadata.name: {STATIC_NAMES}"));
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

pub(crate) fn node(node: &Value, all: &mut Warnings) {
    if node.has("spec.configSource") {
        all.push("spec.configSource: the feature is removed".into());
    }
    if !node.text("spec.externalID").is_empty() {
        all.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".into());
    }
}

pub(crate) fn claim(claim: &Value, all: &mut Warnings) {
    class_by_annotation(claim, all);
    if let Some(spec) = claim.find("spec") {
        pod::claim(spec, "spec", all);
    }
}

pub(crate) fn endpoints(endpoints: &Value, all: &mut Warnings) {
    for (i, subset) in endpoints.list("subsets").iter().enumerate() {
        for list in ["addresses", "notReadyAddresses"] {
            for (j, it) in subset.list(list).iter().enumerate() {
                address(&format!("subsets[{i}].{list}[{j}].ip"), it.text("ip"), all);
            }
        }
    }
}

pub(crate) fn endpoint_slice(slice: &Value, all: &mut Warnings) {
    if slice.text("addressType") == "FQDN" {
        all.push("spec.addressType: FQDN endpoints are deprecated".into());
    }
}

pub(crate) fn storage_class(class: &Value, all: &mut Warnings) {
    for (i, term) in class.list("allowedTopologies").iter().enumerate() {
        for (j, it) in term.list("matchLabelExpressions").iter().enumerate() {
            if let Some(text) = pod::deprecated_label(it.text("key")) {
                all.push(format!(
                    "allowedTopologies[{i}].matchLabelExpressions[{j}].key: {text}"
                ));
            }
        }
    }
}

pub(crate) fn stateful_set(set: &Value, all: &mut Warnings) {
    for (index, claim) in set.list("spec.volumeClaimTemplates").iter().enumerate() {
        if let Some(spec) = claim.find("spec") {
            pod::claim(spec, &format!("spec.volumeClaimTemplates[{index}]"), all);
        }
    }
    if set.int("spec.revisionHistoryLimit") < 0 {
        all.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is \
             recommended"
                .into(),
        );
    }
}

pub(crate) fn service(service: &Value, all: &mut Warnings) {
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

pub(crate) fn volume(volume: &Value, all: &mut Warnings) {
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
