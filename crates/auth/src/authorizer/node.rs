//! The Node mode: what a kubelet may do, narrowed to what concerns its own node.
//!
//! Which objects concern a node is asked of an [`ObjectGraph`]. The verbs, the names and the reasons are upstream's;
//! access that needs a feature that is off in 1.37 is refused.

use std::sync::Arc;

use meta::selector::FieldSelector;

use super::{Answer, Authorizer, Decision, ObjectGraph};
use crate::Attributes;
use crate::quote::quote;
use crate::rbac::Rule;

/// The mode for `system:nodes`; all others it has no opinion on.
pub struct Node {
    graph: Arc<ObjectGraph>,
    /// What does not depend on the node.
    rules: Vec<Rule>,
}

impl Node {
    /// The rules are those of the bootstrap `ClusterRole` `system:node`.
    pub fn new(graph: Arc<ObjectGraph>, rules: Vec<Rule>) -> Self {
        Self { graph, rules }
    }

    fn decide(&self, attributes: &Attributes) -> Result<(), String> {
        let Some(node) = attributes.user.node() else {
            return Err(String::new());
        };
        if node.is_empty() {
            let name = quote(&attributes.user.name);
            return Err(format!("unknown node for user {name}"));
        }
        let (verb, sub) = (attributes.verb, attributes.subresource);
        let kind = (attributes.api_group, attributes.resource);
        if !attributes.is_resource_request {
            return self.by_rules(attributes);
        }
        match kind {
            ("", "secrets" | "configmaps") => self.read_namespaced(node, attributes),
            ("", "persistentvolumeclaims") if sub == "status" => match verb {
                "update" | "patch" => self.related(node, attributes),
                _ => refuse("can only get/update/patch this type"),
            },
            ("", "persistentvolumeclaims" | "persistentvolumes")
            | ("resource.k8s.io", "resourceclaims")
            | ("storage.k8s.io", "volumeattachments") => self.get(node, attributes),
            ("", "serviceaccounts") => self.service_account(node, attributes),
            ("coordination.k8s.io", "leases") => lease(node, attributes),
            ("storage.k8s.io", "csinodes") => csi_node(node, attributes),
            ("resource.k8s.io", "resourceslices") => self.resource_slice(node, attributes),
            ("", "nodes") => own_node(node, attributes),
            ("", "pods") => self.pod(node, attributes),
            ("certificates.k8s.io", "podcertificaterequests") => {
                self.pod_certificate_request(node, attributes)
            }
            _ => self.by_rules(attributes),
        }
    }

    fn by_rules(&self, attributes: &Attributes) -> Result<(), String> {
        allow_if(self.rules.iter().any(|rule| rule.allows(attributes)), "")
    }

    fn related(&self, node: &str, it: &Attributes) -> Result<(), String> {
        if it.name.is_empty() {
            return refuse("No Object name found");
        }
        let graph = &self.graph;
        if graph.related(node, it.resource, it.namespace, it.name) {
            return Ok(());
        }
        Err(format!(
            "no relationship found between node '{node}' and this object"
        ))
    }

    fn get(&self, node: &str, it: &Attributes) -> Result<(), String> {
        allow_if(
            it.verb == "get",
            "can only get individual resources of this type",
        )?;
        allow_if(it.subresource.is_empty(), "cannot get subresource")?;
        self.related(node, it)
    }

    fn read_namespaced(&self, node: &str, it: &Attributes) -> Result<(), String> {
        let reads = matches!(it.verb, "get" | "list" | "watch");
        allow_if(reads, "can only read resources of this type")?;
        allow_if(it.subresource.is_empty(), "cannot read subresource")?;
        allow_if(
            !it.namespace.is_empty(),
            "can only read namespaced object of this type",
        )?;
        self.related(node, it)
    }

    fn service_account(&self, node: &str, it: &Attributes) -> Result<(), String> {
        if it.verb == "get" && it.subresource.is_empty() {
            return self.read_namespaced(node, it);
        }
        let one = it.verb == "create" && !it.name.is_empty();
        allow_if(
            one,
            "can only create tokens for individual service accounts",
        )?;
        allow_if(
            it.subresource == "token",
            "can only create token subresource of serviceaccount",
        )?;
        self.related(node, it)
    }

