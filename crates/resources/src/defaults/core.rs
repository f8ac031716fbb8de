//! The other kinds of the core group.

use json::{Object, Value, json};

use super::pod::{CLAIM_SPEC, TEMPLATE, VOLUME_SOURCES};
use super::rule::Lit::{Bool, Int, Str};
use super::rule::Rule::{self, All, Amounts, Do, Each, If, In, Unset, Zero};
use super::rule::{each, fill, is_zero, made, unset, zero};

pub(crate) const POD_TEMPLATE: &[Rule] = &[In("metadata", &[]), In("template", TEMPLATE)];

pub(crate) const SERVICE: &[Rule] = &[In("metadata", &[]), Do(service)];

pub(crate) const ENDPOINTS: &[Rule] = &[
    In("metadata", &[]),
    Each("subsets", &[Each("ports", &[Zero("protocol", Str("TCP"))])]),
];

pub(crate) const NAMESPACE: &[Rule] = &[
    In("metadata", &[Do(name_label)]),
    In("spec", &[]),
    In("status", &[Zero("phase", Str("Active"))]),
];

pub(crate) const SECRET: &[Rule] = &[
    In("metadata", &[]),
    Do(crate::prepare::secret_strings),
    Zero("type", Str("Opaque")),
];

pub(crate) const LIMIT_RANGE: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[Each("limits", LIMIT_RANGE_ITEM)]),
];

pub(crate) const RESOURCE_QUOTA: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[Amounts("hard")]),
    In("status", &[Amounts("hard"), Amounts("used")]),
];

pub(crate) const EVENT: &[Rule] = &[
    In("metadata", &[]),
    In("involvedObject", &[]),
    In("source", &[]),
];

pub(crate) const REPLICATION_CONTROLLER: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[Unset("replicas", Int(1)), If("template", TEMPLATE)],
    ),
    Do(labels_from_template),
    In("status", &[Zero("replicas", Int(0))]),
];

pub(crate) const NODE: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[Do(pod_cidrs)]),
    In(
        "status",
        &[
            Do(allocatable),
            Amounts("capacity"),
            Amounts("allocatable"),
            In(
                "daemonEndpoints",
                &[In("kubeletEndpoint", &[Zero("Port", Int(0))])],
            ),
            In("nodeInfo", NODE_INFO),
        ],
    ),
];

/// All required, so all written.
/// The one range is the first of all.
fn pod_cidrs(spec: &mut Object) {
    let one = spec.get("podCIDR").and_then(Value::as_str);
    let one = one.filter(|it| !it.is_empty()).map(str::to_owned);
    let Some(one) = one else { return };
    match spec.get_mut("podCIDRs") {
        Some(Value::Array(all)) if !all.is_empty() => {
            if all[0].as_str() != Some(&one) {
                *all = vec![one.into()];
            }
        }
        _ => {
            spec.insert("podCIDRs", [one].into_iter().collect::<Value>());
        }
    }
}

const NODE_INFO: &[Rule] = &[
    Zero("machineID", Str("")),
    Zero("systemUUID", Str("")),
    Zero("bootID", Str("")),
    Zero("kernelVersion", Str("")),
    Zero("osImage", Str("")),
    Zero("containerRuntimeVersion", Str("")),
    Zero("kubeletVersion", Str("")),
    Zero("kubeProxyVersion", Str("")),
    Zero("operatingSystem", Str("")),
    Zero("architecture", Str("")),
];

pub(crate) const PERSISTENT_VOLUME: &[Rule] = &[
    In("metadata", &[]),
    In("spec", PERSISTENT_VOLUME_SPEC),
    In("status", &[Zero("phase", Str("Pending"))]),
];

const PERSISTENT_VOLUME_SPEC: &[Rule] = &[
    Zero("persistentVolumeReclaimPolicy", Str("Retain")),
    Unset("volumeMode", Str("Filesystem")),
    All(INLINE_VOLUME_SPEC),
];

/// A persistent volume's spec inside a `VolumeAttachment`.
pub(crate) const INLINE_VOLUME_SPEC: &[Rule] = &[Amounts("capacity"), All(VOLUME_SOURCES)];

