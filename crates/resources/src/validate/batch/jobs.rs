//! Jobs.

use json::Value;
use meta::names;

use super::policies;
pub(crate) use super::status::update_status;
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::object_meta::{self, Named};
use crate::validate::pod;
use crate::validate::words::IMMUTABLE;
use crate::validate::workloads::{Selected, does_not_match, selects};

pub(crate) fn create(e: &mut Errors, it: &Field) {
    let labels = it.children(&["metadata", "labels"]);
    let generated = it.children(&["spec", "template", "metadata", "labels"]);
    if labels.value == generated.value {
        // Those of the template, which a job without any gets when it is read: not looked at twice.
        let mut bare = it.value.clone();
        if let Some(metadata) = bare.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("labels");
        }
        object_meta::create(e, &it.with(&bare), Named::SUBDOMAIN);
    } else {
        object_meta::create(e, it, Named::SUBDOMAIN);
    }
    generated_selector(e, it);
    spec(e, &it.child("spec"));
    name_allows_completions(e, it);
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (it, was) = (new.child("spec"), old.child("spec"));
    spec(e, &it);
    completions(e, &it, &was);
    e.immutable(&it.child("selector"), &was.child("selector"));
    template_update(e, &it, &was, old);
    for name in [
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        e.immutable(&it.child(name), &was.child(name));
    }
    name_allows_completions(e, new);
}

/// The strategy makes selector and labels from the job's identity.
fn generated_selector(e: &mut Errors, it: &Field) {
    let spec = it.child("spec");
    let selector = spec.child("selector");
    if spec.flag("manualSelector") || !selector.is_set() {
        return;
    }
    let metadata = it.child("metadata");
    let (uid, name) = (metadata.child("uid"), metadata.text("name"));
    e.required_text(&uid);
    let labels = spec.children(&["template", "metadata", "labels"]);
    let expected = [
        ("controller-uid", uid.str()),
        ("job-name", name),
        ("batch.kubernetes.io/controller-uid", uid.str()),
        ("batch.kubernetes.io/job-name", name),
    ];
    for (key, want) in expected {
        let at = labels.entry(key);
        let why = format!("must be '{want}'");
        if !at.is_set() {
            e.required(&at, &why);
        } else if at.str() != want {
            e.invalid_value(&at, labels.value.clone(), &why);
        }
    }
    let own: Value = Value::Object(expected.into_iter().collect());
    if selects(&selector, &labels.with(&own)) == Selected::No {
        e.invalid(&selector, "`selector` not auto-generated");
    }
}

fn is_indexed(spec: &Field) -> bool {
    spec.text("completionMode") == "Indexed"
}

fn name_allows_completions(e: &mut Errors, it: &Field) {
    let spec = it.child("spec");
    let completions = spec.number("completions");
    if is_indexed(&spec) && completions > 0 {
        let metadata = it.child("metadata");
        let name = metadata.child("name");
        let host = format!("{}-{}", name.str(), completions - 1);
        if !names::dns1123_label(&host).is_empty() {
            let why = format!("will not able to create pod with invalid DNS label: {host}");
            e.invalid(&name, &why);
        }
    }
}

fn spec(e: &mut Errors, it: &Field) {
    any_spec(e, it);
    let (selector, template) = (it.child("selector"), it.child("template"));
    if selector.is_set() {
        e.label_selector(&selector);
    } else {
        e.required(&selector, "");
    }
    if selects(&selector, &template.children(&["metadata", "labels"])) == Selected::No {
        does_not_match(e, &template);
    }
}

/// Of a job or of a cron job's template.
pub(super) fn any_spec(e: &mut Errors, it: &Field) {
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        e.non_negative(&it.child(name));
    }
    let per_index = it.child("backoffLimitPerIndex");
    if it.has("maxFailedIndexes") && !per_index.is_set() {
        e.required(&per_index, "when maxFailedIndexes is specified");
    }
    let manager = it.child("managedBy");
    if manager.is_set() {
        e.push_all(names::domain_prefixed_path(&manager.path, manager.str()));
        if manager.len() > 63 {
            e.too_long(&manager, 63);
        }
    }
    completion_mode(e, it);
    policies::policies(e, it);
    pod::template(e, &it.child("template"));
    let policy = it.children(&["template", "spec", "restartPolicy"]);
    match policy.str() {
        "Always" | "" => e.required(&policy, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if it.has("podFailurePolicy") => {
            e.invalid(
                &policy,
                "only \"Never\" is supported when podFailurePolicy is specified",
            );
        }
        "OnFailure" | "Never" => {}
        _ => e.not_supported(&policy, &["OnFailure", "Never"]),
    }
}

fn completion_mode(e: &mut Errors, it: &Field) {
    let (mode, completions) = (it.child("completionMode"), it.child("completions"));
    let (parallelism, failed) = (it.child("parallelism"), it.child("maxFailedIndexes"));
    let per_index = it.child("backoffLimitPerIndex");
    e.optional_one_of(&mode, &["NonIndexed", "Indexed"]);
    if is_indexed(it) {
        if !completions.is_set() {
            e.required(&completions, "when completion mode is Indexed");
        }
        if parallelism.int() > 100_000 {
            let text = "must be less than or equal to 100000 when completion mode is Indexed";
            e.invalid(&parallelism, text);
        }
        if completions.is_set() && failed.is_set() && failed.int() > completions.int() {
            e.invalid(&failed, "must be less than or equal to completions");
        }
        if failed.int() > 100_000 {
            e.invalid(&failed, "must be less than or equal to 100000");
        }
        if completions.int() > 100_000 && per_index.is_set() {
            if !failed.is_set() {
                e.required(
                    &failed,
                    "must be specified when completions is above 100000",
                );
            }
            let text = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index";
            for count in [&parallelism, &failed] {
                if count.int() > 10_000 {
                    e.invalid(count, text);
                }
            }
        }
    }
    if matches!(mode.opt_str(), None | Some("NonIndexed")) {
        for name in [per_index, failed] {
            if name.is_set() {
                e.invalid(&name, "requires indexed completion mode");
            }
        }
    }
}

