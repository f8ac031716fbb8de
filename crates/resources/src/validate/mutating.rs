//! Admission policies that change objects: their shape, without their expressions.

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};
use super::webhooks::policies;

pub(super) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    let spec = it.child("spec");
    policies::common(e, &spec);
    operations(e, &spec, "matchConstraints");
    policies::variables(e, &spec.child("variables"));
    let mutations = spec.child("mutations");
    if mutations.is_empty() {
        e.required(&mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        self::mutation(e, &mutation);
    }
    e.required_one_of(&spec.child("reinvocationPolicy"), &["IfNeeded", "Never"]);
}

pub(super) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    create(e, new);
}

/// What is deleted cannot be changed.
fn operations(e: &mut Errors, spec: &Field, name: &str) {
    let at = [name, "resourceRules", "operations"];
    let rules = spec.children(&at[..2]);
    for rule in rules.items() {
        for operation in rule.child("operations").list() {
            let at = spec.children(&at);
            e.one_of(&at.with(operation), &["*", "CONNECT", "CREATE", "UPDATE"]);
        }
    }
}

const PATCHES: [(&str, &str); 2] = [
    ("JSONPatch", "jsonPatch"),
    ("ApplyConfiguration", "applyConfiguration"),
];

fn mutation(e: &mut Errors, it: &Field) {
    let kind = it.child("patchType");
    if !e.required_text(&kind) {
        return;
    }
    let Some((_, own)) = PATCHES.iter().find(|(name, _)| *name == kind.str()) else {
        return e.not_supported(&kind, &["ApplyConfiguration", "JSONPatch"]);
    };
    let patch = it.child(own);
    if patch.is_set() {
        let expression = patch.child("expression");
        if expression.str().trim().is_empty() {
            e.required(&expression, "expression is not specified");
        }
    } else {
        let why = format!("must be specified when patchType is {}", kind.str());
        e.required(&patch, &why);
    }
    for (_, other) in PATCHES
        .iter()
        .filter(|(_, other)| other != own && it.has(other))
    {
        let why = format!("must not be specified when patchType is {}", kind.str());
        e.invalid_value(&it.child(other), format!("{{{other}}}"), &why);
    }
}

pub(super) mod bindings {
    //! `MutatingAdmissionPolicyBinding`

    use super::{Errors, Field, Named, object_meta, operations, policies};

    pub(in crate::validate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let spec = it.child("spec");
        let policy = spec.child("policyName");
        if e.required_text(&policy) {
            e.dns_subdomain(&policy);
        }
        policies::param_ref(e, &spec.child("paramRef"));
        let resources = spec.child("matchResources");
        if resources.is_set() {
            policies::match_resources(e, &resources);
            operations(e, &spec, "matchResources");
        }
    }

    pub(in crate::validate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        create(e, new);
    }
}