pub(crate) const CLAIM: &[Rule] = &[
    In("metadata", &[]),
    In("spec", CLAIM_SPEC),
    In(
        "status",
        &[
            Zero("phase", Str("Pending")),
            Amounts("capacity"),
            Amounts("allocatedResources"),
        ],
    ),
];

const LIMIT_RANGE_ITEM: &[Rule] = &[
    Do(container_limits),
    Amounts("max"),
    Amounts("min"),
    Amounts("default"),
    Amounts("defaultRequest"),
    Amounts("maxLimitRequestRatio"),
];

/// The defaults of a container: limits from the maximum, requests from limits, then from the minimum.
fn container_limits(item: &mut Object) {
    if item.get("type").and_then(Value::as_str) != Some("Container") {
        return;
    }
    for (from, to) in [
        ("max", "default"),
        ("default", "defaultRequest"),
        ("min", "defaultRequest"),
    ] {
        let source = item.get(from).and_then(Value::as_object).cloned();
        if let Some(source) = source.filter(|it| !it.is_empty())
            && let Some(target) = made(item, to)
        {
            fill(target, &source);
        }
    }
}

fn name_label(metadata: &mut Object) {
    let name = metadata.get("name").filter(|it| !is_zero(it)).cloned();
    if let Some(name) = name
        && let Some(labels) = made(metadata, "labels")
    {
        labels.insert("kubernetes.io/metadata.name", name);
    }
}

fn allocatable(status: &mut Object) {
    if status.get("allocatable").is_none_or(Value::is_null)
        && let Some(capacity) = status.get("capacity").filter(|it| !it.is_null()).cloned()
    {
        status.insert("allocatable", capacity);
    }
}

/// A controller without a selector or labels takes those of its template.
fn labels_from_template(controller: &mut Object) {
    let labels = controller.get("spec");
    let labels = labels.and_then(|it| it.at(&["template", "metadata", "labels"]));
    let Some(labels) = labels.filter(|it| !is_zero(it)).cloned() else {
        return;
    };
    for (parent, key) in [("spec", "selector"), ("metadata", "labels")] {
        if let Some(parent) = made(controller, parent)
            && parent.get(key).is_none_or(is_zero)
        {
            parent.insert(key, labels.clone());
        }
    }
}

fn service(service: &mut Object) {
    let Some(spec) = made(service, "spec") else {
        return;
    };
    zero(spec, "sessionAffinity", Str("None"));
    match spec.get("sessionAffinity").and_then(Value::as_str) {
        Some("None") => {
            spec.remove("sessionAffinityConfig");
        }
        Some("ClientIP") => {
            let config = spec.get("sessionAffinityConfig");
            let timeout = config.and_then(|it| it.at(&["clientIP", "timeoutSeconds"]));
            if timeout.is_none_or(Value::is_null) {
                spec.insert(
                    "sessionAffinityConfig",
                    json!({"clientIP": {"timeoutSeconds": 10800}}),
                );
            }
        }
        _ => {}
    }
    zero(spec, "type", Str("ClusterIP"));
    each(spec, "ports", |port| {
        zero(port, "protocol", Str("TCP"));
        if port.get("targetPort").is_none_or(is_zero)
            && let Some(number) = port.get("port").cloned()
        {
            port.insert("targetPort", number);
        }
    });
    let kind = spec
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let balanced = kind == "LoadBalancer";
    let exposed = balanced || kind == "NodePort";
    let external = kind == "ClusterIP" && !spec.get("externalIPs").is_none_or(is_zero);
    if exposed || external {
        zero(spec, "externalTrafficPolicy", Str("Cluster"));
    }
    if exposed || kind == "ClusterIP" {
        unset(spec, "internalTrafficPolicy", Str("Cluster"));
    }
    if balanced {
        unset(spec, "allocateLoadBalancerNodePorts", Bool(true));
    }
    if let Some(status) = made(service, "status")
        && let Some(balancer) = made(status, "loadBalancer")
        && balanced
    {
        each(balancer, "ingress", |ingress| {
            if !ingress.get("ip").is_none_or(is_zero) {
                unset(ingress, "ipMode", Str("VIP"));
            }
        });
    }
}
