//! Metadata of any object: `meta`'s rules, and one more for finalizers that only built-in kinds have.

use meta::names::{self, NameFn};
use meta::object;

use super::errors::Errors;
use super::field::Field;

/// How a kind names its objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    name: NameFn,
    namespaced: bool,
}

impl Named {
    pub(super) const SUBDOMAIN: Self = Self::namespaced(names::name_is_dns_subdomain);
    pub(super) const LABEL: Self = Self::namespaced(names::name_is_dns_label);
    pub(super) const CLUSTER_SUBDOMAIN: Self = Self::cluster(names::name_is_dns_subdomain);
    pub(super) const CLUSTER_LABEL: Self = Self::cluster(names::name_is_dns_label);

    pub(super) const fn namespaced(name: NameFn) -> Self {
        let namespaced = true;
        Self { name, namespaced }
    }

    pub(super) const fn cluster(name: NameFn) -> Self {
        let namespaced = false;
        Self { name, namespaced }
    }
}

pub(crate) fn create(e: &mut Errors, of: &Field, named: Named) {
    let it = of.child("metadata");
    e.push_all(object::validate_object_meta(
        of.value,
        named.namespaced,
        named.name,
        &it.path,
    ));
    standard_finalizers(e, of, &it);
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    let it = new.child("metadata");
    e.push_all(object::validate_object_meta_update(
        new.value, old.value, &it.path,
    ));
    standard_finalizers(e, new, &it);
}

const GENERIC: &[&str] = &[
    "APIService",
    "CustomResourceDefinition",
    "Feature",
    "FlowSchema",
    "Lease",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "PodCertificateRequest",
    "PriorityLevelConfiguration",
    "RuntimeClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
];

fn standard_finalizers(e: &mut Errors, of: &Field, metadata: &Field) {
    // These have validation of their own upstream, without that rule.
    let kind = of.value.str_at(&["kind"]).unwrap_or_default();
    if GENERIC.contains(&kind) {
        return;
    }
    for it in metadata.child("finalizers").items() {
        standard_finalizer(e, &it);
    }
}

pub(super) fn standard_finalizer(e: &mut Errors, it: &Field) {
    let standard = ["kubernetes", "orphan", "foregroundDeletion"];
    if !it.str().contains('/') && !standard.contains(&it.str()) {
        let text = "name is neither a standard finalizer name nor is it fully qualified";
        e.invalid(it, text);
    }
}
