//! The RBAC authorizer: Roles, `ClusterRoles` and their bindings. Hot path.
//!
//! Bindings are indexed by subject, so that a decision costs what concerns the user, not how many bindings there are.

mod aggregate;
mod binding;
mod covers;
mod escalation;
mod index;
mod rule;
mod selector;

use std::sync::{PoisonError, RwLock};

use json::Value;

use crate::authorizer::{Answer, Authorizer, Decision};
use crate::quote::aggregate as join_errors;
use crate::{Attributes, User};
use index::Index;

pub use aggregate::aggregated_rules;
pub use binding::{Binding, RoleRef, Subject};
pub use covers::missing;
pub use escalation::{
    bind_attributes, escalate_attributes, escalation_allowed, refuse_escalation,
    refuse_role_escalation,
};
pub use rule::Rule;
pub(crate) use rule::strings;

pub const GROUP: &str = "rbac.authorization.k8s.io";

/// The four kinds, kept up to date by an informer of the caller.
#[derive(Debug, Default)]
pub struct Rbac(RwLock<Index>);

impl Rbac {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a new or changed object; other kinds are left alone.
    pub fn put(&self, kind: &str, object: &Value) {
        let mut index = self.0.write().unwrap_or_else(PoisonError::into_inner);
        index.put(kind, object);
    }

    pub fn remove(&self, kind: &str, namespace: &str, name: &str) {
        let mut index = self.0.write().unwrap_or_else(PoisonError::into_inner);
        index.remove(kind, namespace, name);
    }

    /// Forgets the objects of a kind that are not to be kept, by namespace and name.
    pub fn retain(&self, kind: &str, keep: impl Fn(&str, &str) -> bool) {
        let mut index = self.0.write().unwrap_or_else(PoisonError::into_inner);
        index.retain(kind, keep);
    }

    /// All rules that hold for the user there, in the order of the bindings' names, and what could not be resolved.
    /// Without a namespace, only what holds everywhere.
    pub fn rules_for(&self, user: &User, namespace: &str) -> (Vec<Rule>, Vec<String>) {
        let (mut rules, mut errors) = (Vec::new(), Vec::new());
        let index = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for binding in index.bindings_of(user, namespace) {
            match index.rules(&binding.role, &binding.namespace) {
                Ok(found) => rules.extend_from_slice(found),
                Err(error) => errors.push(error),
            }
        }
        (rules, errors)
    }

    /// The rules a binding in the namespace would give; empty for a `ClusterRoleBinding`.
    pub fn rules_of(&self, role: &RoleRef, namespace: &str) -> Result<Vec<Rule>, String> {
        let index = self.0.read().unwrap_or_else(PoisonError::into_inner);
        index.rules(role, namespace).map(<[Rule]>::to_vec)
    }

    pub fn decide(&self, attributes: &Attributes) -> Decision {
        let index = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut unresolved = false;
        for binding in index.candidates(attributes.user, attributes.namespace) {
            let Some(rules) = index.rules_if_any(&binding.role, &binding.namespace) else {
                unresolved = true;
                continue;
            };
            if rules.iter().any(|rule| rule.allows(attributes)) {
                let binding = binding.describe(attributes.user);
                return Decision::allow(format!("RBAC: allowed by {binding}"));
            }
        }
        if !unresolved {
            return Decision::no_opinion("");
        }
        let bindings = index.bindings_of(attributes.user, attributes.namespace);
        let errors = bindings.filter_map(|it| index.rules(&it.role, &it.namespace).err());
        let errors: Vec<_> = errors.collect();
        Decision::no_opinion(format!("RBAC: {}", join_errors(&errors)))
    }
}

impl Authorizer for Rbac {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> Answer<'a> {
        self.decide(&attributes).into()
    }
}