fn completions(e: &mut Errors, it: &Field, was: &Field) {
    let (new, old) = (it.child("completions"), was.child("completions"));
    if !is_indexed(it) {
        return e.immutable(&new, &old);
    }
    if new.is_set() && !e.same(&new, &old) && new.int() != it.number("parallelism") {
        e.invalid(&new, "can only be modified in tandem with spec.parallelism");
    }
}

/// Scheduling directives and resources of a suspended job may be changed.
fn template_update(e: &mut Errors, it: &Field, was: &Field, old: &Field) {
    let suspended = was.flag("suspend");
    let status = old.child("status");
    let mutable = suspended && (!status.has("startTime") || has_condition(&status, "Suspended"));
    let (new, mut had) = (it.child("template"), was.child("template").value.clone());
    if mutable {
        let empty = Value::Null;
        let from = |path: &[&str]| new.value.at(path).unwrap_or(&empty).clone();
        let put = |at: &mut Value, name: &str, value: Value| {
            if at.is_null() {
                *at = Value::Object(json::Object::new());
            }
            if let Some(object) = at.as_object_mut() {
                object.insert(name, value);
            }
        };
        if let Some(object) = had.as_object_mut() {
            for name in ["annotations", "labels"] {
                put(
                    object.get_or_insert("metadata"),
                    name,
                    from(&["metadata", name]),
                );
            }
            let spec = object.get_or_insert("spec");
            for name in ["nodeSelector", "tolerations", "schedulingGates"] {
                put(spec, name, from(&["spec", name]));
            }
            let affinity = from(&["spec", "affinity"]);
            if let Some(spec) = spec.as_object_mut() {
                node_affinity(spec, &affinity);
            }
            resources(spec, new.value);
        }
    }
    if !e.same_at(&new, new.value, &had) {
        if mutable {
            let spec = new.child("spec");
            let at = it.child("template.spec");
            return e.invalid_as("PodSpec", &at.with(spec.value), IMMUTABLE);
        }
        e.invalid_as("PodTemplateSpec", &new, IMMUTABLE);
    }
}

/// Takes over the affinity to nodes; one of an affinity that has nothing else comes and goes with it.
fn node_affinity(spec: &mut json::Object, new: &Value) {
    let mut affinity = spec.remove("affinity").unwrap_or_default();
    if affinity.is_null() && new.is_null() {
        return;
    }
    if affinity.is_null() {
        affinity = Value::Object(json::Object::new());
    }
    if let Some(object) = affinity.as_object_mut() {
        match new.get("nodeAffinity") {
            Some(wanted) => drop(object.insert("nodeAffinity", wanted.clone())),
            None => drop(object.remove("nodeAffinity")),
        }
        if new.is_null() && object.values().all(Value::is_null) {
            return;
        }
    }
    spec.insert("affinity", affinity);
}

fn resources(spec: &mut Value, new: &Value) {
    for name in ["containers", "initContainers"] {
        let own = spec.get_mut(name).and_then(Value::as_array_mut);
        let other = new.at(&["spec", name]).and_then(Value::as_array);
        let (Some(own), Some(other)) = (own, other) else {
            continue;
        };
        if own.len() == other.len() {
            for (own, other) in own.iter_mut().zip(other) {
                if own.get("name") == other.get("name")
                    && let Some(object) = own.as_object_mut()
                {
                    object.insert(
                        "resources",
                        other.get("resources").cloned().unwrap_or_default(),
                    );
                }
            }
        }
    }
}

pub(super) fn has_condition(status: &Field, kind: &str) -> bool {
    let all = status.child("conditions");
    all.items()
        .any(|it| it.text("type") == kind && it.text("status") == "True")
}

#[cfg(test)]
mod tests {
    use json::parse;

    use super::node_affinity;

    #[test]
    fn an_affinity_to_nodes_alone_comes_and_goes() {
        for (old, new, expected) in [
            ("{}", "null", "{}"),
            (
                "{}",
                r#"{"nodeAffinity":{}}"#,
                r#"{"affinity":{"nodeAffinity":{}}}"#,
            ),
            (r#"{"affinity":{"nodeAffinity":{}}}"#, "null", "{}"),
            (
                r#"{"affinity":{"nodeAffinity":{},"podAffinity":{}}}"#,
                "null",
                r#"{"affinity":{"podAffinity":{}}}"#,
            ),
            (
                r#"{"affinity":{"nodeAffinity":{}}}"#,
                r#"{"podAffinity":{}}"#,
                r#"{"affinity":{}}"#,
            ),
        ] {
            let mut spec = parse(old.as_bytes()).unwrap();
            let new = parse(new.as_bytes()).unwrap();
            node_affinity(spec.as_object_mut().unwrap(), &new);
            assert_eq!(spec.to_string(), expected, "{old} {new}");
        }
    }
}
