//! The few kinds that need more than their row.

use encoding::base64;
use json::{Object, Value, json};

use super::{Context, copy};
use crate::defaults::{is_zero, made};
use crate::equality::equal_at;
use crate::read::Read;

pub(crate) fn new_volume(volume: &mut Object, context: &Context<'_>) {
    let now = context.now;
    volume.insert(
        "status",
        json!({"phase": "Pending", "lastPhaseTransitionTime": now}),
    );
}

/// A `LimitRange` without a name gets one.
pub(crate) fn limit_range_name(range: &mut Object, context: &Context<'_>) {
    if let Some(metadata) = made(range, "metadata")
        && metadata.get("name").is_none_or(is_zero)
    {
        metadata.insert("name", context.uid);
    }
}

pub(crate) fn update_namespace(new: &mut Object, old: &Value) {
    if let Some(spec) = made(new, "spec") {
        let finalizers = old.find("spec.finalizers").cloned();
        put(spec, "finalizers", finalizers);
    }
}

pub(crate) fn update_secret(new: &mut Object, old: &Value) {
    if new.get("type").is_none_or(is_zero) {
        put(new, "type", old.get("type").cloned());
    }
    secret_strings(new);
}

pub(crate) fn new_daemon_set(set: &mut Object) {
    template_generation(set, |given| given.max(1));
}

pub(crate) fn update_daemon_set(new: &mut Object, old: &Value) {
    let before = old.at(&["metadata", "annotations", TEMPLATE_GENERATION]);
    let before = before
        .and_then(Value::as_str)
        .and_then(|it| it.parse().ok())
        .unwrap_or(0);
    let path = &["spec", "template"];
    let schema = schema::builtin().kind("apps", "v1", "DaemonSet");
    let changed = old
        .as_object()
        .is_some_and(|old| !equal_at(schema.as_ref(), new, old, path));
    template_generation(new, |_: i64| {
        i64::saturating_add(before, i64::from(changed))
    });
}

/// The configuration source of a node is no longer taken; one that is there stays.
pub(crate) fn node_config(new: &mut Object, old: &Value) {
    if !old.has("spec.configSource") {
        drop_below(new, &["spec"], "configSource");
    }
}

/// A claim that is stored has both forms of its data source.
pub(crate) fn stored_claim(claim: &mut Value) {
    let before = claim.clone();
    if let Some(claim) = claim.as_object_mut() {
        data_sources(claim, &before);
    }
}

/// The spec of an object that cannot be changed.
pub(crate) fn keep_spec(new: &mut Object, old: &Value) {
    if let Some(before) = old.as_object() {
        copy(new, before, "spec");
    }
}

/// Finalizers of a namespace, and nothing of its status.
pub(crate) fn finalize_namespace(new: &mut Object, old: &Value) {
    if let Some(before) = old.as_object() {
        copy(new, before, "status");
    }
}

pub(crate) fn certificate_status(new: &mut Object, old: &Value, context: &Context<'_>) {
    for kind in ["Approved", "Denied"] {
        keep_conditions(new, old, kind);
    }
    condition_times(new, old, context);
}

/// An approval changes the conditions of a request, and nothing else.
pub(crate) fn certificate_approval(new: &mut Object, old: &Value, context: &Context<'_>) {
    let Some(before) = old.as_object() else {
        return;
    };
    condition_times(new, old, context);
    let conditions = new
        .get("status")
        .and_then(|it| it.get("conditions"))
        .cloned();
    copy(new, before, "spec");
    copy(new, before, "status");
    if let Some(status) = made(new, "status") {
        put(status, "conditions", conditions);
    }
}

pub(super) fn put(object: &mut Object, key: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(object.insert(key, value)),
        None => drop(object.remove(key)),
    }
}

fn drop_below(object: &mut Object, path: &[&str], key: &str) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let parent = object.get_mut(first).and_then(|it| it.at_mut(rest));
    if let Some(Value::Object(parent)) = parent {
        parent.remove(key);
    }
}

/// A namespace is not gone before its content is.
pub(crate) fn namespace(object: &mut Object) {
    object.insert("status", json!({"phase": "Active"}));
    let Some(spec) = made(object, "spec") else {
        return;
    };
    let finalizers = spec.get_or_insert("finalizers");
    if finalizers.is_null() {
        *finalizers = json!([]);
    }
    if let Value::Array(items) = finalizers
        && !items.iter().any(|it| it.as_str() == Some("kubernetes"))
    {
        items.push("kubernetes".into());
    }
}

