//! Roles by name, bindings by subject.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use json::Value;

use super::binding::{Binding, RoleRef};
use super::rule::Rule;
use crate::User;
use crate::quote::quote;

/// By namespace; cluster-wide objects live in the empty one.
#[derive(Debug, Default)]
pub(super) struct Index {
    scopes: HashMap<String, Scope>,
}

#[derive(Debug, Default)]
struct Scope {
    roles: HashMap<String, Vec<Rule>>,
    bindings: HashMap<String, Arc<Binding>>,
    users: Subjects,
    groups: Subjects,
}

type Subjects = HashMap<String, Vec<Arc<Binding>>>;

impl Index {
    pub(super) fn put(&mut self, kind: &str, object: &Value) {
        let text = |key| object.str_at(&["metadata", key]).unwrap_or_default();
        let name = text("name");
        let namespace = match kind {
            "Role" | "RoleBinding" => text("namespace"),
            "ClusterRole" | "ClusterRoleBinding" => "",
            _ => return,
        };
        // A namespaced object without a namespace must not be taken for a cluster-wide one.
        if namespace.is_empty() && !kind.starts_with("Cluster") {
            return;
        }
        self.remove(kind, namespace, name);
        let scope = self.scopes.entry(namespace.to_owned()).or_default();
        if kind.ends_with("Binding") {
            let mut binding = Binding::of(object);
            namespace.clone_into(&mut binding.namespace);
            scope.bind(Arc::new(binding));
        } else {
            scope.roles.insert(name.to_owned(), Rule::all_of(object));
        }
    }

    pub(super) fn remove(&mut self, kind: &str, namespace: &str, name: &str) {
        let namespace = if kind.starts_with("Cluster") {
            ""
        } else {
            namespace
        };
        let Some(scope) = self.scopes.get_mut(namespace) else {
            return;
        };
        match kind {
            "Role" | "ClusterRole" => {
                scope.roles.remove(name);
            }
            "RoleBinding" | "ClusterRoleBinding" => scope.unbind(name),
            _ => {}
        }
        if scope.roles.is_empty() && scope.bindings.is_empty() {
            self.scopes.remove(namespace);
        }
    }

    pub(super) fn retain(&mut self, kind: &str, keep: impl Fn(&str, &str) -> bool) {
        let cluster = kind.starts_with("Cluster");
        let mut gone = Vec::new();
        for (namespace, scope) in &self.scopes {
            if namespace.is_empty() != cluster {
                continue;
            }
            let names: Vec<&String> = if kind.ends_with("Binding") {
                scope.bindings.keys().collect()
            } else {
                scope.roles.keys().collect()
            };
            let names = names.into_iter().filter(|name| !keep(namespace, name));
            gone.extend(names.map(|name| (namespace.clone(), name.clone())));
        }
        for (namespace, name) in gone {
            self.remove(kind, &namespace, &name);
        }
    }

    /// Bindings that concern the user there: cluster-wide ones first; one may come twice.
    pub(super) fn candidates(
        &self,
        user: &User,
        namespace: &str,
    ) -> impl Iterator<Item = &Arc<Binding>> {
        let local = (!namespace.is_empty()).then(|| self.scopes.get(namespace));
        let scopes = [self.scopes.get(""), local.flatten()];
        scopes.into_iter().flatten().flat_map(|scope| {
            let groups = user.groups.iter();
            let groups = groups.filter_map(|group| scope.groups.get(group));
            let own = scope.users.get(&user.name).into_iter();
            own.chain(groups).flatten()
        })
    }

    /// The same, each once, in the order of their names.
    pub(super) fn bindings_of(
        &self,
        user: &User,
        namespace: &str,
    ) -> impl Iterator<Item = &Arc<Binding>> {
        let found = self.candidates(user, namespace);
        let sorted: BTreeMap<_, _> = found.map(|it| ((&it.namespace, &it.name), it)).collect();
        sorted.into_values()
    }

    pub(super) fn rules_if_any(&self, role: &RoleRef, namespace: &str) -> Option<&[Rule]> {
        let scope = match &*role.kind {
            "ClusterRole" => self.scopes.get(""),
            "Role" if !namespace.is_empty() => self.scopes.get(namespace),
            _ => None,
        };
        scope?.roles.get(&role.name).map(Vec::as_slice)
    }

    pub(super) fn rules(&self, role: &RoleRef, namespace: &str) -> Result<&[Rule], String> {
        self.rules_if_any(role, namespace).ok_or_else(|| {
            let name = quote(&role.name);
            match &*role.kind {
                "ClusterRole" => format!("clusterrole.{} {name} not found", super::GROUP),
                "Role" => format!("role.{} {name} not found", super::GROUP),
                other => format!("unsupported role reference kind: {}", quote(other)),
            }
        })
    }
}

impl Scope {
    fn bind(&mut self, binding: Arc<Binding>) {
        for subject in &binding.subjects {
            let Some((is_group, key)) = subject.key(&binding.namespace) else {
                continue;
            };
            let subjects = if is_group {
                &mut self.groups
            } else {
                &mut self.users
            };
            let bindings = subjects.entry(key).or_default();
            // A subject that is named twice in one binding is there once: it was pushed just now.
            if !bindings
                .last()
                .is_some_and(|last| Arc::ptr_eq(last, &binding))
            {
                bindings.push(binding.clone());
            }
        }
        self.bindings.insert(binding.name.clone(), binding);
    }

    fn unbind(&mut self, name: &str) {
        let Some(binding) = self.bindings.remove(name) else {
            return;
        };
        for subject in &binding.subjects {
            let Some((is_group, key)) = subject.key(&binding.namespace) else {
                continue;
            };
            let subjects = if is_group {
                &mut self.groups
            } else {
                &mut self.users
            };
            if let Some(bindings) = subjects.get_mut(&key) {
                bindings.retain(|it| !Arc::ptr_eq(it, &binding));
                if bindings.is_empty() {
                    subjects.remove(&key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn a_namespace_without_rights_takes_no_memory() {
        let mut index = Index::default();
        let object = |name: &str| json!({"metadata": {"name": name, "namespace": "n"}});
        index.put("Role", &object("a"));
        index.put("RoleBinding", &object("b"));
        index.remove("Role", "n", "a");
        assert_eq!(index.scopes.len(), 1, "the binding is still there");
        index.remove("RoleBinding", "n", "b");
        assert!(index.scopes.is_empty());
    }
}
