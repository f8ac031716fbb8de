//! Daemon sets.

use super::{Selected, does_not_match, not_decremented, selects, template};
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::go_form::go_form;
use crate::validate::object_meta::{self, Named};
use crate::validate::words::int_or_percent_value;

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    spec(e, &it.child("spec"));
}

/// The generation of the template that old versions had is not kept here.
pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (it, was) = (new.child("spec"), old.child("spec"));
    e.immutable(&it.child("selector"), &was.child("selector"));
    spec(e, &it);
}

fn spec(e: &mut Errors, it: &Field) {
    let (selector, of) = (it.child("selector"), it.child("template"));
    e.label_selector(&selector);
    if selects(&selector, &of.children(&["metadata", "labels"])) == Selected::No {
        does_not_match(e, &of);
    }
    let empty =
        selector.child("matchLabels").is_empty() && selector.child("matchExpressions").is_empty();
    if selector.is_set() && empty {
        e.invalid(&selector, "empty selector is invalid for daemonset");
    }
    template(e, it, "DaemonSet");
    e.non_negative(&it.child("minReadySeconds"));
    strategy(e, &it.child("updateStrategy"));
    e.non_negative(&it.child("revisionHistoryLimit"));
}

fn strategy(e: &mut Errors, it: &Field) {
    let rolling = it.child("rollingUpdate");
    match it.text("type") {
        "OnDelete" => {}
        "RollingUpdate" if !rolling.is_set() => e.required(&rolling, ""),
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            e.int_or_percent(&unavailable);
            e.int_or_percent(&surge);
            e.at_most_100_percent(&unavailable);
            e.at_most_100_percent(&surge);
            match (
                int_or_percent_value(&unavailable) != 0,
                int_or_percent_value(&surge) != 0,
            ) {
                (true, true) => e.invalid(&surge, "may not be set when maxUnavailable is non-zero"),
                (false, false) => e.required(&unavailable, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => {
            let shown = go_form("DeploymentStrategy", it.value);
            e.push(meta::field::Error::not_supported(
                it.path,
                shown,
                ["RollingUpdate", "OnDelete"],
            ));
        }
    }
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (it, was) = (new.child("status"), old.child("status"));
    for name in [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ] {
        e.non_negative(&it.child(name));
    }
    not_decremented(e, &it, &was);
}
