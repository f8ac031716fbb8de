//! Autoscalers, in the shape of both versions, and scales.

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};
use super::pod::resources::container_resource_name;
use super::words::quantity;

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    spec(e, &it.child("spec"), None);
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    spec(e, &new.child("spec"), Some(&old.child("spec")));
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let status = new.child("status");
    for condition in status.child("conditions").items() {
        e.non_negative(&condition.child("observedGeneration"));
    }
    e.non_negative(&status.child("currentReplicas"));
    e.non_negative(&status.child("desiredReplicas"));
}

/// How many replicas something shall have.
pub(super) fn scale(e: &mut Errors, it: &Field) {
    let fields = it.children(&["metadata", "managedFields"]);
    e.push_all(meta::object::validate_managed_fields(
        fields.list(),
        &fields.path,
    ));
    e.non_negative(&it.children(&["spec", "replicas"]));
}

fn spec(e: &mut Errors, it: &Field, old: Option<&Field>) {
    let (min, max) = (it.child("minReplicas"), it.child("maxReplicas"));
    e.late(|e| {
        e.non_negative(&min);
        if max.int() == 0 {
            e.required(&max, "");
        } else if max.int() < 0 {
            e.invalid(&max, "must be greater than or equal to 1");
        }
    });
    if min.is_set() && max.int() < min.int() {
        e.invalid_value(
            &max,
            max.int(),
            "must be greater than or equal to `minReplicas`",
        );
    }
    let target = it.child("scaleTargetRef");
    let unchanged = old.is_some_and(|old| {
        let was = old.child("scaleTargetRef");
        ["apiVersion", "kind"]
            .iter()
            .all(|name| was.text(name) == target.text(name))
    });
    reference(
        e,
        &target,
        unchanged,
        target.text("kind") == "ReplicationController",
    );
    metrics(e, it);
    let behavior = it.child("behavior");
    for name in ["scaleUp", "scaleDown"] {
        scaling_rules(e, &behavior.child(name));
    }
    // The first version has one metric, for processors.
    let percentage = it.child("targetCPUUtilizationPercentage");
    if percentage.opt_int().is_some_and(|it| it < 1) {
        let metrics = it.child("metrics");
        let metric = metrics.item(0);
        let target = metric.children(&["resource", "target", "averageUtilization"]);
        e.invalid(&target.with(percentage.value), "must be greater than 0");
    }
}

fn reference(e: &mut Errors, it: &Field, any_version: bool, core_group: bool) {
    for name in ["kind", "name"] {
        let field = it.child(name);
        if e.required_text(&field) {
            e.path_segment(&field);
        }
    }
    let version = it.child("apiVersion");
    if any_version {
        return;
    }
    if version.str().matches('/').count() > 1 {
        let why = format!("unexpected GroupVersion string: {}", version.str());
        e.invalid(&version, &why);
    } else if !core_group
        && version
            .str()
            .split_once('/')
            .is_none_or(|(group, _)| group.is_empty())
    {
        e.invalid(&version, "apiVersion must specify API group");
    }
}

const METRIC_TYPES: &[&str] = &[
    "ContainerResource",
    "External",
    "Object",
    "Pods",
    "Resource",
];
/// Fields in upstream's order, with the type that wants them.
const SOURCES: [(&str, &str); 5] = [
    ("object", "Object"),
    ("external", "External"),
    ("pods", "Pods"),
    ("resource", "Resource"),
    ("containerResource", "ContainerResource"),
];

fn metrics(e: &mut Errors, spec: &Field) {
    let all = spec.child("metrics");
    for it in all.items() {
        metric(e, &it);
    }
    let outside = |it: &Field| matches!(it.text("type"), "Object" | "External");
    if spec.child("minReplicas").opt_int() == Some(0) && !all.items().any(|it| outside(&it)) {
        let text = "must specify at least one Object or External metric to support scaling to zero replicas";
        e.forbidden(&all, text);
    }
}

