//! Pods and their templates.

use std::collections::{HashMap, HashSet};

use json::{Object, Value};

use meta::go::quote;

use super::{Warnings, address, paths};
use crate::quantity::{self, Quantity};
use crate::read::{Read, annotation, texts};

/// Volumes that went, and when.
pub(crate) const PLUGINS: &[(&str, &str)] = &[
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

const NODE_LABELS: &[(&str, &str)] = &[
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

const ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// With how many earlier ones a port is compared.
const MOST_CLASHES: usize = 64;

const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

pub(crate) fn pod(pod: &Value, all: &mut Warnings) {
    check(pod, "", false, all);
}

/// `path` is where the template stands.
pub(crate) fn template(template: &Value, path: &str, all: &mut Warnings) {
    check(template, &format!("{path}."), true, all);
}

/// Of a pod this is said before the annotation has become a field, of a template it stays one.
pub(crate) fn armor(pod: &Value, all: &mut Warnings) {
    if pod.text("spec.os.name") != "windows" {
        for (container, _) in containers(pod, "") {
            app_armor(pod, container, "", all);
        }
    }
}

fn app_armor(pod: &Value, container: &Value, at: &str, all: &mut Warnings) {
    let name = container.text("name");
    let key = format!("container.apparmor.security.beta.kubernetes.io/{name}");
    let Some(annotation) = annotation(pod, &key) else {
        return;
    };
    let field = crate::prepare::pod::profile(annotation);
    let of_pod = pod.find("spec.securityContext.appArmorProfile");
    let is_said = field.is_some() && field.as_ref() == of_pod;
    if !is_said && !container.has("securityContext.appArmorProfile") {
        all.push(format!(
            "{at}metadata.annotations[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead"
        ));
    }
}

fn check(pod: &Value, at: &str, is_template: bool, all: &mut Warnings) {
    scheduling(pod, at, all);
    for (key, text) in ANNOTATIONS {
        if annotation(pod, key).is_some() {
            all.push(format!("{at}metadata.annotations[{key}]: {text}"));
        }
    }
    volumes(pod, at, all);
    paths::check(pod.list("spec.volumes"), all);
    references(pod, at, all);
    for key in ["memory", "ephemeral-storage"] {
        fraction(
            pod.at(&["spec", "overhead", key]),
            &format!("{at}spec.overhead[{key}]"),
            all,
        );
    }
    let seccomp = |context: Option<&Value>| context.is_some_and(|it| it.has("seccompProfile"));
    let gone = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
    let key = "seccomp.security.alpha.kubernetes.io/pod";
    if !seccomp(pod.find("spec.securityContext")) && annotation(pod, key).is_some() {
        all.push(format!("{at}metadata.annotations[{key}]: {gone}"));
    }
    for (container, path) in containers(pod, at) {
        let name = container.text("name");
        let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
        if !seccomp(container.find("securityContext")) && annotation(pod, &key).is_some() {
            all.push(format!("{at}metadata.annotations[{key}]: {gone}"));
        }
        if is_template {
            app_armor(pod, container, at, all);
        }
        for key in ["memory", "ephemeral-storage"] {
            for list in ["limits", "requests"] {
                fraction(
                    container.at(&["resources", list, key]),
                    &format!("{path}.resources.{list}[{key}]"),
                    all,
                );
            }
        }
        environment(container, &path, all);
    }
    ports(pod, at, all);
    if pod.int("spec.terminationGracePeriodSeconds") < 0 {
        all.push(format!(
            "{at}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    affinity(pod, at, all);
    for (index, ip) in texts(pod, "spec.dnsConfig.nameservers")
        .into_iter()
        .enumerate()
    {
        address(&format!("{at}spec.dnsConfig.nameservers[{index}]"), ip, all);
    }
    for (index, alias) in pod.list("spec.hostAliases").iter().enumerate() {
        address(
            &format!("{at}spec.hostAliases[{index}].ip"),
            alias.text("ip"),
            all,
        );
    }
}

fn containers<'a>(pod: &'a Value, at: &str) -> Vec<(&'a Value, String)> {
    let list = |key: &'static str| {
        let items = pod.list(&format!("spec.{key}")).iter().enumerate();
        items
            .map(move |(index, it)| (it, format!("spec.{key}[{index}]")))
            .collect::<Vec<_>>()
    };
    let all = LISTS.into_iter().flat_map(list);
    all.map(|(it, path)| (it, format!("{at}{path}"))).collect()
}

pub(crate) fn deprecated_label(key: &str) -> Option<&'static str> {
    NODE_LABELS
        .iter()
        .find(|(it, _)| *it == key)
        .map(|(_, text)| *text)
}

fn scheduling(pod: &Value, at: &str, all: &mut Warnings) {
    let selector = pod.find("spec.nodeSelector").and_then(Value::as_object);
    for (key, _) in selector.into_iter().flat_map(Object::iter) {
        if let Some(text) = deprecated_label(key) {
            all.push(format!("{at}spec.nodeSelector[{key}]: {text}"));
        }
    }
    let required = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    for (index, term) in pod.list(required).iter().enumerate() {
        selector_term(term, &format!("{at}{required}[{index}]"), all);
    }
    let preferred = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution";
    for (index, term) in pod.list(preferred).iter().enumerate() {
        if let Some(term) = term.find("preference") {
            selector_term(term, &format!("{at}{preferred}[{index}].preference"), all);
        }
    }
    for (index, it) in pod
        .list("spec.topologySpreadConstraints")
        .iter()
        .enumerate()
    {
        let path = format!("{at}spec.topologySpreadConstraints[{index}]");
        let key = it.text("topologyKey");
        if let Some(text) = deprecated_label(key) {
            all.push(format!("{path}.topologyKey: {key} is {text}"));
        }
        null_selector(it, &path, all);
    }
}

pub(crate) fn selector_term(term: &Value, path: &str, all: &mut Warnings) {
    for (index, expression) in term.list("matchExpressions").iter().enumerate() {
        let key = expression.text("key");
        if let Some(text) = deprecated_label(key) {
            all.push(format!(
                "{path}.matchExpressions[{index}].key: {key} is {text}"
            ));
        }
    }
}

fn null_selector(term: &Value, path: &str, all: &mut Warnings) {
    if !term.has("labelSelector") {
        all.push(format!(
            "{path}.labelSelector: a null labelSelector results in matching no pod"
        ));
    }
}

fn affinity(pod: &Value, at: &str, all: &mut Warnings) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let required =
            format!("spec.affinity.{kind}.requiredDuringSchedulingIgnoredDuringExecution");
        for (index, term) in pod.list(&required).iter().enumerate() {
            null_selector(term, &format!("{at}{required}[{index}]"), all);
        }
        let preferred =
            format!("spec.affinity.{kind}.preferredDuringSchedulingIgnoredDuringExecution");
        for (index, term) in pod.list(&preferred).iter().enumerate() {
            let empty = Value::Null;
            let term = term.find("podAffinityTerm").unwrap_or(&empty);
            null_selector(
                term,
                &format!("{at}{preferred}[{index}].podAffinityTerm"),
                all,
            );
        }
    }
}

