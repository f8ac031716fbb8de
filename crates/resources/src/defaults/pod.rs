//! Pods and pod templates.

use json::{Object, Value, json};

use super::image::is_latest;
use super::rule::Lit::{Bool, Empty, Int, Str};
use super::rule::Rule::{self, All, Amount, Amounts, Do, Each, If, In, Unset, Zero};
use super::rule::{each, fill, is_zero, made};

pub(crate) const POD: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[Do(pod_only), All(POD_SPEC)]),
    In(
        "status",
        &[
            Do(addresses),
            Each("containerStatuses", CONTAINER_STATUS),
            Each("initContainerStatuses", CONTAINER_STATUS),
            Each("ephemeralContainerStatuses", CONTAINER_STATUS),
            Amounts("allocatedResources"),
            If("resources", RESOURCES),
        ],
    ),
];

pub(crate) const TEMPLATE: &[Rule] = &[In("metadata", &[]), In("spec", POD_SPEC)];

const POD_SPEC: &[Rule] = &[
    Do(service_account),
    Zero("dnsPolicy", Str("ClusterFirst")),
    Zero("restartPolicy", Str("Always")),
    Unset("securityContext", Empty),
    Unset("terminationGracePeriodSeconds", Int(30)),
    Zero("schedulerName", Str("default-scheduler")),
    Each("volumes", VOLUME),
    Each("containers", CONTAINER),
    Each("initContainers", CONTAINER),
    Each("ephemeralContainers", CONTAINER),
    Amounts("overhead"),
    If("resources", RESOURCES),
];

pub(crate) const RESOURCES: &[Rule] = &[Amounts("limits"), Amounts("requests")];

const CONTAINER: &[Rule] = &[
    Do(pull_policy),
    Zero("terminationMessagePath", Str("/dev/termination-log")),
    Zero("terminationMessagePolicy", Str("File")),
    Each("ports", &[Zero("protocol", Str("TCP"))]),
    Each("env", ENV),
    In("resources", RESOURCES),
    If("livenessProbe", PROBE),
    If("readinessProbe", PROBE),
    If("startupProbe", PROBE),
    If(
        "lifecycle",
        &[
            If("postStart", &[If("httpGet", HTTP_GET)]),
            If("preStop", &[If("httpGet", HTTP_GET)]),
        ],
    ),
];

const ENV: &[Rule] = &[If(
    "valueFrom",
    &[
        If("fieldRef", FIELD_REF),
        If("resourceFieldRef", RESOURCE_FIELD_REF),
        If("fileKeyRef", &[Unset("optional", Bool(false))]),
    ],
)];

const FIELD_REF: &[Rule] = &[Zero("apiVersion", Str("v1"))];

const RESOURCE_FIELD_REF: &[Rule] = &[Zero("divisor", Str("0")), Amount("divisor")];

const PROBE: &[Rule] = &[
    Zero("timeoutSeconds", Int(1)),
    Zero("periodSeconds", Int(10)),
    Zero("successThreshold", Int(1)),
    Zero("failureThreshold", Int(3)),
    If("httpGet", HTTP_GET),
    If("grpc", &[Unset("service", Str(""))]),
];

const HTTP_GET: &[Rule] = &[Zero("path", Str("/")), Zero("scheme", Str("HTTP"))];

const CONTAINER_STATUS: &[Rule] = &[
    In("state", &[]),
    In("lastState", &[]),
    Amounts("allocatedResources"),
    If("resources", RESOURCES),
];

const DOWNWARD_ITEM: &[Rule] = &[
    If("fieldRef", FIELD_REF),
    If("resourceFieldRef", RESOURCE_FIELD_REF),
];

const VOLUME: &[Rule] = &[
    Do(volume_source),
    All(VOLUME_SOURCES),
    If("emptyDir", &[Amount("sizeLimit")]),
    If("secret", &[Unset("defaultMode", Int(0o644))]),
    If("configMap", &[Unset("defaultMode", Int(0o644))]),
    If(
        "downwardAPI",
        &[
            Unset("defaultMode", Int(0o644)),
            Each("items", DOWNWARD_ITEM),
        ],
    ),
    If(
        "projected",
        &[
            Unset("defaultMode", Int(0o644)),
            Each(
                "sources",
                &[
                    If("downwardAPI", &[Each("items", DOWNWARD_ITEM)]),
                    If(
                        "serviceAccountToken",
                        &[Unset("expirationSeconds", Int(3600))],
                    ),
                ],
            ),
        ],
    ),
    If(
        "ephemeral",
        &[If(
            "volumeClaimTemplate",
            &[In("metadata", &[]), In("spec", CLAIM_SPEC)],
        )],
    ),
];

