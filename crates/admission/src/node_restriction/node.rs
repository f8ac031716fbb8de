//! The kubelet's own node: it must not draw to itself what is not meant for it.

use std::collections::BTreeSet;

use json::Value;
use meta::Status;
use meta::go::quote;

use super::Kubelet;
use crate::Operation;
use crate::read::{has, pairs};

/// Labels of Kubernetes' own that a kubelet may set.
const OWN_LABELS: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];
const OWN_NAMESPACES: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

pub(super) fn check(kubelet: Kubelet<'_>) -> Result<(), Status> {
    let (node, new) = (quote(kubelet.node), kubelet.object);
    let name = match kubelet.request.name {
        "" => meta::object::name(new),
        name => name,
    };
    if name != kubelet.node {
        let name = quote(name);
        return kubelet.refuse(format!("node {node} is not allowed to modify node {name}"));
    }
    match (kubelet.request.operation, kubelet.request.old) {
        (Operation::Create, _) => {
            if has(new, &["spec", "configSource"]) {
                return kubelet.refuse(format!(
                    "node {node} is not allowed to create pods with a non-nil configSource"
                ));
            }
            let labels = forbidden(new, &Value::Null);
            if labels.is_empty() {
                return Ok(());
            }
            kubelet.refuse(format!(
                "node {node} is not allowed to set the following labels: {labels}"
            ))
        }
        (Operation::Update, Some(old)) => update(kubelet, &node, new, old),
        _ => Ok(()),
    }
}

fn update(kubelet: Kubelet<'_>, node: &str, new: &Value, old: &Value) -> Result<(), Status> {
    let differs = |path: &[&str]| full(new, path) != full(old, path);
    let source = ["spec", "configSource"];
    if has(new, &source) && differs(&source) {
        return kubelet.refuse(format!(
            "node {node} is not allowed to update configSource to a new non-nil configSource"
        ));
    }
    if differs(&["spec", "taints"]) {
        return kubelet.refuse(format!("node {node} is not allowed to modify taints"));
    }
    if differs(&["metadata", "ownerReferences"]) {
        return kubelet.refuse(format!(
            "node {node} is not allowed to modify ownerReferences"
        ));
    }
    let labels = forbidden(new, old);
    if labels.is_empty() {
        return Ok(());
    }
    kubelet.refuse(format!("is not allowed to modify labels: {labels}"))
}

/// What is there and says something: an empty list is none.
fn full<'a>(object: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let found = object.at(path)?;
    let empty = found.is_null() || found.as_array().is_some_and(Vec::is_empty);
    (!empty).then_some(found)
}

/// The labels that differ and are not a kubelet's to change.
fn forbidden(new: &Value, old: &Value) -> String {
    let path = ["metadata", "labels"];
    let differing = |a: &'_ Value, b: &'_ Value| {
        let other = b.at(&path);
        let all =
            pairs(a, &path).filter(|(key, value)| other.and_then(|it| it.get(key)) != Some(*value));
        let all = all.filter(|(key, _)| !may_set(key));
        all.map(|(key, _)| key.to_owned()).collect::<BTreeSet<_>>()
    };
    let all: BTreeSet<String> = &differing(new, old) | &differing(old, new);
    Vec::from_iter(all).join(", ")
}

fn may_set(label: &str) -> bool {
    let namespace = label.split_once('/').map_or("", |(namespace, _)| namespace);
    let within = |domain: &str| {
        let rest = namespace.strip_suffix(domain);
        rest.is_some_and(|it| it.is_empty() || it.ends_with('.'))
    };
    if within("node-restriction.kubernetes.io") {
        return false;
    }
    if !within("kubernetes.io") && !within("k8s.io") {
        return true;
    }
    OWN_LABELS.contains(&label) || OWN_NAMESPACES.into_iter().any(within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    #[test]
    fn labels_that_steer_pods() {
        let cases = [
            ("mine", true),
            ("example.com/x", true),
            ("kubernetes.io/hostname", true),
            ("node.kubernetes.io/x", true),
            ("a.kubelet.kubernetes.io/x", true),
            ("xnode.kubernetes.io/x", false),
            ("node-restriction.kubernetes.io/x", false),
            ("a.node-restriction.kubernetes.io/x", false),
            ("node-role.kubernetes.io/control-plane", false),
            ("foo.k8s.io/x", false),
            ("notk8s.io/x", true),
        ];
        for (label, allowed) in cases {
            assert_eq!(may_set(label), allowed, "{label}");
        }
        let labels = |labels: Value| json!({"metadata": {"labels": labels}});
        let old = labels(json!({"k8s.io/a": "1", "k8s.io/b": "1", "k8s.io/c": "1"}));
        let new = labels(json!({"k8s.io/a": "1", "k8s.io/b": "2", "k8s.io/d": "1", "x": "y"}));
        assert_eq!(forbidden(&new, &old), "k8s.io/b, k8s.io/c, k8s.io/d");
        assert_eq!(forbidden(&new, &new), "");
    }
}