fn volumes(pod: &Value, at: &str, all: &mut Warnings) {
    for (index, volume) in pod.list("spec.volumes").iter().enumerate() {
        let path = format!("{at}spec.volumes[{index}]");
        for (plugin, text) in PLUGINS {
            if volume.has(plugin) {
                all.push(format!("{path}.{plugin}: {text}"));
            }
        }
        if let Some(spec) = volume.find("ephemeral.volumeClaimTemplate.spec") {
            claim(
                spec,
                &format!("{path}.ephemeral.volumeClaimTemplate.spec"),
                all,
            );
        }
    }
}

/// The spec of a claim.
pub(crate) fn claim(spec: &Value, path: &str, all: &mut Warnings) {
    for list in ["requests", "limits"] {
        fraction(
            spec.at(&["resources", list, "storage"]),
            &format!("{path}.resources.{list}[storage]"),
            all,
        );
    }
}

fn fraction(amount: Option<&Value>, path: &str, all: &mut Warnings) {
    if let Some(amount) = amount.and_then(quantity::of)
        && Quantity::new(amount.value(), amount.format()) != amount
    {
        let text = quote(&amount.to_string());
        all.push(format!(
            "{path}: fractional byte value {text} is invalid, must be an integer"
        ));
    }
}

fn references(pod: &Value, at: &str, all: &mut Warnings) {
    for (list, key) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        let mut seen = HashSet::new();
        for (index, item) in pod.list(&format!("spec.{list}")).iter().enumerate() {
            let value = item.text(key);
            if !seen.insert(value) {
                all.push(format!(
                    "{at}spec.{list}[{index}].{key}: duplicate {key} {}",
                    quote(value)
                ));
            }
        }
    }
    for (index, item) in pod.list("spec.imagePullSecrets").iter().enumerate() {
        if item.text("name").is_empty() {
            all.push(format!(
                "{at}spec.imagePullSecrets[{index}].name: invalid empty name \"\""
            ));
        }
    }
}

