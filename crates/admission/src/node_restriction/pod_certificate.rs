//! Certificates for the pods on the kubelet's node, of signers that they ask for.

use auth::{Attributes, Authorizer};
use json::Value;
use meta::Status;
use meta::go::quote;

use super::{Kubelet, fault, is_mirror};
use crate::Operation;
use crate::read::{has, items, text};

pub(super) async fn check(kubelet: Kubelet<'_>, authorizer: &dyn Authorizer) -> Result<(), Status> {
    let request = kubelet.request;
    if request.operation != Operation::Create {
        let operation = request.operation.as_str();
        return kubelet.refuse(format!("unexpected operation {operation}"));
    }
    if !request.subresource.is_empty() {
        return kubelet.refuse(format!("unexpected subresource {}", request.subresource));
    }
    let spec = |field| text(kubelet.object, &["spec", field]);
    let node = quote(spec("nodeName"));
    if spec("nodeName") != kubelet.node {
        let own = quote(kubelet.node);
        return kubelet.refuse(format!(
            "PodCertificateRequest.Spec.NodeName={node}, which is not the requesting node {own}"
        ));
    }
    let pod_name = quote(&format!("{}/{}", request.namespace, spec("podName")));
    let live = kubelet
        .find("node", "", spec("nodeName"))
        .map_err(|status| {
            let why = status.message;
            fault(format!(
                "while retrieving node {node} named in the PodCertificateRequest: {why}"
            ))
        })?;
    let (asked, uid) = (quote(spec("nodeUID")), quote(meta::object::uid(&live)));
    if asked != uid {
        return Err(fault(format!(
            "PodCertificateRequest for pod {pod_name} names node UID {asked}, inconsistent with the running node ({uid})"
        )));
    }
    let pod = kubelet.find("pod", request.namespace, spec("podName"));
    let pod = pod.map_err(|status| {
        let why = status.message;
        fault(format!(
            "while retrieving pod {pod_name} named in the PodCertificateRequest: {why}"
        ))
    })?;
    let (asked, uid) = (quote(spec("podUID")), quote(meta::object::uid(&pod)));
    if asked != uid {
        return Err(fault(format!(
            "PodCertificateRequest for pod {pod_name} contains pod UID ({asked}) which differs from running pod {uid}"
        )));
    }
    if text(&pod, &["spec", "nodeName"]) != spec("nodeName") {
        return kubelet.refuse(format!(
            "pod {pod_name} is not running on node {node} named in the PodCertificateRequest"
        ));
    }
    if is_mirror(&pod) {
        return kubelet.refuse(format!("pod {pod_name} is a mirror pod"));
    }
    account(kubelet, &pod, &pod_name)?;
    signer(kubelet, authorizer, &pod, &pod_name).await
}

/// It must be the pod's, and the one that is there.
fn account(kubelet: Kubelet<'_>, pod: &Value, pod_name: &str) -> Result<(), Status> {
    let spec = |field| text(kubelet.object, &["spec", field]);
    let (asked, own) = (
        spec("serviceAccountName"),
        text(pod, &["spec", "serviceAccountName"]),
    );
    if asked != own {
        let (asked, own) = (quote(asked), quote(own));
        return kubelet.refuse(format!(
            "PodCertificateRequest for pod {pod_name} contains serviceAccountName ({asked}) that differs from running pod ({own})"
        ));
    }
    let namespace = kubelet.request.namespace;
    let account = kubelet.find("serviceaccount", namespace, asked);
    let account = account.map_err(|status| {
        let (name, why) = (quote(&format!("{namespace}/{asked}")), status.message);
        fault(format!(
            "while retrieving service account {name} named in the PodCertificateRequest: {why}"
        ))
    })?;
    let (asked, uid) = (
        quote(spec("serviceAccountUID")),
        quote(meta::object::uid(&account)),
    );
    if asked != uid {
        return Err(fault(format!(
            "PodCertificateRequest for pod {pod_name} names service account UID {asked}, which differs from the running service account ({uid})"
        )));
    }
    Ok(())
}

async fn signer(
    kubelet: Kubelet<'_>,
    authorizer: &dyn Authorizer,
    pod: &Value,
    pod_name: &str,
) -> Result<(), Status> {
    let request = kubelet.request;
    let signer = text(kubelet.object, &["spec", "signerName"]);
    let volumes = items(pod, &["spec", "volumes"]).iter();
    let mut sources = volumes.flat_map(|it| items(it, &["projected", "sources"]));
    let asks = |it: &Value| {
        has(it, &["podCertificate"]) && text(it, &["podCertificate", "signerName"]) == signer
    };
    if sources.any(asks) {
        return Ok(());
    }
    let verb = "request-serviceaccounts-podcertificate-signer";
    // RBAC takes no slash in a resource.
    let resource = signer.replace('/', ":");
    let attributes = Attributes {
        version: &request.resource.version,
        namespace: request.namespace,
        name: text(kubelet.object, &["spec", "serviceAccountName"]),
        ..Attributes::resource(request.user, verb, &request.resource.group, &resource)
    };
    if authorizer.authorize(attributes).await.allowed() {
        return Ok(());
    }
    let signer = quote(signer);
    kubelet.refuse(format!(
        "pod {pod_name} does not mount a podCertificate projected volume for signer {signer}"
    ))
}
