//! A `RoleBinding` or `ClusterRoleBinding`, read once.

use json::Value;

use crate::User;
use crate::quote::quote;
use crate::user::service_account_name;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Empty for a `ClusterRoleBinding`.
    pub namespace: String,
    pub name: String,
    pub role: RoleRef,
    pub subjects: Vec<Subject>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleRef {
    pub api_group: String,
    pub kind: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

impl RoleRef {
    /// The `roleRef` of a binding.
    pub fn of(binding: &Value) -> Self {
        let text = |key| text(binding, &["roleRef", key]);
        Self {
            api_group: text("apiGroup"),
            kind: text("kind"),
            name: text("name"),
        }
    }
}

impl Binding {
    pub fn of(object: &Value) -> Self {
        let subjects = object.get("subjects").and_then(Value::as_array);
        let subjects = subjects.into_iter().flatten().map(|it| Subject {
            kind: text(it, &["kind"]),
            namespace: text(it, &["namespace"]),
            name: text(it, &["name"]),
        });
        Self {
            namespace: text(object, &["metadata", "namespace"]),
            name: text(object, &["metadata", "name"]),
            role: RoleRef::of(object),
            subjects: subjects.collect(),
        }
    }

    /// Names the binding, its role and the first subject the user is, for the reason of a decision.
    pub fn describe(&self, user: &User) -> String {
        let (kind, name) = match &*self.namespace {
            "" => ("ClusterRoleBinding", quote(&self.name)),
            namespace => ("RoleBinding", quote(&format!("{}/{namespace}", self.name))),
        };
        let (role_kind, role_name) = (&self.role.kind, quote(&self.role.name));
        let mut subjects = self.subjects.iter();
        let subject = subjects.find(|it| it.is(user, &self.namespace));
        let subject = subject.map_or_else(String::new, |it| it.describe(&self.namespace));
        format!("{kind} {name} of {role_kind} {role_name} to {subject}")
    }
}

impl Subject {
    /// The service account's namespace may be left out in a `RoleBinding`.
    fn home<'a>(&'a self, binding_namespace: &'a str) -> &'a str {
        if self.namespace.is_empty() {
            binding_namespace
        } else {
            &self.namespace
        }
    }

    /// What a user must be called to be this subject, and whether it is a group; none where nobody can be it.
    pub(super) fn key(&self, binding_namespace: &str) -> Option<(bool, String)> {
        match &*self.kind {
            "User" => Some((false, self.name.clone())),
            "Group" => Some((true, self.name.clone())),
            "ServiceAccount" => match self.home(binding_namespace) {
                "" => None,
                namespace => Some((false, service_account_name(namespace, &self.name))),
            },
            _ => None,
        }
    }

    pub(super) fn is(&self, user: &User, binding_namespace: &str) -> bool {
        match self.key(binding_namespace) {
            Some((true, group)) => user.in_group(&group),
            Some((false, name)) => user.name == name,
            None => false,
        }
    }

    fn describe(&self, binding_namespace: &str) -> String {
        let name = match &*self.kind {
            "ServiceAccount" => quote(&format!("{}/{}", self.name, self.home(binding_namespace))),
            _ => quote(&self.name),
        };
        format!("{} {name}", self.kind)
    }
}

fn text(value: &Value, path: &[&str]) -> String {
    value.str_at(path).unwrap_or_default().to_owned()
}