/// `stringData` is written only: it goes into `data`, over what is there.
pub(crate) fn secret_strings(secret: &mut Object) {
    let Some(Value::Object(strings)) = secret.remove("stringData") else {
        return;
    };
    if strings.is_empty() {
        return;
    }
    if let Some(data) = made(secret, "data") {
        for (key, value) in strings {
            let text = value.as_str().unwrap_or_default();
            data.insert(key, base64::encode(text.as_bytes()));
        }
    }
}

/// Only the name of a secret counts.
pub(crate) fn secret_references(account: &mut Object) {
    if let Some(Value::Array(secrets)) = account.get_mut("secrets") {
        for secret in secrets {
            let name = secret.get("name").cloned();
            *secret = json!({});
            if let (Some(fields), Some(name)) = (secret.as_object_mut(), name) {
                fields.insert("name", name);
            }
        }
    }
}

/// The old and the new way to name a data source say the same. What only the new way can say is dropped from the old.
pub(crate) fn data_sources(claim: &mut Object, old: &Value) {
    let Some(Value::Object(spec)) = claim.get_mut("spec") else {
        return;
    };
    let had = |field| old.find(field).is_some_and(|it| !it.is_null());
    let (had_old, had_new) = (had("spec.dataSource"), had("spec.dataSourceRef"));
    let known = |it: &Value| {
        matches!(
            (it.text("apiGroup"), it.text("kind")),
            ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
        )
    };
    let newer = spec.get("dataSourceRef").is_some_and(|it| !it.is_null());
    if !had_old && !had_new && !newer && !spec.get("dataSource").is_some_and(known) {
        spec.remove("dataSource");
    }
    let reference = |from: &Value| {
        let mut to = Object::new();
        for key in ["apiGroup", "kind", "name"] {
            // The group is written even if there is none.
            if key == "apiGroup" || from.has(key) {
                to.insert(key, from.find(key).cloned().unwrap_or_default());
            }
        }
        to
    };
    let source = spec.get("dataSource").filter(|it| !it.is_null());
    let newer = spec.get("dataSourceRef").filter(|it| !it.is_null());
    match (source, newer) {
        (Some(source), None) => {
            let made = reference(source);
            spec.insert("dataSourceRef", made);
        }
        (None, Some(newer)) if newer.text("namespace").is_empty() => {
            let made = reference(newer);
            spec.insert("dataSource", made);
        }
        _ => {}
    }
}

