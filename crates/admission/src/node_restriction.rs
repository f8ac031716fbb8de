//! A kubelet changes its own node, and the pods on it; of the rest only what it needs for them.
//!
//! Which requests get here, the authorization mode `Node` decides; what it cannot see, the objects, is looked at here.

mod claim;
mod node;
mod pod;
mod pod_certificate;
mod token;

use std::sync::Arc;

use auth::Authorizer;
use auth::pki::CertificateRequest;
use base64::Engine as _;
use json::Value;
use meta::Status;
use meta::go::quote;
use meta::gvk::GroupResource;
use meta::status::Reason;

use crate::read::text;
use crate::{Admitting, Operation, Outcome, Plugin, Request};

/// The signers of what kubelets show to others.
const KUBELET_SIGNERS: [&str; 2] = [
    "kubernetes.io/kubelet-serving",
    "kubernetes.io/kube-apiserver-client-kubelet",
];

#[derive(Clone, Debug)]
pub struct NodeRestriction(pub Arc<dyn Authorizer>);

impl Plugin for NodeRestriction {
    fn name(&self) -> &'static str {
        "NodeRestriction"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation != Operation::Connect && request.user.node().is_some()
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        let kubelet = Kubelet {
            node: request.user.node().unwrap_or_default(),
            request,
            object: &admitting.object,
        };
        Outcome::Later(Box::pin(kubelet.check(&*self.0)))
    }
}

/// Who asks, and for what.
#[derive(Clone, Copy)]
struct Kubelet<'a> {
    node: &'a str,
    request: &'a Request<'a>,
    object: &'a Value,
}

impl Kubelet<'_> {
    async fn check(self, authorizer: &dyn Authorizer) -> Result<(), Status> {
        if self.node.is_empty() {
            let user = quote(&self.request.user.name);
            return self.refuse(format!("could not determine node from user {user}"));
        }
        let resource = self.request.resource;
        match (&*resource.group, &*resource.resource) {
            ("", "pods") => pod::check(self),
            ("", "nodes") => node::check(self),
            ("", "persistentvolumeclaims") => claim::check(self),
            ("", "serviceaccounts") => token::check(self, authorizer).await,
            ("certificates.k8s.io", "podcertificaterequests") => {
                pod_certificate::check(self, authorizer).await
            }
            ("certificates.k8s.io", "certificatesigningrequests") => self.signing_request(),
            ("coordination.k8s.io", "leases") => self.lease(),
            ("storage.k8s.io", "csinodes") => self.csi_node(),
            ("resource.k8s.io", "resourceslices") => self.resource_slice(),
            _ => Ok(()),
        }
    }

    fn refuse<T>(self, why: impl std::fmt::Display) -> Result<T, Status> {
        Err(self.request.forbidden(self.object, why))
    }

    /// The operation as Go quotes it.
    fn operation(self) -> String {
        quote(self.request.operation.as_str())
    }

    fn lease(self) -> Result<(), Status> {
        if self.request.namespace != "kube-node-lease" {
            return self
                .refuse("can only access leases in the \"kube-node-lease\" system namespace");
        }
        self.own("can only access node lease with the same name as the requesting node")
    }

    fn csi_node(self) -> Result<(), Status> {
        self.own("can only access CSINode with the same name as the requesting node")?;
        if self.request.subresource == "status" {
            return self.refuse("CSIVolumeHealth feature gate is disabled");
        }
        Ok(())
    }

    /// What is called as the node is.
    fn own(self, otherwise: &str) -> Result<(), Status> {
        let name = match self.request.operation {
            Operation::Create => meta::object::name(self.object),
            _ => self.request.name,
        };
        if name == self.node {
            return Ok(());
        }
        self.refuse(otherwise)
    }

    fn resource_slice(self) -> Result<(), Status> {
        let (slice, verb) = match self.request.operation {
            Operation::Create => (self.object, "create"),
            Operation::Delete => (self.request.old.unwrap_or(&Value::Null), "delete"),
            _ => return Ok(()),
        };
        if text(slice, &["spec", "nodeName"]) == self.node {
            return Ok(());
        }
        self.refuse(format!(
            "can only {verb} ResourceSlice with the same NodeName as the requesting node"
        ))
    }

    fn signing_request(self) -> Result<(), Status> {
        let signer = text(self.object, &["spec", "signerName"]);
        if self.request.operation != Operation::Create || !KUBELET_SIGNERS.contains(&signer) {
            return Ok(());
        }
        let encoded = text(self.object, &["spec", "request"]);
        let decoded = base64::prelude::BASE64_STANDARD.decode(encoded);
        match CertificateRequest::from_pem(&decoded.unwrap_or_default()) {
            Err(error) => self.refuse(format!("unable to parse csr: {error}")),
            Ok(it) if it.common_name.strip_prefix(auth::user::NODE_PREFIX) == Some(self.node) => {
                Ok(())
            }
            Ok(_) => self.refuse(format!(
                "can only create a node CSR with CN=system:node:{}",
                self.node
            )),
        }
    }

    /// An object of the core group; upstream's caches call kinds in the singular.
    fn find(self, singular: &str, namespace: &str, name: &str) -> Result<Value, Status> {
        let found = self
            .request
            .lookup
            .get("", &format!("{singular}s"), namespace, name);
        found.ok_or_else(|| Status::not_found(&GroupResource::new("", singular), name))
    }
}

/// An error that is not a refusal: what is known may be too old, and another try may help.
fn fault(text: String) -> Status {
    Status::failure(500, Reason::Unknown, text)
}

fn is_mirror(pod: &Value) -> bool {
    meta::object::annotation(pod, "kubernetes.io/config.mirror").is_some()
}
