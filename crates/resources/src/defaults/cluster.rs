//! The smaller groups: scaling, networking, storage, access, scheduling, flow control, extension.

use json::{Object, Value, json};

use super::core::INLINE_VOLUME_SPEC;
use super::rule::Lit::{Bool, Int, Null, Str, Strs};
use super::rule::Rule::{self, Amount, Do, Each, If, In, Unset, Zero};
use super::rule::{is_zero, made, zero};

pub(crate) const HORIZONTAL_POD_AUTOSCALER_V1: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[Unset("minReplicas", Int(1)), In("scaleTargetRef", &[])],
    ),
    In(
        "status",
        &[
            Zero("currentReplicas", Int(0)),
            Zero("desiredReplicas", Int(0)),
        ],
    ),
];

pub(crate) const ENDPOINT_SLICE: &[Rule] = &[
    In("metadata", &[]),
    Each("endpoints", &[In("conditions", &[])]),
    Each(
        "ports",
        &[Unset("name", Str("")), Unset("protocol", Str("TCP"))],
    ),
];

pub(crate) const INGRESS: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[]),
    In("status", &[In("loadBalancer", &[])]),
];

pub(crate) const INGRESS_CLASS: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[If("parameters", &[Unset("scope", Str("Cluster"))])],
    ),
];

pub(crate) const STORAGE_CLASS: &[Rule] = &[
    In("metadata", &[]),
    Unset("reclaimPolicy", Str("Delete")),
    Unset("volumeBindingMode", Str("Immediate")),
];

pub(crate) const CSI_STORAGE_CAPACITY: &[Rule] = &[
    In("metadata", &[]),
    Amount("capacity"),
    Amount("maximumVolumeSize"),
];

pub(crate) const VOLUME_ATTACHMENT: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[In("source", &[If("inlineVolumeSpec", INLINE_VOLUME_SPEC)])],
    ),
    In("status", &[Zero("attached", Bool(false))]),
];

pub(crate) const ROLE_BINDING: &[Rule] = &[
    In("metadata", &[]),
    Each("subjects", &[Do(subject)]),
    In("roleRef", &[Zero("apiGroup", Str(RBAC))]),
];

pub(crate) const PRIORITY_CLASS: &[Rule] = &[
    In("metadata", &[]),
    Unset("preemptionPolicy", Str("PreemptLowerPriority")),
];

pub(crate) const POD_GROUP: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[In("schedulingPolicy", &[]), Do(disruption_mode)]),
    In("status", &[]),
];

pub(crate) const POD_DISRUPTION_BUDGET: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[]),
    In(
        "status",
        &[
            Zero("disruptionsAllowed", Int(0)),
            Zero("currentHealthy", Int(0)),
            Zero("desiredHealthy", Int(0)),
            Zero("expectedPods", Int(0)),
        ],
    ),
];

pub(crate) const POD_CERTIFICATE_REQUEST: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[Unset("maxExpirationSeconds", Int(86400))]),
    In("status", &[]),
];

pub(crate) const EVENT: &[Rule] = &[
    In("metadata", &[]),
    In("regarding", &[]),
    In("deprecatedSource", &[]),
];

pub(crate) const SELF_SUBJECT_REVIEW: &[Rule] = &[In("metadata", &[]), In("status", &[])];

pub(crate) const METADATA_SPEC_STATUS: &[Rule] =
    &[In("metadata", &[]), In("spec", &[]), In("status", &[])];

pub(crate) const TOKEN_REQUEST: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[Unset("expirationSeconds", Int(3600))]),
    In("status", &[]),
];

pub(crate) const FLOW_SCHEMA: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            Zero("matchingPrecedence", Int(1000)),
            In("priorityLevelConfiguration", &[]),
        ],
    ),
    In("status", &[]),
];

pub(crate) const API_SERVICE: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[If("service", &[Unset("port", Int(443))])]),
    In("status", &[]),
];

pub(crate) const METADATA_SPEC: &[Rule] = &[In("metadata", &[]), In("spec", &[])];

const RBAC: &str = "rbac.authorization.k8s.io";

pub(crate) const AUTOSCALER: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            Unset("minReplicas", Int(1)),
            In("scaleTargetRef", &[]),
            Do(metrics),
            If("behavior", &[Do(behavior)]),
        ],
    ),
    In(
        "status",
        &[
            Zero("desiredReplicas", Int(0)),
            Unset("currentMetrics", Null),
        ],
    ),
];

pub(crate) const NETWORK_POLICY: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            In("podSelector", &[]),
            Do(policy_types),
            Each("ingress", POLICY_PORTS),
            Each("egress", POLICY_PORTS),
        ],
    ),
];

