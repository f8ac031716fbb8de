//! `Feature`: what a client wants is set through the subresource `desired`, and what the feature is only by the API servers.

use json::{Object, Value};

use super::kinds::put;
use super::{Context, copy, set_generation};
use crate::defaults::made;
use crate::read::Read;

/// The parts of the spec that the subresource `desired` sets.
const DESIRED: [&str; 2] = ["desired", "urgency"];

/// The user that API servers are to themselves.
const SERVER: &str = "system:apiserver";

pub(crate) fn create(object: &mut Object, context: &Context<'_>) {
    if context.user.is_none_or(|it| it.name != SERVER) {
        object.remove("status");
    }
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        for key in DESIRED {
            spec.remove(key);
        }
    }
}

pub(crate) fn update(new: &mut Object, old: &Value, _: &Context<'_>) {
    let Some(spec) = made(new, "spec") else {
        return;
    };
    for key in DESIRED {
        put(spec, key, old.at(&["spec", key]).cloned());
    }
}

/// Nothing else changes.
pub(crate) fn set_desired(new: &mut Object, old: &Value, _: &Context<'_>) {
    let Some(before) = old.as_object() else {
        return;
    };
    let [desired, urgency] = DESIRED.map(|key| new.get("spec")?.get(key).cloned());
    let metadata = new.get("metadata");
    let managed = metadata.and_then(|it| it.get("managedFields")).cloned();
    let version = metadata.and_then(|it| it.get("resourceVersion")).cloned();
    for key in ["spec", "status", "metadata"] {
        copy(new, before, key);
    }
    if let Some(metadata) = made(new, "metadata") {
        put(metadata, "managedFields", managed);
        put(metadata, "resourceVersion", version);
    }
    let Some(spec) = made(new, "spec") else {
        return;
    };
    put(spec, "desired", desired);
    put(spec, "urgency", urgency);
    let is_changed = DESIRED
        .iter()
        .any(|key| new.get("spec").and_then(|it| it.get(key)) != old.at(&["spec", key]));
    let generation = old.int("metadata.generation");
    set_generation(new, generation.saturating_add(i64::from(is_changed)));
}