fn metric(e: &mut Errors, it: &Field) {
    let kind = it.child("type");
    if kind.is_empty() {
        e.required(&kind, "must specify a metric source type");
    }
    e.one_of(&kind, METRIC_TYPES);
    let present = || SOURCES.iter().filter(|(name, _)| it.has(name));
    if let Some((name, _)) = present().next() {
        source(e, &it.child(name), name);
    }
    match SOURCES.iter().find(|(_, wanted)| *wanted == kind.str()) {
        Some((name, _)) if !it.has(name) => {
            e.required(
                &it.child(name),
                "must populate information for the given metric source",
            );
        }
        Some(_) => {}
        None => e.not_supported(&kind, METRIC_TYPES),
    }
    if present().count() != 1 {
        for (name, _) in present().filter(|(_, wanted)| *wanted != kind.str()) {
            e.forbidden(
                &it.child(name),
                "must populate the given metric source only",
            );
        }
    }
}

fn source(e: &mut Errors, it: &Field, name: &str) {
    let target = it.child("target");
    let (value, average) = (target.child("value"), target.child("averageValue"));
    let utilization = target.child("averageUtilization");
    match name {
        "object" => reference(e, &it.child("describedObject"), false, true),
        "resource" | "containerResource" => {
            let resource = it.child("name");
            if resource.is_empty() {
                e.required(&resource, "must specify a resource name");
            } else if name == "containerResource" {
                container_resource_name(e, &resource, resource.str());
            }
            let container = it.child("container");
            if name == "containerResource" && container.is_empty() {
                e.required(&container, "must specify a container");
            } else if name == "containerResource" {
                e.dns_label(&container);
            }
        }
        _ => {}
    }
    if matches!(name, "object" | "external" | "pods") {
        let metric = it.children(&["metric", "name"]);
        if metric.is_empty() {
            e.required(&metric, "must specify a metric name");
        } else {
            e.path_segment(&metric);
        }
    }
    metric_target(e, &target);
    match name {
        "object" if !value.is_set() && !average.is_set() => {
            e.required(&average, "must set either a target value or averageValue");
        }
        "external" if !value.is_set() && !average.is_set() => {
            e.required(
                &average,
                "must set either a target value for metric or a per-pod target",
            );
        }
        "external" if value.is_set() && average.is_set() => {
            let text = "may not set both a target value for metric and a per-pod target";
            e.forbidden(&value, text);
        }
        "pods" if !average.is_set() => {
            e.required(&average, "must specify a positive target averageValue");
        }
        "resource" | "containerResource" => match (utilization.is_set(), average.is_set()) {
            (false, false) => {
                let text = "must set either a target raw value or a target utilization";
                e.required(&utilization, text);
            }
            (true, true) => {
                let text = "may not set both a target raw value and a target utilization";
                e.forbidden(&average, text);
            }
            _ => {}
        },
        _ => {}
    }
}

fn metric_target(e: &mut Errors, it: &Field) {
    let kind = it.child("type");
    if kind.is_empty() {
        e.required(&kind, "must specify a metric target type");
    }
    if !matches!(kind.str(), "Utilization" | "Value" | "AverageValue") {
        e.invalid(&kind, "must be either Utilization, Value, or AverageValue");
    }
    for name in ["value", "averageValue"] {
        let amount = it.child(name);
        if let Some(quantity) = quantity(&amount).filter(|it| it.sign() <= 0) {
            e.invalid_value(&amount, quantity.to_string(), "must be positive");
        }
    }
    let utilization = it.child("averageUtilization");
    if utilization.opt_int().is_some_and(|it| it < 1) {
        e.invalid(&utilization, "must be greater than 0");
    }
}

fn scaling_rules(e: &mut Errors, it: &Field) {
    if !it.is_set() {
        return;
    }
    let window = it.child("stabilizationWindowSeconds");
    match window.int() {
        ..0 => e.invalid(&window, "must be greater than or equal to zero"),
        3601.. => e.invalid(&window, "must be less than or equal to 3600"),
        _ => {}
    }
    e.optional_one_of(&it.child("selectPolicy"), &["Disabled", "Max", "Min"]);
    let policies = it.child("policies");
    if policies.is_empty() {
        e.required(&policies, "must specify at least one Policy");
    }
    for policy in policies.items() {
        e.one_of(&policy.child("type"), &["Percent", "Pods"]);
        e.positive(&policy.child("value"));
        let period = policy.child("periodSeconds");
        e.positive(&period);
        if period.int() > 1800 {
            e.invalid(&period, "must be less than or equal to 1800");
        }
    }
    e.non_negative_quantity(&it.child("tolerance"));
}
