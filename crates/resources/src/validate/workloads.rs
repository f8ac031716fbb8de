//! Kinds that keep pods running: of `apps`, and replication controllers.

pub(crate) mod daemon_sets;
pub(crate) mod deployments;
pub(crate) mod replica_sets;
pub(crate) mod revisions;
pub(crate) mod stateful_sets;

use super::errors::Errors;
use super::field::Field;
use super::pod;

/// How a rule sees a label selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selected {
    Yes,
    No,
    /// It is no selector.
    Broken,
}

/// What is not there selects nothing, what is empty selects everything.
pub(super) fn selects(selector: &Field, labels: &Field) -> Selected {
    if !selector.is_set() {
        return Selected::No;
    }
    let mut wrong = Errors::default();
    wrong.label_selector(selector);
    if !wrong.is_empty() {
        return Selected::Broken;
    }
    let pairs = selector.child("matchLabels");
    let equal = pairs
        .pairs()
        .all(|(key, value)| labels.value.get(key) == Some(value));
    let expressions = selector.child("matchExpressions");
    let fulfilled = expressions.items().all(|it| {
        let own = labels.value.get(it.text("key"));
        let listed = own.is_some_and(|own| it.child("values").list().contains(own));
        match it.text("operator") {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => own.is_some(),
            _ => own.is_none(),
        }
    });
    if equal && fulfilled {
        Selected::Yes
    } else {
        Selected::No
    }
}

pub(super) fn does_not_match(e: &mut Errors, template: &Field) {
    let labels = template.children(&["metadata", "labels"]);
    let mut shown = labels.value.clone();
    if let Some(object) = shown.as_object_mut() {
        object.sort_keys();
    }
    e.invalid_value(
        &labels,
        shown,
        "`selector` does not match template `labels`",
    );
}

/// The part that a selector and a template have in common.
pub(super) fn selector(e: &mut Errors, spec: &Field, empty: &str) {
    let it = spec.child("selector");
    if !it.is_set() {
        return e.required(&it, "");
    }
    e.label_selector(&it);
    if it.child("matchLabels").is_empty() && it.child("matchExpressions").is_empty() {
        e.invalid(&it, empty);
    }
}

/// Such pods run forever.
fn runs_always(e: &mut Errors, spec: &Field, kind: &str) {
    let policy = spec.child("restartPolicy");
    e.one_of(&policy, &["Always"]);
    let deadline = spec.child("activeDeadlineSeconds");
    if deadline.is_set() {
        let why = format!("activeDeadlineSeconds in {kind} is not Supported");
        e.forbidden(&deadline, &why);
    }
}

fn template(e: &mut Errors, spec: &Field, kind: &str) {
    let it = spec.child("template");
    pod::template(e, &it);
    runs_always(e, &it.child("spec"), kind);
}

/// Counts are not negative, and parts are not more than the whole.
fn counts(e: &mut Errors, status: &Field, names: &[&str], parts: &[&str], ready: &str) {
    for name in names {
        e.non_negative(&status.child(name));
    }
    let all = status.number("replicas");
    for name in parts {
        let part = status.child(name);
        if part.int() > all {
            e.invalid_value(&part, part.int(), "cannot be greater than status.replicas");
        }
    }
    let available = status.child("availableReplicas");
    if available.int() > status.number("readyReplicas") {
        e.invalid(&available, ready);
    }
}

fn not_decremented(e: &mut Errors, status: &Field, was: &Field) {
    let (count, was) = (status.child("collisionCount"), was.child("collisionCount"));
    if was.is_set() && (!count.is_set() || count.int() < was.int()) {
        e.invalid_value(&count, count.int(), "cannot be decremented");
    }
}
