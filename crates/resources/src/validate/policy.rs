//! Disruption budgets.

use super::errors::Errors;
use super::field::Field;

pub(crate) fn create(e: &mut Errors, it: &Field) {
    let spec = it.child("spec");
    let (min, max) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if min.is_set() && max.is_set() {
        let text = "minAvailable and maxUnavailable cannot be both set";
        e.invalid_as("PodDisruptionBudgetSpec", &spec, text);
    }
    for bound in [min, max] {
        if bound.is_set() {
            e.int_or_percent(&bound);
            e.at_most_100_percent(&bound);
        }
    }
    e.label_selector(&spec.child("selector"));
    let policy = spec.child("unhealthyPodEvictionPolicy");
    e.optional_one_of(&policy, &["AlwaysAllow", "IfHealthyBudget"]);
}

pub(crate) fn update(e: &mut Errors, new: &Field, _: &Field) {
    create(e, new);
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, _: &Field) {
    let status = new.child("status");
    let conditions = status.child("conditions");
    let wrong = meta::object::validate_conditions(conditions.list(), &conditions.path);
    e.push_all(wrong);
    for name in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        e.non_negative(&status.child(name));
    }
}
