//! What documents say of built-in types beyond the table: types that write themselves, unions, and a few exceptions.

use std::fmt::Write as _;

use json::{Object, Text, Value, json};
use schema::{Format, MapType, Node, Shape};

use super::dialect::Dialect;
use super::types::list_type;

/// Writes the schema of a type that writes itself. False if it is another.
pub(super) fn special(dialect: Dialect, node: &Node, schema: &mut Object) -> bool {
    let is_v3 = dialect == Dialect::V3;
    match (&node.shape, node.format) {
        (_, Format::Quantity) if is_v3 => {
            schema.push("oneOf", json!([{"type": "string"}, {"type": "number"}]));
        }
        (Shape::IntOrString, _) if is_v3 => {
            schema.push("format", "int-or-string");
            schema.push("oneOf", json!([{"type": "integer"}, {"type": "string"}]));
        }
        (Shape::IntOrString, _) => {
            schema.push("type", "string");
            schema.push("format", "int-or-string");
        }
        (_, Format::Quantity | Format::Duration) => {
            schema.push("type", "string");
        }
        (_, Format::Time | Format::MicroTime) => {
            schema.push("type", "string");
            schema.push("format", "date-time");
        }
        (_, Format::RawExtension | Format::FieldsV1) => {
            schema.push("type", "object");
        }
        (
            _,
            Format::Json
            | Format::SchemaOrArray(_)
            | Format::SchemaOrBool(_)
            | Format::SchemaOrStrings(_),
        ) => {}
        _ => return false,
    }
    true
}

/// Fields of which a document says something other than the table does.
const EXCEPTIONS: &[(&str, &str, &str, Option<&str>)] = &[
    ("meta.v1.APIResource", "verbs", "list-type", None),
    (
        "core.v1.PersistentVolumeSpec",
        "claimRef",
        "map-type",
        Some("granular"),
    ),
    (
        "core.v1.PersistentVolumeClaimStatus",
        "allocatedResourceStatuses",
        "map-type",
        Some("granular"),
    ),
    (
        "apiregistration.v1.APIServiceSpec",
        "caBundle",
        "list-type",
        Some("atomic"),
    ),
    (
        "policy.v1.PodDisruptionBudgetSpec",
        "selector",
        "patch-strategy",
        Some("replace"),
    ),
];

/// Extensions of a field that say how it is merged.
pub(super) fn extensions(name: &str, field: &str, node: &Node, refers: bool, schema: &mut Object) {
    let exception = EXCEPTIONS
        .iter()
        .find(|it| it.1 == field && name.ends_with(it.0));
    let exception = |what: &str| exception.filter(|it| it.2 == what).map(|it| it.3);
    let mut found: Option<&str> = None;
    match &node.shape {
        Shape::List { list_type: of, .. } => {
            let (ty, keys) = list_type(of);
            if !keys.is_empty() {
                schema.push("x-kubernetes-list-map-keys", keys.iter().collect::<Value>());
            }
            // The items of a list of objects have none.
            let is_list = field == "items" && name.ends_with("List");
            found = (!is_list).then_some(ty);
        }
        _ if refers => {}
        Shape::Map {
            map_type: MapType::Atomic,
            ..
        } => schema.push("x-kubernetes-map-type", "atomic"),
        _ => {}
    }
    if let Some(ty) = exception("list-type").unwrap_or(found) {
        schema.push("x-kubernetes-list-type", ty);
    }
    if let Some(ty) = exception("map-type").flatten() {
        schema.insert("x-kubernetes-map-type", ty);
    }
    if let Some(key) = &node.patch.merge_key {
        schema.push("x-kubernetes-patch-merge-key", key);
    }
    let strategy = match (node.patch.merge, node.patch.retain_keys) {
        (true, true) => Some("merge,retainKeys"),
        (true, false) => Some("merge"),
        (false, true) => Some("retainKeys"),
        (false, false) => None,
    };
    if let Some(strategy) = exception("patch-strategy").unwrap_or(strategy) {
        schema.push("x-kubernetes-patch-strategy", strategy);
    }
}

