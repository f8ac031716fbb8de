//! Roles and bindings in one line each.

use auth::rbac::Rule;
use auth::{Rbac, User};
use json::{Object, Value, json};

/// `verbs|groups|resources|names|urls`, each a list with commas; `''` is the empty string.
pub(crate) fn rule(text: &str) -> Rule {
    let mut parts = text.split('|').map(|part| {
        let items = part.split(',').filter(|it| !it.is_empty());
        let items = items.map(|it| if it == "''" { "" } else { it }.to_owned());
        items.collect::<Vec<_>>()
    });
    let mut next = || parts.next().unwrap_or_default();
    Rule {
        verbs: next(),
        api_groups: next(),
        resources: next(),
        resource_names: next(),
        non_resource_urls: next(),
    }
}

pub(crate) fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| rule(text)).collect()
}

pub(crate) fn role(namespace: &str, name: &str, texts: &[&str]) -> Value {
    let rules: Value = rules(texts).iter().map(Rule::to_value).collect();
    json!({"metadata": (metadata(namespace, name)), "rules": rules})
}

/// Subjects are `User:joe`, `Group:admins` or `ServiceAccount:name` or `ServiceAccount:namespace/name`.
pub(crate) fn binding(namespace: &str, name: &str, role: (&str, &str), subjects: &[&str]) -> Value {
    let subjects: Value = subjects
        .iter()
        .map(|subject| {
            let (kind, name) = subject.split_once(':').unwrap();
            if let Some((namespace, name)) = name.split_once('/') {
                json!({"kind": kind, "namespace": namespace, "name": name})
            } else {
                json!({"kind": kind, "name": name})
            }
        })
        .collect();
    json!({
        "metadata": (metadata(namespace, name)),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": (role.0), "name": (role.1)},
        "subjects": subjects,
    })
}

fn metadata(namespace: &str, name: &str) -> Object {
    let mut metadata = Object::new();
    if !namespace.is_empty() {
        metadata.insert("namespace", namespace);
    }
    metadata.insert("name", name);
    metadata
}

pub(crate) fn index(objects: &[(&str, Value)]) -> Rbac {
    let rbac = Rbac::new();
    for (kind, object) in objects {
        rbac.put(kind, object);
    }
    rbac
}

pub(crate) fn user(name: &str, groups: &str) -> User {
    let groups: Vec<_> = groups.split(',').filter(|it| !it.is_empty()).collect();
    User::new(name, &groups)
}
