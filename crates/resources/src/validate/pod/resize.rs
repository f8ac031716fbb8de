//! Changing the resources of a running pod.

use json::Value;

use super::update::take_back;
use super::{annotations, metadata_and_spec};
use crate::validate::errors::Errors;
use crate::validate::field::{Field, text};
use crate::validate::object_meta;
use crate::validate::words::read_quantity;

pub(crate) fn resize(e: &mut Errors, new: &Field, old: &Field) {
    let refuse = |text| meta::field::Error::forbidden(meta::field::Path::new(""), text);
    if old
        .children(&["metadata", "annotations"])
        .has(annotations::MIRROR)
    {
        return e.push(refuse("static pods cannot be resized"));
    }
    if old.children(&["spec", "os"]).text("name") == "windows" {
        return e.push(refuse("windows pods cannot be resized"));
    }
    object_meta::update(e, new, old);
    metadata_and_spec(e, new);
    let (spec, was) = (new.child("spec"), old.child("spec"));
    let class = old.child("status").text("qosClass");
    let class = if class.is_empty() { qos(&was) } else { class };
    if class != qos(&spec) {
        let status = new.child("status");
        let text = "Pod QOS Class may not change as a result of resizing";
        e.invalid_value(&spec, status.text("qosClass"), text);
    }
    if !supported(&old.child("status")) {
        e.forbidden(&spec, "Pod running on node without support for resize");
    }
    let mut munged = spec.value.clone();
    of_pod(e, &spec, &was, &mut munged);
    if !order(e, &spec, &was) {
        return;
    }
    removed(e, &spec, &was);
    containers(e, &spec, &was, &mut munged);
    let volumes = spec.child("volumes");
    if !e.same(&volumes, &was.child("volumes")) {
        let text = "volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled";
        e.forbidden(&volumes, text);
    }
    if e.is_empty() && !e.same_at(&spec, &munged, was.value) {
        e.forbidden(&spec, "only cpu and memory resources are mutable");
    }
}

/// A node that can resize says what its running containers have.
fn supported(status: &Field) -> bool {
    let all = status.child("containerStatuses");
    let running = all.items().find(|it| it.child("state").has("running"));
    running.is_none_or(|it| it.has("resources"))
}

fn of_pod(e: &mut Errors, spec: &Field, was: &Field, munged: &mut Value) {
    let (it, had) = (spec.child("resources"), was.child("resources"));
    if !it.is_set() && !had.is_set() {
        return;
    }
    if !it.is_set() {
        return e.forbidden(&it, "pod-level resources cannot be removed");
    }
    for name in ["requests", "limits"] {
        if lost(&it.child(name), &had.child(name)) {
            let why = format!("pod-level resource {name} cannot be removed");
            e.forbidden(&it.child(name), &why);
        }
    }
    if let Some(resources) = munged.get_mut("resources") {
        without_compute(resources, had.value);
        if !e.same_at(&it, resources, had.value) {
            let text = "only cpu and memory resources are mutable at pod-level";
            e.forbidden(spec, text);
        }
    }
}

fn lost(new: &Field, old: &Field) -> bool {
    old.pairs().any(|(name, _)| !new.has(name))
}

fn order(e: &mut Errors, spec: &Field, was: &Field) -> bool {
    let before = e.len();
    for name in ["containers", "initContainers"] {
        let (new, old) = (spec.child(name), was.child(name));
        if new.len() != old.len() {
            e.forbidden(
                &new,
                &format!("{name} may not be added or removed on resize"),
            );
            continue;
        }
        for (container, old) in new.items().zip(old.list()) {
            let own = container.child("name");
            if own.str() != text(old, "name") {
                e.forbidden(
                    &own,
                    &format!("{name} may not be renamed or reordered on resize"),
                );
            }
        }
    }
    e.len() == before
}

fn removed(e: &mut Errors, spec: &Field, was: &Field) {
    for name in ["initContainers", "containers"] {
        let old = was.child(name);
        for (new, old) in spec.child(name).items().zip(old.items()) {
            let (resources, had) = (new.child("resources"), old.child("resources"));
            for name in ["requests", "limits"] {
                if lost(&resources.child(name), &had.child(name)) {
                    let why = format!("resource {name} cannot be removed");
                    e.forbidden(&resources.child(name), &why);
                }
            }
        }
    }
}

fn containers(e: &mut Errors, spec: &Field, was: &Field, munged: &mut Value) {
    for name in ["containers", "initContainers"] {
        let (all, old) = (spec.child(name), was.child(name).list());
        let items = munged.get_mut(name).and_then(Value::as_array_mut);
        for ((munged, old), it) in items.into_iter().flatten().zip(old).zip(all.items()) {
            let changed = !e.same_at(&it, munged, old);
            let empty = Value::Null;
            if let Some(resources) = munged.get_mut("resources") {
                without_compute(resources, old.get("resources").unwrap_or(&empty));
            }
            let differs = !e.same_at(&it, munged, old);
            if name == "containers" {
                if differs {
                    e.forbidden(spec, "only cpu and memory resources are mutable");
                }
                continue;
            }
            if differs {
                let text =
                    "only cpu and memory resources for init or sidecar containers are mutable";
                e.forbidden(&it, text);
            }
            if changed && text(old, "restartPolicy") != "Always" {
                for policy in it.child("resizePolicy").items() {
                    if policy.text("restartPolicy") == "RestartContainer" {
                        let text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
                        e.forbidden(&it, text);
                    }
                }
            }
        }
    }
}

/// Takes back the two that may change.
fn without_compute(resources: &mut Value, old: &Value) {
    for name in ["requests", "limits"] {
        let had = old.get(name).cloned().unwrap_or_default();
        let Some(object) = resources.as_object_mut() else {
            continue;
        };
        let list = object.get_or_insert(name);
        if list.is_null() {
            *list = Value::Object(json::Object::new());
        }
        take_back(list, &had, "cpu");
        take_back(list, &had, "memory");
    }
}

/// Best effort asks for nothing, guaranteed asks for all it may have.
fn qos(spec: &Field) -> &'static str {
    let (mut any, mut guaranteed) = (false, true);
    let mut see = |it: &Field| {
        for name in ["cpu", "memory"] {
            let read = |of| {
                it.value
                    .at(&["resources", of, name])
                    .and_then(read_quantity)
                    .filter(|it| it.sign() > 0)
            };
            let (request, limit) = (read("requests"), read("limits"));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && request.is_none_or(|request| Some(request) == limit);
        }
    };
    if spec.has("resources") {
        see(spec);
    } else {
        for name in ["containers", "initContainers"] {
            for container in spec.child(name).items() {
                see(&container);
            }
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}
