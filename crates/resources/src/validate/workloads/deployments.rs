//! Deployments.

use super::{Selected, counts, does_not_match, not_decremented, selector, selects, template};
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::go_form::go_form;
use crate::validate::object_meta::{self, Named};
use crate::validate::words::int_or_percent_value;

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    spec(e, &it.child("spec"));
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (it, was) = (new.child("spec"), old.child("spec"));
    spec(e, &it);
    e.immutable(&it.child("selector"), &was.child("selector"));
}

fn spec(e: &mut Errors, it: &Field) {
    e.non_negative(&it.child("replicas"));
    selector(e, it, "empty selector is invalid for deployment");
    select_template(e, it);
    strategy(e, &it.child("strategy"));
    let ready = it.child("minReadySeconds");
    e.non_negative(&ready);
    e.non_negative(&it.child("revisionHistoryLimit"));
    let deadline = it.child("progressDeadlineSeconds");
    if deadline.is_set() {
        e.non_negative(&deadline);
        if deadline.int() <= ready.int() {
            e.invalid(&deadline, "must be greater than minReadySeconds");
        }
    }
}

pub(super) fn select_template(e: &mut Errors, spec: &Field) {
    let (of, it) = (spec.child("selector"), spec.child("template"));
    match selects(&of, &it.children(&["metadata", "labels"])) {
        Selected::Broken => return e.invalid(&of, "invalid label selector"),
        Selected::No => does_not_match(e, &it),
        Selected::Yes => {}
    }
    template(e, spec, "ReplicaSet");
}

fn strategy(e: &mut Errors, it: &Field) {
    let rolling = it.child("rollingUpdate");
    match it.text("type") {
        "Recreate" => {
            if rolling.is_set() {
                let text = "may not be specified when strategy `type` is 'Recreate'";
                e.forbidden(&rolling, text);
            }
        }
        "RollingUpdate" if !rolling.is_set() => {
            e.required(&rolling, "this should be defaulted and never be nil");
        }
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            e.int_or_percent(&unavailable);
            e.int_or_percent(&surge);
            if int_or_percent_value(&unavailable) == 0 && int_or_percent_value(&surge) == 0 {
                e.invalid(&unavailable, "may not be 0 when `maxSurge` is 0");
            }
            e.at_most_100_percent(&unavailable);
        }
        _ => {
            let shown = go_form("DeploymentStrategy", it.value);
            e.push(meta::field::Error::not_supported(
                it.path,
                shown,
                ["Recreate", "RollingUpdate"],
            ));
        }
    }
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (it, was) = (new.child("status"), old.child("status"));
    counts(
        e,
        &it,
        &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
        &["updatedReplicas", "readyReplicas", "availableReplicas"],
        "cannot be greater than readyReplicas",
    );
    not_decremented(e, &it, &was);
}
