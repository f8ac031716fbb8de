//! Replica sets, and the replication controllers they come from.

use super::deployments::select_template;
use super::{counts, selector};
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::object_meta::{self, Named};

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
    e.non_negative(&it.child("minReadySeconds"));
    selector(e, it, "empty selector is invalid for deployment");
    select_template(e, it);
}

const COUNTS: &[&str] = &[
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
];
const PARTS: &[&str] = &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let ready = "cannot be greater than readyReplicas";
    counts(e, &new.child("status"), COUNTS, PARTS, ready);
}

pub(crate) mod controllers {
    //! Replication controllers have plain pairs as selectors.

    use super::super::{does_not_match, template};
    use super::{Errors, Field, Named, object_meta};

    pub(crate) use super::update_status;

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::namespaced(|_, _| Vec::new()));
        let metadata = it.child("metadata");
        let name = metadata.child("name");
        if !name.is_empty() {
            e.late(|e| e.dns_subdomain(&name));
        }
        spec(e, &it.child("spec"));
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        spec(e, &new.child("spec"));
    }

    fn spec(e: &mut Errors, it: &Field) {
        let (selector, replicas) = (it.child("selector"), it.child("replicas"));
        if selector.is_empty() {
            e.required(&selector, "");
        }
        e.late(|e| {
            if replicas.is_set() {
                e.non_negative(&replicas);
            } else {
                e.required(&replicas, "");
            }
            e.non_negative(&it.child("minReadySeconds"));
        });
        let of = it.child("template");
        if !of.is_set() {
            return e.required(&of, "");
        }
        let labels = of.children(&["metadata", "labels"]);
        if selector
            .pairs()
            .any(|(key, value)| labels.value.get(key) != Some(value))
        {
            does_not_match(e, &of);
        }
        template(e, it, "ReplicationController");
    }
}
