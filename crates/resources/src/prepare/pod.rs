//! Pods.

use std::collections::{HashMap, VecDeque};

use json::{Object, Value, json};

use super::kinds::put;
use super::{copy, level, reset_for_status};
use crate::defaults::{each, is_zero, made};
use crate::equality::equal_at;
use crate::read::Read;

pub(crate) fn create(pod: &mut Object) {
    pod.insert("status", json!({"phase": "Pending"}));
    let gated = pod
        .get("spec")
        .is_some_and(|it| !it.list("schedulingGates").is_empty());
    selectors_from_label_keys(pod);
    app_armor(pod);
    let Some(spec) = made(pod, "spec") else {
        return;
    };
    level::apply_defaults(spec);
    let class = level::class(&Value::Object(spec.clone()));
    if let Some(status) = made(pod, "status") {
        if gated {
            let condition = json!({
                "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates"
            });
            status.insert("conditions", json!([condition]));
        }
        status.insert("qosClass", class);
    }
}

pub(crate) fn update(new: &mut Object, old: &Value) {
    if let Some(before) = old.find("spec.resources")
        && let Some(spec) = made(new, "spec")
        && spec.get("resources").is_none_or(Value::is_null)
    {
        spec.insert("resources", before.clone());
    }
}

pub(crate) fn update_status(new: &mut Object, old: &Value) {
    if let Some(metadata) = made(new, "metadata") {
        for key in ["deletionTimestamp", "ownerReferences"] {
            put(metadata, key, old.at(&["metadata", key]).cloned());
        }
    }
    let Some(status) = made(new, "status") else {
        return;
    };
    for key in [
        "qosClass",
        "resourceClaimStatuses",
        "extendedResourceClaimStatus",
        "nodeAllocatableResourceClaimStatuses",
        "observedGeneration",
    ] {
        // Who knows of a list may clear it by an empty one.
        if status
            .get(key)
            .is_some_and(|it| it.as_array().is_some_and(Vec::is_empty))
        {
            status.remove(key);
        } else if status.get(key).is_none_or(is_zero)
            && let Some(before) = old.at(&["status", key])
        {
            status.insert(key, before.clone());
        }
    }
    // The n-th condition of a type takes the generation of the n-th before.
    let mut before: HashMap<&str, VecDeque<i64>> = HashMap::new();
    for condition in old.list("status.conditions") {
        let generations = before.entry(condition.text("type")).or_default();
        generations.push_back(condition.int("observedGeneration"));
    }
    each(status, "conditions", |condition| {
        let kind = condition
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let before = before
            .get_mut(kind)
            .and_then(VecDeque::pop_front)
            .unwrap_or(0);
        if before != 0 && condition.get("observedGeneration").is_none_or(is_zero) {
            condition.insert("observedGeneration", before);
        }
    });
}

pub(crate) fn update_ephemeral_containers(new: &mut Object, old: &Value) {
    let containers = new
        .get("spec")
        .and_then(|it| it.get("ephemeralContainers"))
        .cloned();
    keep_all(new, old);
    if let Some(spec) = made(new, "spec") {
        put(spec, "ephemeralContainers", containers);
    }
    count(new, old);
}

/// Only resources and how they change; a pod whose containers do not match is left for validation to refuse.
pub(crate) fn resize(new: &mut Object, old: &Value) {
    let spec = new.get("spec").cloned().unwrap_or_default();
    let lists = ["containers", "initContainers"];
    let matches = |key: &&str| {
        let names = |it: &Value, path: &str| -> Vec<String> {
            it.list(path)
                .iter()
                .map(|it| it.text("name").to_owned())
                .collect()
        };
        names(&spec, key) == names(old, &format!("spec.{key}"))
    };
    if lists.iter().all(matches) {
        keep_all(new, old);
        let Some(kept) = made(new, "spec") else {
            return;
        };
        if let Some(resources) = spec.find("resources") {
            kept.insert("resources", resources.clone());
        }
        for key in lists {
            let mut wanted = spec.list(key).iter();
            each(kept, key, |container| {
                let wanted = wanted.next();
                for field in ["resources", "resizePolicy"] {
                    put(
                        container,
                        field,
                        wanted.and_then(|it| it.get(field)).cloned(),
                    );
                }
            });
        }
        level::apply_defaults(kept);
    }
    count(new, old);
}

