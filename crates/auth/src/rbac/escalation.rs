//! Escalation checks: a user cannot grant permissions that the user does not have, by a role or a binding.
//!
//! The write path asks in this order: [`escalation_allowed`], then the authorizer about [`escalate_attributes`] (roles)
//! or [`bind_attributes`] (bindings), then [`refuse_role_escalation`] or [`refuse_escalation`].

use json::Value;

use super::{GROUP, Rbac, RoleRef, Rule, covers};
use crate::quote::{quote, quote_all};
use crate::{Attributes, User, user};

/// Members of `system:masters` are not asked.
pub fn escalation_allowed(user: &User) -> bool {
    user.in_group(user::MASTERS)
}

/// The question whether the user may write any rules into the role; the resource is `roles` or `clusterroles`.
pub fn escalate_attributes<'a>(
    user: &'a User,
    resource: &'a str,
    namespace: &'a str,
    name: &'a str,
) -> Attributes<'a> {
    Attributes::resource(user, "escalate", GROUP, resource)
        .version("*")
        .namespace(namespace)
        .name(name)
}

/// The question whether the user may bind the role there; none if the reference is not to a role.
pub fn bind_attributes<'a>(
    user: &'a User,
    role: &'a RoleRef,
    namespace: &'a str,
) -> Option<Attributes<'a>> {
    let resource = match &*role.kind {
        "ClusterRole" => "clusterroles",
        "Role" => "roles",
        _ => return None,
    };
    let attributes = Attributes::resource(user, "bind", &role.api_group, resource);
    Some(
        attributes
            .version("*")
            .namespace(namespace)
            .name(&role.name),
    )
}

/// Why the user may not grant the rules there, or none if they hold them all.
pub fn refuse_escalation(
    rbac: &Rbac,
    user: &User,
    namespace: &str,
    requested: &[Rule],
) -> Option<String> {
    let (owned, errors) = rbac.rules_for(user, namespace);
    let missing = covers::missing(&owned, requested);
    if missing.is_empty() {
        return None;
    }
    let missing = covers::compact(missing);
    let mut missing: Vec<_> = missing.iter().map(Rule::compact).collect();
    missing.sort();
    missing.dedup();
    let mut text = format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        quote(&user.name),
        quote_all(&user.groups),
        missing.join("\n")
    );
    if !errors.is_empty() {
        let errors = crate::quote::aggregate(&errors);
        text = format!("{text}; resolution errors: [{errors}]");
    }
    Some(text)
}

/// The same for writing a Role or `ClusterRole`, where an aggregationRule, new or old, takes full authority.
pub fn refuse_role_escalation(
    rbac: &Rbac,
    user: &User,
    namespace: &str,
    new: &Value,
    old: Option<&Value>,
) -> Option<String> {
    if let Some(refusal) = refuse_escalation(rbac, user, namespace, &Rule::all_of(new)) {
        return Some(refusal);
    }
    let aggregates = |role: &Value| {
        let selectors = role.at(&["aggregationRule", "clusterRoleSelectors"]);
        selectors
            .and_then(Value::as_array)
            .is_some_and(|it| !it.is_empty())
    };
    if !aggregates(new) && !old.is_some_and(aggregates) {
        return None;
    }
    let all = || vec!["*".to_owned()];
    let full = [
        Rule {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            ..Rule::default()
        },
        Rule {
            verbs: all(),
            non_resource_urls: all(),
            ..Rule::default()
        },
    ];
    refuse_escalation(rbac, user, namespace, &full)
        .map(|_| "must have cluster-admin privileges to use the aggregationRule".to_owned())
}