    fn resource_slice(&self, node: &str, it: &Attributes) -> Result<(), String> {
        allow_if(
            it.subresource.is_empty(),
            "cannot authorize ResourceSlice subresources",
        )?;
        match it.verb {
            "create" => Ok(()),
            "get" | "update" | "patch" | "delete" => self.related(node, it),
            "watch" | "list" | "deletecollection" => allow_if(
                selects(it.field_selector, "spec.nodeName", node),
                "can only list/watch/deletecollection resourceslices with nodeName field selector",
            ),
            _ => refuse(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
            ),
        }
    }

    fn pod_certificate_request(&self, node: &str, it: &Attributes) -> Result<(), String> {
        allow_if(
            it.subresource.is_empty(),
            "nodes may not access the status subresource of PodCertificateRequests",
        )?;
        match it.verb {
            "create" => Ok(()),
            "get" => self.related(node, it),
            "list" | "watch" => allow_if(
                selects(it.field_selector, "spec.nodeName", node),
                "can only list/watch podcertificaterequests with nodeName field selector",
            ),
            verb => Err(format!("nodes may not {verb} podcertificaterequests")),
        }
    }

    fn pod(&self, node: &str, it: &Attributes) -> Result<(), String> {
        match (it.subresource, it.verb) {
            ("", "get") => self.get(node, it),
            ("", "list" | "watch") if selects(it.field_selector, "spec.nodeName", node) => Ok(()),
            ("", "list" | "watch") if !it.name.is_empty() => self.related(node, it),
            ("", "list" | "watch") => {
                refuse("can only list/watch pods with spec.nodeName field selector")
            }
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => {
                Ok(())
            }
            _ => refuse(""),
        }
    }
}

impl Authorizer for Node {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> Answer<'a> {
        match self.decide(&attributes) {
            Ok(()) => Decision::allow("").into(),
            Err(reason) => Decision::no_opinion(reason).into(),
        }
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}

fn lease(node: &str, it: &Attributes) -> Result<(), String> {
    allow_if(
        matches!(it.verb, "get" | "create" | "update" | "patch" | "delete"),
        "can only get, create, update, patch, or delete a node lease",
    )?;
    allow_if(
        it.namespace == "kube-node-lease",
        "can only access leases in the \"kube-node-lease\" system namespace",
    )?;
    allow_if(
        it.verb == "create" || it.name == node,
        "can only access node lease with the same name as the requesting node",
    )
}

fn csi_node(node: &str, it: &Attributes) -> Result<(), String> {
    match it.subresource {
        "" => allow_if(
            matches!(it.verb, "get" | "create" | "update" | "patch" | "delete"),
            "can only get, create, update, patch, or delete a CSINode",
        )?,
        "status" => return refuse("CSINode status access requires CSIVolumeHealth feature"),
        _ => return refuse("cannot authorize CSINode subresources"),
    }
    allow_if(
        it.verb == "create" || it.name == node,
        "can only access CSINode with the same name as the requesting node",
    )
}

fn own_node(node: &str, it: &Attributes) -> Result<(), String> {
    match (it.subresource, it.verb) {
        ("", "create" | "update" | "patch") | ("status", "update" | "patch") => Ok(()),
        ("", "get" | "list" | "watch") => match it.name {
            "" => Err(format!(
                "node '{node}' cannot read all nodes, only its own Node object"
            )),
            name if name == node => Ok(()),
            name => Err(format!(
                "node '{node}' cannot read '{name}', only its own Node object"
            )),
        },
        _ => refuse(""),
    }
}

/// Whether a field selector demands that the field equals the value.
fn selects(selector: &str, field: &str, value: &str) -> bool {
    let selector = FieldSelector::parse(selector).unwrap_or_default();
    let mut terms = selector.terms().iter();
    terms.any(|it| !it.negated && it.field == field && it.value == value)
}

