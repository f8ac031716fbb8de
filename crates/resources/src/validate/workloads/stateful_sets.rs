//! Stateful sets.

use std::collections::HashSet;

use json::{Value, json};

use super::{Selected, counts, does_not_match, not_decremented, runs_always, selector, selects};
use crate::validate::claims;
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::object_meta::{self, Named};
use crate::validate::pod;
use crate::validate::words::int_or_percent_value;

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::LABEL);
    spec(e, &it.child("spec"), false);
}

/// A template that was never valid does not hinder other changes.
pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (it, was) = (new.child("spec"), old.child("spec"));
    let mut options = e.options;
    options.stateful_set_recreate |= was.child("updateStrategy").text("type") == "Recreate";
    let mut found = Errors::with(options);
    spec(&mut found, &it, false);
    if !found.is_empty() {
        let mut before = Errors::with(options);
        spec(&mut before, &was, false);
        if !before.is_empty() {
            found = Errors::with(options);
            spec(&mut found, &it, true);
        }
    }
    e.append(found);
    for name in [
        "selector",
        "volumeClaimTemplates",
        "serviceName",
        "podManagementPolicy",
    ] {
        e.immutable(&it.child(name), &was.child(name));
    }
}

fn spec(e: &mut Errors, it: &Field, skip_template: bool) {
    let policy = it.child("podManagementPolicy");
    if e.required_text(&policy) && !matches!(policy.str(), "OrderedReady" | "Parallel") {
        e.invalid(&policy, "must be 'OrderedReady' or 'Parallel'");
    }
    strategy(e, &it.child("updateStrategy"));
    let retention = it.child("persistentVolumeClaimRetentionPolicy");
    if retention.is_set() {
        for name in ["whenDeleted", "whenScaled"] {
            e.one_of(&retention.child(name), &["Retain", "Delete"]);
        }
    }
    for template in it.child("volumeClaimTemplates").items() {
        claims::spec(e, &template.child("spec"));
    }
    e.non_negative(&it.child("replicas"));
    e.non_negative(&it.child("minReadySeconds"));
    let start = it.children(&["ordinals", "start"]);
    e.non_negative(&start);
    let service = it.child("serviceName");
    if !service.is_empty() {
        e.dns_label(&service);
    }
    selector(e, it, "empty selector is invalid for statefulset");
    let (of, template) = (it.child("selector"), it.child("template"));
    match selects(&of, &template.children(&["metadata", "labels"])) {
        Selected::Broken => e.invalid(&of, ""),
        selected => {
            if selected == Selected::No {
                does_not_match(e, &template);
            }
            if !skip_template {
                match as_it_will_be(it) {
                    Some(value) => pod::template(e, &template.with(&value)),
                    None => pod::template(e, &template),
                }
            }
            pod::template_metadata(e, &template);
        }
    }
    runs_always(e, &it.children(&["template", "spec"]), "StatefulSet");
}

/// The controller names hosts itself, and brings a volume for each template of a claim.
fn as_it_will_be(spec: &Field) -> Option<Value> {
    let pod = spec.children(&["template", "spec"]);
    let claims = spec.child("volumeClaimTemplates");
    if claims.is_empty() && pod.text("subdomain").is_empty() && pod.text("hostname").is_empty() {
        return None;
    }
    let mut template = spec.child("template").value.clone();
    let of = template.get_mut("spec")?.as_object_mut()?;
    of.remove("subdomain");
    of.remove("hostname");
    if !claims.is_empty() {
        let name = |it: &Value| {
            it.str_at(&["metadata", "name"])
                .unwrap_or_default()
                .to_owned()
        };
        let names: Vec<String> = claims.list().iter().map(name).collect();
        let taken: HashSet<&str> = names.iter().map(String::as_str).collect();
        let claim =
            |name: &String| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
        let mut volumes: Vec<Value> = names.iter().map(claim).collect();
        let own = pod.child("volumes");
        let others = own
            .list()
            .iter()
            .filter(|it| it.str_at(&["name"]).is_none_or(|own| !taken.contains(own)));
        volumes.extend(others.cloned());
        of.insert("volumes", volumes);
    }
    Some(template)
}

fn strategy(e: &mut Errors, it: &Field) {
    let rolling = it.child("rollingUpdate");
    let recreate = e.options.stateful_set_recreate;
    match it.text("type") {
        "" => e.required(it, ""),
        strategy if strategy == "OnDelete" || (strategy == "Recreate" && recreate) => {
            if rolling.is_set() {
                e.invalid(&rolling, "only allowed for updateStrategy 'RollingUpdate'");
            }
        }
        "RollingUpdate" => {
            e.non_negative(&rolling.child("partition"));
            let unavailable = rolling.child("maxUnavailable");
            if unavailable.is_set() {
                e.int_or_percent(&unavailable);
                if int_or_percent_value(&unavailable) == 0 {
                    e.invalid(&unavailable, "cannot be 0");
                }
                e.at_most_100_percent(&unavailable);
            }
        }
        _ => {
            let text = if recreate {
                "must be 'RollingUpdate', 'OnDelete', or 'Recreate'"
            } else {
                "must be 'RollingUpdate' or 'OnDelete'"
            };
            e.invalid_as("StatefulSetUpdateStrategy", it, text);
        }
    }
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    let (it, was) = (new.child("status"), old.child("status"));
    counts(
        e,
        &it,
        &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        &[
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
        ],
        "cannot be greater than status.readyReplicas",
    );
    object_meta::update(e, new, old);
    not_decremented(e, &it, &was);
}