/// A job owns its pods by its UID, unless the user chose a selector.
pub(crate) fn job_selector(job: &mut Object) {
    let name = job
        .get("metadata")
        .map(|it| it.text("name").to_owned())
        .unwrap_or_default();
    let uid = job
        .get("metadata")
        .map(|it| it.text("uid").to_owned())
        .unwrap_or_default();
    let Some(spec) = made(job, "spec") else {
        return;
    };
    if spec.get("manualSelector").and_then(Value::as_bool) == Some(true) {
        return;
    }
    let add = |labels: &mut Object, key: &str, value: &str| {
        if !labels.contains_key(key) {
            labels.insert(key, value);
        }
    };
    if let Some(template) = made(spec, "template")
        && let Some(metadata) = made(template, "metadata")
        && let Some(labels) = made(metadata, "labels")
    {
        add(labels, "job-name", &name);
        add(labels, "batch.kubernetes.io/job-name", &name);
        add(labels, "controller-uid", &uid);
        add(labels, "batch.kubernetes.io/controller-uid", &uid);
    }
    if let Some(selector) = made(spec, "selector")
        && let Some(labels) = made(selector, "matchLabels")
    {
        add(labels, "batch.kubernetes.io/controller-uid", &uid);
    }
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Once a field, now kept in an annotation that no client can set.
fn template_generation(set: &mut Object, next: impl Fn(i64) -> i64) {
    if let Some(metadata) = made(set, "metadata")
        && let Some(annotations) = made(metadata, "annotations")
    {
        let given = annotations.get(TEMPLATE_GENERATION).and_then(Value::as_str);
        let given = given.and_then(|it| it.parse().ok()).unwrap_or(0);
        annotations.insert(TEMPLATE_GENERATION, next(given).to_string());
    }
}

/// The requester of a certificate is the user of the request, whatever the object says.
pub(crate) fn requester(request: &mut Object, context: &Context<'_>) {
    let Some(spec) = made(request, "spec") else {
        return;
    };
    for key in ["username", "uid", "groups", "extra"] {
        spec.remove(key);
    }
    let Some(user) = context.user else { return };
    let mut put_text = |key: &str, text: &str| {
        if !text.is_empty() {
            spec.insert(key, text);
        }
    };
    put_text("username", user.name);
    put_text("uid", user.uid);
    if !user.groups.is_empty() {
        spec.insert("groups", user.groups.iter().collect::<Value>());
    }
    if !user.extra.is_empty() {
        let extra: Object = (user.extra.iter())
            .map(|(key, values)| (key.as_str(), values.iter().collect::<Value>()))
            .collect();
        spec.insert("extra", extra);
    }
}

/// The storage version joins those that objects may be stored in.
pub(crate) fn stored_version(definition: &mut Object) {
    let versions = definition
        .get("spec")
        .map(|it| it.list("versions").to_vec())
        .unwrap_or_default();
    let Some(name) = versions
        .iter()
        .find(|it| it.flag("storage"))
        .and_then(|it| it.get("name"))
    else {
        return;
    };
    let Some(status) = made(definition, "status") else {
        return;
    };
    let stored = status.get_or_insert("storedVersions");
    if stored.is_null() {
        *stored = json!([]);
    }
    if let Value::Array(stored) = stored
        && !stored.contains(name)
    {
        stored.push(name.clone());
    }
}

/// An API that this server serves itself is available.
pub(crate) fn local_service(service: &mut Object, context: &Context<'_>) {
    let remote = service.get("spec").is_some_and(|it| it.has("service"));
    if !remote {
        let condition = json!({
            "type": "Available", "status": "True", "lastTransitionTime": (context.now),
            "reason": "Local", "message": "Local APIServices are always available"
        });
        service.insert("status", json!({"conditions": [condition]}));
    }
}

/// A taint that changes its effect starts anew.
pub(crate) fn taint_time(new: &mut Object, old: &Value, context: &Context<'_>) {
    let Some(Value::Object(taint)) = new.get_mut("spec").and_then(|it| it.get_mut("taint")) else {
        return;
    };
    let before = |key: &str| old.at(&["spec", "taint", key]);
    if taint.get("effect") != before("effect") && taint.get("timeAdded") == before("timeAdded") {
        taint.insert("timeAdded", context.now);
    }
}

pub(crate) fn phase_time(new: &mut Object, old: &Value, context: &Context<'_>) {
    const TIME: &str = "lastPhaseTransitionTime";
    let Some(status) = made(new, "status") else {
        return;
    };
    let before = old.at(&["status", TIME]).filter(|it| !it.is_null());
    let now = status.get(TIME).filter(|it| !it.is_null());
    let moved = status
        .get("phase")
        .and_then(Value::as_str)
        .unwrap_or_default()
        != old.text("status.phase");
    if moved && (now.is_none() || now == before) {
        status.insert(TIME, context.now);
    } else if !moved && now.is_none() {
        put(status, TIME, before.cloned());
    }
}

/// Conditions of a kind that were neither added nor removed stay as they were.
fn keep_conditions(new: &mut Object, old: &Value, kind: &str) {
    let is = |it: &&Value| it.text("type") == kind;
    let before: Vec<_> = old
        .list("status.conditions")
        .iter()
        .filter(is)
        .cloned()
        .collect();
    let Some(Value::Array(conditions)) = new
        .get_mut("status")
        .and_then(|it| it.get_mut("conditions"))
    else {
        return;
    };
    if conditions.iter().filter(is).count() == before.len() {
        let of_kind = conditions.iter_mut().filter(|it| it.text("type") == kind);
        of_kind.zip(before).for_each(|(now, before)| *now = before);
    }
}

fn condition_times(new: &mut Object, old: &Value, context: &Context<'_>) {
    let Some(Value::Array(conditions)) = new
        .get_mut("status")
        .and_then(|it| it.get_mut("conditions"))
    else {
        return;
    };
    for condition in conditions {
        let like = |it: &&Value| {
            it.text("type") == condition.text("type")
                && it.text("status") == condition.text("status")
                && it.has("lastTransitionTime")
        };
        let before = old.list("status.conditions").iter().find(like);
        let before = before
            .map_or(context.now, |it| it.text("lastTransitionTime"))
            .to_owned();
        let Some(condition) = condition.as_object_mut() else {
            continue;
        };
        for (key, time) in [
            ("lastUpdateTime", context.now),
            ("lastTransitionTime", &before),
        ] {
            if condition.get(key).is_none_or(Value::is_null) {
                condition.insert(key, time);
            }
        }
    }
}