fn allow_if(condition: bool, otherwise: &str) -> Result<(), String> {
    if condition { Ok(()) } else { refuse(otherwise) }
}

fn refuse(reason: &str) -> Result<(), String> {
    Err(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;
    use crate::User;

    fn graph() -> Arc<ObjectGraph> {
        let graph = ObjectGraph::new();
        let pod = json!({
            "metadata": {"name": "p", "namespace": "ns"},
            "spec": {"nodeName": "n", "imagePullSecrets": [{"name": "mine"}]},
        });
        graph.put("pods", &pod);
        Arc::new(graph)
    }

    #[test]
    fn a_kubelet_asks_for_certificates_of_pods() {
        let mode = Node::new(graph(), Vec::new());
        let kubelet = User::new("system:node:n", &["system:nodes"]);
        let requests = |verb| {
            Attributes::resource(
                &kubelet,
                verb,
                "certificates.k8s.io",
                "podcertificaterequests",
            )
        };
        for (attributes, allowed, reason) in [
            (requests("create"), true, ""),
            (
                requests("create").subresource("status"),
                false,
                "nodes may not access the status subresource of PodCertificateRequests",
            ),
            (
                requests("list"),
                false,
                "can only list/watch podcertificaterequests with nodeName field selector",
            ),
        ] {
            let decision = mode.authorize(attributes).now().unwrap();
            assert_eq!(
                (decision.allowed(), &*decision.reason),
                (allowed, reason),
                "{attributes:?}"
            );
        }
    }

    #[test]
    fn a_kubelet_sees_what_is_its_own() {
        let mode = Node::new(graph(), Vec::new());
        let kubelet = User::new("system:node:n", &["system:nodes"]);
        let other = User::new("system:node:n", &[]);
        let ask = |verb, group, resource| Attributes::resource(&kubelet, verb, group, resource);
        let selected = |selector| Attributes {
            field_selector: selector,
            ..ask("list", "", "pods")
        };
        let secret = ask("get", "", "secrets").namespace("ns");
        let cases = [
            (secret.name("mine"), true, ""),
            (
                secret.name("else"),
                false,
                "no relationship found between node 'n' and this object",
            ),
            (secret, false, "No Object name found"),
            (
                secret.name("mine").verb("update"),
                false,
                "can only read resources of this type",
            ),
            (
                Attributes {
                    user: &other,
                    ..secret.name("mine")
                },
                false,
                "",
            ),
            (ask("get", "", "nodes").name("n"), true, ""),
            (
                ask("get", "", "nodes").name("m"),
                false,
                "node 'n' cannot read 'm', only its own Node object",
            ),
            (
                ask("list", "", "nodes"),
                false,
                "node 'n' cannot read all nodes, only its own Node object",
            ),
            (selected("spec.nodeName=n"), true, ""),
            (
                selected("spec.nodeName=nn"),
                false,
                "can only list/watch pods with spec.nodeName field selector",
            ),
            (selected("status.phase!=Failed,spec.nodeName==n"), true, ""),
            (
                selected("spec.nodeName!=n"),
                false,
                "can only list/watch pods with spec.nodeName field selector",
            ),
            (
                selected("metadata.name=a\\,spec.nodeName=n"),
                false,
                "can only list/watch pods with spec.nodeName field selector",
            ),
            (
                ask("update", "coordination.k8s.io", "leases")
                    .namespace("kube-node-lease")
                    .name("n"),
                true,
                "",
            ),
            (
                ask("update", "coordination.k8s.io", "leases")
                    .namespace("ns")
                    .name("n"),
                false,
                "can only access leases in the \"kube-node-lease\" system namespace",
            ),
            (
                ask("create", "", "serviceaccounts")
                    .namespace("ns")
                    .name("mine")
                    .subresource("token"),
                false,
                "no relationship found between node 'n' and this object",
            ),
        ];
        for (attributes, allowed, reason) in cases {
            let decision = mode.authorize(attributes).now().unwrap();
            assert_eq!(
                (decision.allowed(), &*decision.reason),
                (allowed, reason),
                "{attributes:?}"
            );
        }
    }
}
