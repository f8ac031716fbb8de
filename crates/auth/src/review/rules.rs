//! `SelfSubjectRulesReview`: what `kubectl auth can-i --list` shows.

use json::{Object, Value};

use crate::quote::aggregate;
use crate::{Rbac, User};

/// The `status`, or the text of a `BadRequest`. With the Node mode on, that of a node is not complete.
pub fn rules_status(
    rbac: &Rbac,
    user: &User,
    review: &Value,
    node_mode: bool,
) -> Result<Value, &'static str> {
    let namespace = review.str_at(&["spec", "namespace"]).unwrap_or_default();
    if namespace.is_empty() {
        return Err("no namespace on request");
    }
    let (rules, mut errors) = rbac.rules_for(user, namespace);
    let node = node_mode && user.node().is_some();
    if node {
        errors.push("node authorizer does not support user rule resolution".to_owned());
    }
    let (mut resources, mut paths) = (Vec::new(), Vec::new());
    for rule in &rules {
        let value = |keys: &[(&str, &Vec<String>)]| {
            let mut object = Object::new();
            object.insert("verbs", rule.verbs.iter().collect::<Value>());
            for (key, list) in keys.iter().filter(|(_, list)| !list.is_empty()) {
                object.insert(*key, list.iter().collect::<Value>());
            }
            Value::from(object)
        };
        if !rule.resources.is_empty() {
            resources.push(value(&[
                ("apiGroups", &rule.api_groups),
                ("resources", &rule.resources),
                ("resourceNames", &rule.resource_names),
            ]));
        }
        if !rule.non_resource_urls.is_empty() {
            paths.push(value(&[("nonResourceURLs", &rule.non_resource_urls)]));
        }
    }
    let mut status = Object::new();
    status.insert("resourceRules", resources);
    status.insert("nonResourceRules", paths);
    status.insert("incomplete", node);
    if !errors.is_empty() {
        status.insert("evaluationError", aggregate(&errors));
    }
    Ok(status.into())
}