/// A name may come again where its value builds on the one before.
fn environment(container: &Value, path: &str, all: &mut Warnings) {
    let mut seen = HashSet::new();
    for (index, item) in container.list("env").iter().enumerate() {
        let (name, value) = (item.text("name"), item.text("value"));
        if !seen.insert(name) {
            let reference = format!("$({name})");
            let builds = !item.has("valueFrom") && value != reference && value.contains(&reference);
            if !builds {
                all.push(format!(
                    "{path}.env[{index}]: hides previous definition of {}, which may be dropped when using apply",
                    quote(name)
                ));
            }
        }
    }
}

fn ports(pod: &Value, at: &str, all: &mut Warnings) {
    let every = || {
        containers(pod, at)
            .into_iter()
            .flat_map(|(container, path)| {
                let ports = container.list("ports").iter().enumerate();
                ports
                    .map(move |(index, port)| (port, format!("{path}.ports[{index}]")))
                    .collect::<Vec<_>>()
            })
    };
    let mut seen: HashMap<_, Vec<(&Value, String)>> = HashMap::new();
    for (port, path) in every() {
        if all.is_full() {
            return;
        }
        let others = seen
            .entry((port.int("containerPort"), port.text("protocol")))
            .or_default();
        for (other, there) in others.iter() {
            let (here_port, there_port) = (port.int("hostPort"), other.int("hostPort"));
            let (here_ip, there_ip) = (port.text("hostIP"), other.text("hostIP"));
            let kind = if here_ip == there_ip && here_port == there_port {
                "duplicate"
            } else if here_port == 0 || there_port == 0 {
                "overlapping"
            } else if here_port == there_port && here_ip.is_empty() != there_ip.is_empty() {
                "dangerously ambiguous"
            } else {
                continue;
            };
            all.push(format!("{path}: {kind} port definition with {there}"));
        }
        // Ports that all clash would be compared each with each.
        if others.len() < MOST_CLASHES {
            others.push((port, path));
        }
    }
    let mut names: HashMap<&str, String> = HashMap::new();
    for (port, path) in every().filter(|(port, _)| port.has("name")) {
        let name = port.text("name");
        match names.get(name) {
            _ if name.is_empty() => {}
            Some(there) => all.push(format!(
                "{path}: duplicate port name {} with {there}, services and probes that select ports by name will \
                 use {there}",
                quote(name)
            )),
            None => drop(names.insert(name, path)),
        }
    }
}