/// All as it was, but for what metadata a status update may change.
fn keep_all(new: &mut Object, old: &Value) {
    let Some(before) = old.as_object() else {
        return;
    };
    copy(new, before, "spec");
    copy(new, before, "status");
    if let (Some(metadata), Some(Value::Object(before))) =
        (made(new, "metadata"), before.get("metadata"))
    {
        reset_for_status(metadata, before);
    }
}

fn count(new: &mut Object, old: &Value) {
    let schema = schema::builtin().kind("", "v1", "Pod");
    let changed = old
        .as_object()
        .is_some_and(|old| !equal_at(schema.as_ref(), new, old, &["spec"]));
    if changed {
        super::set_generation(new, old.int("metadata.generation").saturating_add(1));
    }
}

/// `matchLabelKeys` and `mismatchLabelKeys` become requirements with the pod's own values.
fn selectors_from_label_keys(pod: &mut Object) {
    let labels = pod
        .get("metadata")
        .and_then(|it| it.find("labels"))
        .cloned()
        .unwrap_or_default();
    let Some(Value::Object(spec)) = pod.get_mut("spec") else {
        return;
    };
    each(spec, "topologySpreadConstraints", |constraint| {
        require(constraint, "matchLabelKeys", "In", &labels);
    });
    let Some(Value::Object(affinity)) = spec.get_mut("affinity") else {
        return;
    };
    for key in ["podAffinity", "podAntiAffinity"] {
        let Some(Value::Object(affinity)) = affinity.get_mut(key) else {
            continue;
        };
        let both = |term: &mut Object| {
            require(term, "matchLabelKeys", "In", &labels);
            require(term, "mismatchLabelKeys", "NotIn", &labels);
        };
        each(
            affinity,
            "requiredDuringSchedulingIgnoredDuringExecution",
            both,
        );
        each(
            affinity,
            "preferredDuringSchedulingIgnoredDuringExecution",
            |term| {
                if let Some(Value::Object(term)) = term.get_mut("podAffinityTerm") {
                    both(term);
                }
            },
        );
    }
}

fn require(term: &mut Object, keys: &str, operator: &str, labels: &Value) {
    let keys: Vec<String> = match term.get(keys) {
        Some(Value::Array(keys)) => keys
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => return,
    };
    let Some(Value::Object(selector)) = term.get_mut("labelSelector") else {
        return;
    };
    for key in keys {
        if let Some(value) = labels.get(&key).cloned() {
            let expressions = selector.get_or_insert("matchExpressions");
            if expressions.is_null() {
                *expressions = json!([]);
            }
            if let Value::Array(expressions) = expressions {
                expressions.push(json!({"key": key, "operator": operator, "values": [value]}));
            }
        }
    }
}

/// The annotations of before 1.30 become fields.
fn app_armor(pod: &mut Object) {
    let whole = Value::Object(pod.clone());
    if whole.text("spec.os.name") == "windows" {
        return;
    }
    let of_pod = whole.find("spec.securityContext.appArmorProfile");
    let Some(Value::Object(spec)) = pod.get_mut("spec") else {
        return;
    };
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        each(spec, list, |container| {
            let name = container
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let key = format!("container.apparmor.security.beta.kubernetes.io/{name}");
            let profile = crate::read::annotation(&whole, &key).and_then(profile);
            let own = container
                .get("securityContext")
                .is_some_and(|it| it.has("appArmorProfile"));
            if let Some(profile) = profile
                && !own
                && Some(&profile) != of_pod
                && let Some(security) = made(container, "securityContext")
            {
                security.insert("appArmorProfile", profile);
            }
        });
    }
}

/// The field that an annotation stands for, if it makes a valid one.
pub(crate) fn profile(annotation: &str) -> Option<Value> {
    match annotation {
        "unconfined" => Some(json!({"type": "Unconfined"})),
        "runtime/default" => Some(json!({"type": "RuntimeDefault"})),
        _ => {
            let name = annotation.strip_prefix("localhost/")?;
            if name.is_empty() || name.trim() != name || name.len() > 4095 {
                return None;
            }
            Some(json!({"type": "Localhost", "localhostProfile": name}))
        }
    }
}
