//! Admission policies that change objects.

use cel::Type;

use super::errors::Errors;
use super::expressions::{Expressions, Place};
use super::field::Field;
use super::object_meta::{self, Named};
use super::webhooks::policies;

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    let mut expressions = Expressions::new(&it.child("spec"), true);
    rules(e, it, &mut expressions, true);
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    object_meta::create(e, new, Named::CLUSTER_SUBDOMAIN);
    let (spec, before) = (new.child("spec"), old.child("spec"));
    let mut expressions = Expressions::new(&spec, true);
    policies::remember_conditions(&mut expressions, &before);
    // As upstream: patches of both kinds are looked for among apply configurations.
    for it in before.child("mutations").list() {
        if let Some(text) = it.str_at(&["applyConfiguration", "expression"]) {
            expressions.remember(Place::Mutation, text);
        }
    }
    let changed = policies::conditions_changed(&spec, &before);
    rules(e, new, &mut expressions, changed);
}

fn rules(e: &mut Errors, it: &Field, expressions: &mut Expressions, conditions: bool) {
    let spec = it.child("spec");
    // Conditions come after what is asked of the operations.
    policies::common(e, &spec, None);
    operations(e, &spec, "matchConstraints");
    if conditions {
        expressions.match_conditions(e, &spec.child("matchConditions"));
    }
    policies::variables(e, &spec.child("variables"), expressions);
    let mutations = spec.child("mutations");
    if mutations.is_empty() {
        e.required(&mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        self::mutation(e, &mutation, expressions);
    }
    e.required_one_of(&spec.child("reinvocationPolicy"), &["IfNeeded", "Never"]);
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

fn mutation(e: &mut Errors, it: &Field, expressions: &mut Expressions) {
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
        let returns = match kind.str() {
            "JSONPatch" => Type::list(Type::structure("JSONPatch")),
            _ => Type::structure("Object"),
        };
        match expression.str().trim() {
            "" => e.required(&expression, ""),
            _ if e.is_full() => {}
            text => expressions.check(e, Place::Mutation, &expression, text, &[returns]),
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

pub(crate) mod bindings {
    //! `MutatingAdmissionPolicyBinding`

    use super::{Errors, Field, Named, object_meta, operations, policies};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
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

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        create(e, new);
    }
}
