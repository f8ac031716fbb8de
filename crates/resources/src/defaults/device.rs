//! Dynamic resource allocation.

use json::{Object, Value};

use super::rule::Lit::{Int, Str};
use super::rule::Rule::{self, All, Do, Each, If, In, Unset, Zero};
use super::rule::{each, is_zero, zero};

pub(super) fn rules(version: &str, kind: &str) -> Option<&'static [Rule]> {
    let nested = version == "v1beta1";
    Some(match kind {
        "ResourceClaim" if nested => &[
            In("metadata", &[]),
            In("spec", &[In("devices", BETA1_REQUESTS)]),
            In("status", CLAIM_STATUS),
        ],
        "ResourceClaim" => &[
            In("metadata", &[]),
            In("spec", &[In("devices", REQUESTS)]),
            In("status", CLAIM_STATUS),
        ],
        "ResourceClaimTemplate" if nested => &[
            In("metadata", &[]),
            In(
                "spec",
                &[
                    In("metadata", &[]),
                    In("spec", &[In("devices", BETA1_REQUESTS)]),
                ],
            ),
        ],
        "ResourceClaimTemplate" => &[
            In("metadata", &[]),
            In(
                "spec",
                &[In("metadata", &[]), In("spec", &[In("devices", REQUESTS)])],
            ),
        ],
        "ResourcePoolStatusRequest" => {
            &[In("metadata", &[]), In("spec", &[Unset("limit", Int(100))])]
        }
        "ResourceSlice" => &[In("metadata", &[]), In("spec", &[In("pool", &[])])],
        "DeviceClass" => &[In("metadata", &[]), In("spec", &[])],
        "DeviceTaintRule" => &[
            In("metadata", &[]),
            In("spec", &[In("taint", &[])]),
            In("status", &[]),
        ],
        _ => return None,
    })
}

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
