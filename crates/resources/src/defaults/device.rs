//! Dynamic resource allocation.

use json::{Object, Value};

use super::rule::Lit::{Int, Str};
use super::rule::Rule::{self, All, Do, Each, If, In, Unset, Zero};
use super::rule::{each, is_zero, zero};

pub(crate) const RESOURCE_CLAIM_V1BETA1: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[In("devices", BETA1_REQUESTS)]),
    In("status", CLAIM_STATUS),
];

pub(crate) const RESOURCE_CLAIM: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[In("devices", REQUESTS)]),
    In("status", CLAIM_STATUS),
];

pub(crate) const RESOURCE_CLAIM_TEMPLATE_V1BETA1: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            In("metadata", &[]),
            In("spec", &[In("devices", BETA1_REQUESTS)]),
        ],
    ),
];

pub(crate) const RESOURCE_CLAIM_TEMPLATE: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[In("metadata", &[]), In("spec", &[In("devices", REQUESTS)])],
    ),
];

pub(crate) const RESOURCE_POOL_STATUS_REQUEST: &[Rule] =
    &[In("metadata", &[]), In("spec", &[Unset("limit", Int(100))])];

pub(crate) const RESOURCE_SLICE: &[Rule] = &[In("metadata", &[]), In("spec", &[In("pool", &[])])];

pub(crate) const DEVICE_CLASS: &[Rule] = &[In("metadata", &[]), In("spec", &[])];

pub(crate) const DEVICE_TAINT_RULE: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[In("taint", &[])]),
    In("status", &[]),
];

/// A taint says when it was added. Apart from the other defaults because it needs the time, as RFC 3339 in seconds.
pub fn stamp(group: &str, kind: &str, object: &mut Value, now: &str) {
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return;
    };
    let add = |taint: &mut Object| {
        if taint.get("timeAdded").is_none_or(Value::is_null) {
            taint.insert("timeAdded", now);
        }
    };
    match (group, kind) {
        ("resource.k8s.io", "DeviceTaintRule") => {
            if let Some(Value::Object(taint)) = spec.get_mut("taint") {
                add(taint);
            }
        }
        ("resource.k8s.io", "ResourceSlice") => each(spec, "devices", |device| {
            each(device, "taints", add);
            if let Some(Value::Object(basic)) = device.get_mut("basic") {
                each(basic, "taints", add);
            }
        }),
        _ => {}
    }
}

const REQUESTS: &[Rule] = &[Each(
    "requests",
    &[If("exactly", REQUEST), Each("firstAvailable", REQUEST)],
)];

/// Before v1beta2 the one request stands where `exactly` is now, unless there are alternatives.
const BETA1_REQUESTS: &[Rule] = &[Each(
    "requests",
    &[
        Do(flat_request),
        Each("tolerations", TOLERATION),
        Each("firstAvailable", REQUEST),
    ],
)];

const REQUEST: &[Rule] = &[Do(request), Each("tolerations", TOLERATION)];

const TOLERATION: &[Rule] = &[Zero("operator", Str("Equal"))];

const CLAIM_STATUS: &[Rule] = &[If(
    "allocation",
    &[In(
        "devices",
        &[Each("results", &[All(&[Each("tolerations", TOLERATION)])])],
    )],
)];

fn flat_request(it: &mut Object) {
    if !it.get("deviceClassName").is_none_or(is_zero) {
        request(it);
    }
}

fn request(it: &mut Object) {
    zero(it, "allocationMode", Str("ExactCount"));
    if it.get("allocationMode").and_then(Value::as_str) == Some("ExactCount") {
        zero(it, "count", Int(1));
    }
}
