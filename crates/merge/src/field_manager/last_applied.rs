//! `kubectl apply` without and with `--server-side` on one object: the annotation of the one speaks for the other.

use json::Value;

use super::Context;
use crate::fieldpath::Set;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Fields that stand in the live object as the annotation says: kubectl owns them, whoever is recorded.
pub(super) fn allowed_conflicts(context: &Context, live: &Value) -> Option<Set<'static>> {
    let last = live.str_at(&["metadata", "annotations", ANNOTATION])?;
    let last = json::parse(last.as_bytes()).ok()?;
    if last.get("apiVersion").and_then(Value::as_str) != Some(context.api_version) {
        return None;
    }
    let schema = context.schema;
    schema.validate(live, false).ok()?;
    schema.validate(&last, false).ok()?;
    let mut fields = schema.to_set(&last);
    let compared = schema.compare(&last, live).ok()?;
    fields.subtract(&compared.modified);
    fields.subtract(&compared.added);
    fields.subtract(&compared.removed);
    Some(fields.into_owned())
}

/// An object that has the annotation gets it anew.
pub(super) fn sync_annotation(object: &mut Value, patch: &Value) {
    let Some(Value::Object(annotations)) = object.at_mut(&["metadata", "annotations"]) else {
        return;
    };
    let there = annotations.get(ANNOTATION).and_then(Value::as_str);
    if there.is_none_or(str::is_empty) {
        return;
    }
    let mut applied = patch.clone();
    applied.sort_keys();
    if let Some(Value::Object(annotations)) = applied.at_mut(&["metadata", "annotations"]) {
        annotations.remove(ANNOTATION);
    }
    let mut text = json::to_string(&applied);
    text.push('\n');
    annotations.insert(ANNOTATION, text);
    let sizes = (annotations.iter()).map(|(key, it)| key.len() + it.as_str().map_or(0, str::len));
    if sizes.sum::<usize>() > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    }
}
