//! What of a pod may change.

use std::collections::HashMap;

use json::Value;

use super::{annotations, metadata_and_spec};
use crate::validate::diff::diff;
use crate::validate::errors::Errors;
use crate::validate::field::{Field, text};
use crate::validate::go_form::go_form;
use crate::validate::object_meta;
use crate::validate::seen::Seen;

const UPDATABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    common(e, new, old);
    let (spec, was) = (new.child("spec"), old.child("spec"));
    for name in ["containers", "initContainers"] {
        if !images(e, &spec.child(name), &was.child(name)) {
            return;
        }
    }
    if !deadline(
        e,
        &spec.child("activeDeadlineSeconds"),
        &was.child("activeDeadlineSeconds"),
    ) {
        return;
    }
    added_tolerations(e, &spec.child("tolerations"), &was.child("tolerations"));
    deleted_gates(
        e,
        &spec.child("schedulingGates"),
        &was.child("schedulingGates"),
    );
    if e.same(&spec, &was) {
        return;
    }
    let mut munged = spec.value.clone();
    munge(&mut munged, was.value);
    if !was.child("schedulingGates").is_empty() {
        gated(e, &spec, &was, &mut munged);
    }
    if let Some(diff) = difference(e, &spec, "PodSpec", was.value, &munged) {
        let why = format!("pod updates may not change fields other than {UPDATABLE}\n{diff}");
        e.forbidden(&spec, &why);
    }
}

/// The difference of more values than this is not shown: written out as upstream prints its types, they are many times
/// their size.
const MAX_SHOWN: usize = 10_000;

/// What has changed, as upstream's internal type of that name prints it.
fn difference(e: &Errors, at: &Field, kind: &str, old: &Value, new: &Value) -> Option<String> {
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(object) => object.values().map(count).sum(),
            _ => 0,
        }
    }
    if e.same_at(at, new, old) {
        return None;
    }
    if count(old) + count(new) > MAX_SHOWN {
        return Some("the difference is too large to be shown\n".into());
    }
    Some(diff(&go_form(kind, old), &go_form(kind, new)))
}

fn common(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    metadata_and_spec(e, new);
    annotation_updates(e, new, old);
}

pub(super) fn annotation_updates(e: &mut Errors, new: &Field, old: &Field) {
    let (it, was) = (new.child("metadata"), old.child("metadata"));
    let all = it.child("annotations");
    annotations::updated(e, &all, &was.child("annotations"));
    annotations::annotations(e, &all, &new.child("spec"));
}

/// Says whether there is a container for each there was.
fn images(e: &mut Errors, new: &Field, old: &Field) -> bool {
    if new.len() != old.len() {
        e.forbidden(new, "pod updates may not add or remove containers");
        return false;
    }
    for container in new.items() {
        e.required_text(&container.child("image"));
        super::containers::image_without_space(e, &container);
    }
    true
}

/// It may be set, and made shorter.
fn deadline(e: &mut Errors, new: &Field, old: &Field) -> bool {
    let before = e.len();
    match (new.opt_int(), old.opt_int()) {
        (Some(seconds), was) => {
            e.range(new, 0, i64::from(i32::MAX));
            if e.len() == before && was.is_some_and(|was| was < seconds) {
                e.invalid(new, "must be less than or equal to previous value");
            }
            e.len() == before
        }
        (None, Some(_)) => {
            let text = "must not update from a positive integer to nil value";
            e.invalid_value(new, Value::Null, text);
            true
        }
        (None, None) => true,
    }
}

fn added_tolerations(e: &mut Errors, new: &Field, old: &Field) {
    fn key(it: &Value) -> [&str; 4] {
        ["key", "operator", "value", "effect"].map(|name| text(it, name))
    }
    let kept: Seen<[&str; 4]> = new.list().iter().map(key).collect();
    for was in old.list() {
        if !kept.contains(&key(was)) {
            let text = "existing toleration can not be modified except its tolerationSeconds";
            return e.forbidden(new, text);
        }
    }
    super::scheduling::tolerations(e, new);
}

fn deleted_gates(e: &mut Errors, new: &Field, old: &Field) {
    let had: Seen<&str> = old.list().iter().map(|it| text(it, "name")).collect();
    for gate in new.items() {
        let name = gate.text("name");
        if !had.contains(&name) {
            let why = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            e.forbidden(&gate.child("name"), &why);
        }
    }
}