/// What a volume of a pod and a persistent volume have in common.
pub(crate) const VOLUME_SOURCES: &[Rule] = &[
    If("hostPath", &[Unset("type", Str(""))]),
    If("iscsi", &[Zero("iscsiInterface", Str("default"))]),
    If(
        "rbd",
        &[
            Zero("pool", Str("rbd")),
            Zero("user", Str("admin")),
            Zero("keyring", Str("/etc/ceph/keyring")),
        ],
    ),
    If(
        "azureDisk",
        &[
            Unset("cachingMode", Str("ReadWrite")),
            Unset("fsType", Str("ext4")),
            Unset("readOnly", Bool(false)),
            Unset("kind", Str("Shared")),
        ],
    ),
    If(
        "scaleIO",
        &[
            Zero("storageMode", Str("ThinProvisioned")),
            Zero("fsType", Str("xfs")),
        ],
    ),
];

pub(crate) const CLAIM_SPEC: &[Rule] = &[
    Unset("volumeMode", Str("Filesystem")),
    In("resources", RESOURCES),
];

/// What a pod gets but a template does not.
fn pod_only(spec: &mut Object) {
    let negative = |it: &Value| it.as_i64().is_some_and(|it| it < 0);
    if spec
        .get("terminationGracePeriodSeconds")
        .is_some_and(negative)
    {
        spec.insert("terminationGracePeriodSeconds", 1);
    }
    let host_network = spec.get("hostNetwork").and_then(Value::as_bool) == Some(true);
    for containers in ["containers", "initContainers"] {
        each(spec, containers, |container| {
            requests_from_limits(container);
            if host_network {
                each(container, "ports", host_port);
            }
        });
    }
    super::rule::unset(spec, "enableServiceLinks", Bool(true));
}

fn requests_from_limits(container: &mut Object) {
    let Some(Value::Object(resources)) = container.get_mut("resources") else {
        return;
    };
    let Some(Value::Object(limits)) = resources.get("limits") else {
        return;
    };
    if limits.is_empty() {
        return;
    }
    let limits = limits.clone();
    if let Some(requests) = made(resources, "requests") {
        fill(requests, &limits);
    }
}

fn host_port(port: &mut Object) {
    if port.get("hostPort").is_none_or(is_zero)
        && let Some(number) = port.get("containerPort").cloned()
    {
        port.insert("hostPort", number);
    }
}

/// The old name of the field follows the new one, which wins.
fn service_account(spec: &mut Object) {
    let name = ["serviceAccountName", "serviceAccount"]
        .into_iter()
        .filter_map(|key| spec.get(key))
        .find(|it| !is_zero(it))
        .cloned();
    if let Some(name) = name {
        spec.insert("serviceAccountName", name.clone());
        spec.insert("serviceAccount", name);
    }
}

fn pull_policy(container: &mut Object) {
    if container.get("imagePullPolicy").is_none_or(is_zero) {
        let image = container.get("image").and_then(Value::as_str);
        container.insert("imagePullPolicy", policy_of(image));
    }
}

fn policy_of(image: Option<&str>) -> &'static str {
    if image.is_some_and(is_latest) {
        "Always"
    } else {
        "IfNotPresent"
    }
}

/// A volume without a source is an empty directory.
fn volume_source(volume: &mut Object) {
    let has_source = volume
        .iter()
        .any(|(key, value)| **key != *"name" && !value.is_null());
    if !has_source {
        volume.insert("emptyDir", json!({}));
    }
    if let Some(Value::Object(image)) = volume.get_mut("image")
        && image.get("pullPolicy").is_none_or(is_zero)
    {
        let policy = policy_of(image.get("reference").and_then(Value::as_str));
        image.insert("pullPolicy", policy);
    }
}

/// `podIP` and the first of `podIPs` agree; the single one wins, for older kubelets.
fn addresses(status: &mut Object) {
    let single = status.get("podIP").filter(|it| !is_zero(it)).cloned();
    let first = status
        .get("podIPs")
        .and_then(Value::as_array)
        .and_then(|it| it.first());
    let first = first.map(|it| it.get("ip").cloned().unwrap_or_default());
    match (single, first) {
        (Some(single), first) if first.as_ref() != Some(&single) => {
            status.insert("podIPs", json!([{"ip": single}]));
        }
        (None, Some(first)) => {
            status.insert("podIP", first);
        }
        _ => {}
    }
}