/// Types of whose fields one at most is set: the field that says which, and the others.
const UNIONS: &[(&str, &str, &[&str])] = &[
    ("core.v1.AppArmorProfile", "type", &["localhostProfile"]),
    ("core.v1.PodSchedulingGroup", "", &["podGroupName"]),
    ("core.v1.SeccompProfile", "type", &["localhostProfile"]),
    ("flowcontrol.v1.LimitResponse", "type", &["queuing"]),
    (
        "flowcontrol.v1.PriorityLevelConfigurationSpec",
        "type",
        &["exempt", "limited"],
    ),
    (
        "flowcontrol.v1.Subject",
        "kind",
        &["group", "serviceAccount", "user"],
    ),
    ("lifecycle.v1alpha1.EvictionRequestTarget", "", &["pod"]),
    ("lifecycle.v1alpha1.EvictionTarget", "", &["pod"]),
    (
        "scheduling.v1alpha3.WorkloadPodGroupDisruptionMode",
        "",
        MODES,
    ),
    ("scheduling.v1alpha3.CompositeDisruptionMode", "", MODES),
    ("scheduling.v1alpha3.DisruptionMode", "", MODES),
    ("scheduling.v1beta1.CompositeDisruptionMode", "", MODES),
    ("scheduling.v1beta1.DisruptionMode", "", MODES),
    (
        "scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy",
        "",
        POLICIES,
    ),
    (
        "scheduling.v1alpha3.CompositePodGroupSchedulingPolicy",
        "",
        POLICIES,
    ),
    ("scheduling.v1alpha3.PodGroupSchedulingPolicy", "", POLICIES),
    (
        "scheduling.v1beta1.CompositePodGroupSchedulingPolicy",
        "",
        POLICIES,
    ),
    ("scheduling.v1beta1.PodGroupSchedulingPolicy", "", POLICIES),
];
const MODES: &[&str] = &["all", "single"];
const POLICIES: &[&str] = &["basic", "gang"];

pub(super) fn of_type(name: &str, schema: &mut Object) {
    let name = name.trim_start_matches("io.k8s.api.");
    let Some((_, by, fields)) = UNIONS.iter().find(|it| it.0 == name) else {
        return;
    };
    let mut union = Object::new();
    if !by.is_empty() {
        union.push("discriminator", *by);
    }
    let fields: Object = fields.iter().map(|it| (*it, large(it))).collect();
    union.push("fields-to-discriminateBy", fields);
    schema.push("x-kubernetes-unions", Value::Array(vec![union.into()]));
}

fn large(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Fields whose values are listed where the table cannot see it: constants made of other constants.
const VALUES: &[(&str, &str, &[&str])] = &[
    (
        "discovery.v1.EndpointSlice",
        "addressType",
        &["FQDN", "IPv4", "IPv6"],
    ),
    (
        "networking.v1.HTTPIngressPath",
        "pathType",
        &["Exact", "ImplementationSpecific", "Prefix"],
    ),
    (
        "resource.v1.DeviceSubRequest",
        "allocationMode",
        &["All", "ExactCount"],
    ),
    (
        "resource.v1.ExactDeviceRequest",
        "allocationMode",
        &["All", "ExactCount"],
    ),
];

pub(super) fn values(name: &str, field: &str) -> Option<Vec<Text>> {
    let mut all = VALUES.iter();
    let found = all.find(|it| it.1 == field && name.ends_with(it.0))?;
    Some(found.2.iter().map(|it| Text::from(*it)).collect())
}

/// Says in the description as well which values there are, as upstream does.
pub(super) fn name_values(text: &mut String, values: &[Text]) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str("Possible enum values:");
    for value in values {
        let _ = write!(text, "\n - `\"{value}\"`");
    }
}