/// Takes back what was allowed to change.
fn munge(munged: &mut Value, old: &Value) {
    for name in ["containers", "initContainers"] {
        let images = old.get(name).and_then(Value::as_array);
        let items = munged.get_mut(name).and_then(Value::as_array_mut);
        for (new, old) in items
            .into_iter()
            .flatten()
            .zip(images.into_iter().flatten())
        {
            take_back(new, old, "image");
        }
    }
    for name in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        take_back(munged, old, name);
    }
    let grace = "terminationGracePeriodSeconds";
    let negative = old
        .get(grace)
        .and_then(Value::as_i64)
        .is_some_and(|it| it < 0);
    if negative && munged.get(grace).and_then(Value::as_i64) == Some(1) {
        take_back(munged, old, grace);
    }
}

pub(super) fn take_back(munged: &mut Value, old: &Value, name: &str) {
    if let Some(object) = munged.as_object_mut() {
        match old.get(name) {
            Some(value) => {
                object.insert(name, value.clone());
            }
            None => {
                object.remove(name);
            }
        }
    }
}

/// As long as a pod waits, it may say more precisely where it wants to run.
fn gated(e: &mut Errors, spec: &Field, was: &Field, munged: &mut Value) {
    let (selector, had) = (spec.child("nodeSelector"), was.child("nodeSelector"));
    if had
        .pairs()
        .any(|(key, value)| selector.value.get(key) != Some(value))
    {
        let text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        e.invalid(&selector, text);
    }
    take_back(munged, was.value, "nodeSelector");
    let affinity = spec.child("affinity");
    let (new, old) = (
        affinity.child("nodeAffinity"),
        was.children(&["affinity", "nodeAffinity"]),
    );
    if e.same(&new, &old) {
        return;
    }
    let required = &[
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    ];
    let (terms, had) = (new.children(required), old.children(required));
    if !had.is_empty() && had.len() != terms.len() {
        let text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        e.invalid_as("[]NodeSelectorTerm", &terms, text);
    } else {
        for (term, had) in terms.items().zip(had.items()) {
            if !only_added(e, &term, &had) {
                let text = "only additions are allowed (no mutations or deletions)";
                e.invalid_as("NodeSelectorTerm", &term, text);
            }
        }
    }
    let empty = Value::Object(json::Object::new());
    let had = was.value.get("affinity").unwrap_or(&empty);
    if let Some(object) = munged.as_object_mut() {
        let affinity = object.get_or_insert("affinity");
        if affinity.is_null() {
            *affinity = empty.clone();
        }
        take_back(affinity, had, "nodeAffinity");
        if affinity.as_object().is_some_and(json::Object::is_empty) && !was.has("affinity") {
            object.remove("affinity");
        }
    }
}

fn only_added(e: &Errors, new: &Field, old: &Field) -> bool {
    let lists = ["matchExpressions", "matchFields"];
    if lists.iter().all(|name| old.child(name).is_empty()) {
        return lists.iter().all(|name| new.child(name).is_empty());
    }
    lists.iter().all(|name| {
        let (new, old) = (new.child(name), old.child(name));
        let mut pairs = new.items().zip(old.items());
        new.len() >= old.len() && pairs.all(|(new, old)| e.same(&new, &old))
    })
}

/// The way debug containers come into a running pod, and never out.
pub(crate) fn update_ephemeral_containers(e: &mut Errors, new: &Field, old: &Field) {
    if old
        .children(&["metadata", "annotations"])
        .has(annotations::MIRROR)
    {
        let text = "static pods do not support ephemeral containers";
        return e.push(meta::field::Error::forbidden(
            meta::field::Path::new(""),
            text,
        ));
    }
    common(e, new, old);
    let spec = new.child("spec");
    let all = spec.child("ephemeralContainers");
    let mut by_name = HashMap::new();
    for it in all.list() {
        by_name.entry(text(it, "name")).or_insert(it);
    }
    for was in old.children(&["spec", "ephemeralContainers"]).list() {
        if e.is_full() {
            break;
        }
        let name = text(was, "name");
        let quoted = meta::go::quote(name);
        match by_name.get(name).copied() {
            None => {
                let why = format!("existing ephemeral containers {quoted} may not be removed\n");
                e.forbidden(&all, &why);
            }
            Some(it) => {
                if let Some(diff) = difference(e, &all.item(0), "EphemeralContainer", was, it) {
                    let why = format!(
                        "existing ephemeral containers {quoted} may not be changed\n{diff}"
                    );
                    e.forbidden(&all, &why);
                }
            }
        }
    }
}