const POLICY_PORTS: &[Rule] = &[Each("ports", &[Unset("protocol", Str("TCP"))])];

pub(crate) const CSI_DRIVER: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            Unset("attachRequired", Bool(true)),
            Unset("podInfoOnMount", Bool(false)),
            Unset("storageCapacity", Bool(false)),
            Unset("fsGroupPolicy", Str("ReadWriteOnceWithFSType")),
            Zero("volumeLifecycleModes", Strs(&["Persistent"])),
            Unset("requiresRepublish", Bool(false)),
            Unset("seLinuxMount", Bool(false)),
            Unset("preventPodSchedulingIfMissing", Bool(false)),
        ],
    ),
];

pub(crate) const PRIORITY_LEVEL: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            If(
                "limited",
                &[
                    Unset("nominalConcurrencyShares", Int(30)),
                    Unset("lendablePercent", Int(0)),
                    In(
                        "limitResponse",
                        &[If(
                            "queuing",
                            &[
                                Zero("handSize", Int(8)),
                                Zero("queues", Int(64)),
                                Zero("queueLengthLimit", Int(50)),
                            ],
                        )],
                    ),
                ],
            ),
            If(
                "exempt",
                &[
                    Unset("nominalConcurrencyShares", Int(0)),
                    Unset("lendablePercent", Int(0)),
                ],
            ),
        ],
    ),
    In("status", &[]),
];

pub(crate) const DEFINITION: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            In("names", &[Do(names)]),
            Do(conversion),
            If(
                "conversion",
                &[If(
                    "webhook",
                    &[If(
                        "clientConfig",
                        &[If("service", &[Unset("port", Int(443))])],
                    )],
                )],
            ),
        ],
    ),
    In(
        "status",
        &[In(
            "acceptedNames",
            &[Zero("plural", Str("")), Zero("kind", Str(""))],
        )],
    ),
    Do(stored_versions),
];

fn metrics(spec: &mut Object) {
    if spec.get("metrics").is_none_or(is_zero) {
        let cpu =
            json!({"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}});
        spec.insert("metrics", json!([{"type": "Resource", "resource": cpu}]));
    }
}

/// A behavior that is there is complete.
fn behavior(behavior: &mut Object) {
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    if let Some(up) = made(behavior, "scaleUp") {
        super::rule::unset(up, "stabilizationWindowSeconds", Int(0));
        scaling(
            up,
            json!([{"type": "Pods", "value": 4, "periodSeconds": 15}, (percent.clone())]),
        );
    }
    if let Some(down) = made(behavior, "scaleDown") {
        scaling(down, json!([percent]));
    }
}

fn scaling(rules: &mut Object, policies: Value) {
    super::rule::unset(rules, "selectPolicy", Str("Max"));
    if rules.get("policies").is_none_or(Value::is_null) {
        rules.insert("policies", policies);
    }
}

/// Ingress always, Egress where there are such rules.
fn policy_types(spec: &mut Object) {
    if spec.get("policyTypes").is_none_or(is_zero) {
        let egress = !spec.get("egress").is_none_or(is_zero);
        let types: &[&str] = if egress {
            &["Ingress", "Egress"]
        } else {
            &["Ingress"]
        };
        spec.insert("policyTypes", types.iter().copied().collect::<Value>());
    }
}

fn subject(subject: &mut Object) {
    if let Some("User" | "Group") = subject.get("kind").and_then(Value::as_str) {
        zero(subject, "apiGroup", Str(RBAC));
    }
}

fn disruption_mode(spec: &mut Object) {
    if spec.get("disruptionMode").is_none_or(Value::is_null) {
        spec.insert("disruptionMode", json!({"single": {}}));
    }
}

fn names(names: &mut Object) {
    let kind = names
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    if names.get("singular").is_none_or(is_zero) && !kind.is_empty() {
        names.insert("singular", kind.to_lowercase());
    }
    if names.get("listKind").is_none_or(is_zero) && !kind.is_empty() {
        names.insert("listKind", format!("{kind}List"));
    }
}

fn conversion(spec: &mut Object) {
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion", json!({"strategy": "None"}));
    }
}

/// A definition that was never stored remembers its storage version.
fn stored_versions(definition: &mut Object) {
    let versions = definition.get("spec").and_then(|it| it.get("versions"));
    let versions = versions.and_then(Value::as_array);
    let stores = |it: &&Value| it.get("storage").and_then(Value::as_bool) == Some(true);
    let name = versions.and_then(|it| it.iter().find(stores)?.get("name").cloned());
    if let Some(name) = name
        && let Some(status) = made(definition, "status")
        && status.get("storedVersions").is_none_or(is_zero)
    {
        status.insert("storedVersions", Value::Array(vec![name]));
    }
}
