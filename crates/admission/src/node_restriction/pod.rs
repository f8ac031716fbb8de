//! The pods on the kubelet's node, and the mirrors of those that only it knows.

use json::Value;
use meta::Status;
use meta::go::quote;

use super::{Kubelet, is_mirror};
use crate::Operation;
use crate::read::{flag, has, items, text};
use crate::service_account::names_secrets;

pub(super) fn check(kubelet: Kubelet<'_>) -> Result<(), Status> {
    let request = kubelet.request;
    let (node, operation) = (quote(kubelet.node), kubelet.operation());
    match (request.subresource, request.operation) {
        ("", Operation::Create) => create(kubelet, &node),
        ("", Operation::Delete) => {
            let pod = request.old.unwrap_or(&Value::Null);
            if is_on(pod, kubelet.node) {
                return Ok(());
            }
            kubelet.refuse(format!(
                "node {node} can only delete pods with spec.nodeName set to itself"
            ))
        }
        ("", _) => kubelet.refuse(format!(
            "unexpected operation {operation}, node {node} can only create and delete mirror pods"
        )),
        ("status", Operation::Update) => status(kubelet, &node),
        ("status", _) => kubelet.refuse(format!("unexpected operation {operation}")),
        ("eviction", Operation::Create) => {
            let pod = kubelet.find("pod", request.namespace, request.name)?;
            if is_on(&pod, kubelet.node) {
                return Ok(());
            }
            let node = kubelet.node;
            kubelet.refuse(format!(
                "node {node} can only evict pods with spec.nodeName set to itself"
            ))
        }
        ("eviction", operation) => {
            kubelet.refuse(format!("unexpected operation {}", operation.as_str()))
        }
        (other, _) => kubelet.refuse(format!(
            "unexpected pod subresource {}, only 'status' and 'eviction' are allowed",
            quote(other)
        )),
    }
}

fn is_on(pod: &Value, node: &str) -> bool {
    text(pod, &["spec", "nodeName"]) == node
}

fn create(kubelet: Kubelet<'_>, node: &str) -> Result<(), Status> {
    let pod = kubelet.object;
    if !is_mirror(pod) {
        return kubelet.refuse(format!(
            "pod does not have \"kubernetes.io/config.mirror\" annotation, node {node} can only create mirror pods"
        ));
    }
    if !is_on(pod, kubelet.node) {
        return kubelet.refuse(format!(
            "node {node} can only create pods with spec.nodeName set to itself"
        ));
    }
    let itself = |what: &str| {
        kubelet.refuse(format!(
            "node {node} can only create pods with {what} set to itself"
        ))
    };
    let owner = match items(pod, &["metadata", "ownerReferences"]) {
        [] => return itself("an owner reference"),
        [owner] => owner,
        _ => return itself("a single owner reference"),
    };
    let is_node = text(owner, &["apiVersion"]) == "v1" && text(owner, &["kind"]) == "Node";
    if !is_node || text(owner, &["name"]) != kubelet.node {
        return itself("an owner reference");
    }
    if flag(owner, &["controller"]) != Some(true) {
        return itself("a controller owner reference");
    }
    if flag(owner, &["blockOwnerDeletion"]) == Some(true) {
        return kubelet.refuse(format!(
            "node {node} must not set blockOwnerDeletion on an owner reference"
        ));
    }
    let live = kubelet.find("node", "", kubelet.node)?;
    let (claimed, uid) = (text(owner, &["uid"]), meta::object::uid(&live));
    if claimed != uid {
        let node = kubelet.node;
        return kubelet.refuse(format!(
            "node {node} UID mismatch: expected {claimed} got {uid}"
        ));
    }
    match reference(pod) {
        Ok(None) => Ok(()),
        Ok(Some(what)) => kubelet.refuse(format!(
            "node {node} can not create pods that reference {what}"
        )),
        Err(why) => kubelet.refuse(format!(
            "error checking mirror pod for API references: {why}"
        )),
    }
}

fn status(kubelet: Kubelet<'_>, node: &str) -> Result<(), Status> {
    let (new, old) = (kubelet.object, kubelet.request.old.unwrap_or(&Value::Null));
    if !is_on(old, kubelet.node) {
        return kubelet.refuse(format!(
            "node {node} can only update pod status for pods with spec.nodeName set to itself"
        ));
    }
    let kept = [
        ("metadata", "labels", "labels through pod status"),
        ("status", "resourceClaimStatuses", "resource claim statues"),
        (
            "status",
            "extendedResourceClaimStatus",
            "extended resource claim status",
        ),
        (
            "status",
            "nodeAllocatableResourceClaimStatuses",
            "node allocatable resource claim statuses",
        ),
    ];
    for (section, field, what) in kept {
        if full(new, &[section, field]) != full(old, &[section, field]) {
            return kubelet.refuse(format!("node {node} cannot update {what}"));
        }
    }
    Ok(())
}

/// An empty list or map is as good as none.
fn full<'a>(object: &'a Value, path: &[&str]) -> Option<&'a Value> {
    object.at(path).filter(|it| match it {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        it => !it.is_null(),
    })
}

/// Volumes that need nothing of the API.
const PLAIN_VOLUMES: [&str; 22] = [
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
];
const API_VOLUMES: [(&str, &str); 7] = [
    ("configMap", "configmaps (via configmap volumes)"),
    ("secret", "secrets (via secret volumes)"),
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    (
        "ephemeral",
        "persistentvolumeclaims (via ephemeral volumes)",
    ),
    ("azureFile", "secrets (via azureFile volumes)"),
];
const API_SOURCES: [(&str, &str); 5] = [
    ("configMap", "configmaps (via projected volumes)"),
    ("secret", "secrets (via projected volumes)"),
    (
        "serviceAccountToken",
        "serviceaccounts (via projected volumes)",
    ),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
];

/// The first thing of the API that a pod refers to; an error for what is not known.
fn reference(pod: &Value) -> Result<Option<&'static str>, String> {
    if !text(pod, &["spec", "serviceAccountName"]).is_empty() {
        return Ok(Some("serviceaccounts"));
    }
    if names_secrets(pod) {
        return Ok(Some("secrets"));
    }
    if names_config_maps(pod) {
        return Ok(Some("configmaps"));
    }
    if !items(pod, &["spec", "resourceClaims"]).is_empty() {
        return Ok(Some("resourceclaims"));
    }
    for volume in items(pod, &["spec", "volumes"]) {
        if PLAIN_VOLUMES.iter().any(|it| has(volume, &[it])) {
            continue;
        }
        if let Some((_, what)) = API_VOLUMES.iter().find(|(it, _)| has(volume, &[it])) {
            return Ok(Some(what));
        }
        let name = quote(text(volume, &["name"]));
        if !has(volume, &["projected"]) {
            // Two blanks, as upstream has it.
            return Err(format!("unknown volume type for volume  {name}"));
        }
        for source in items(volume, &["projected", "sources"]) {
            if let Some((_, what)) = API_SOURCES.iter().find(|(it, _)| has(source, &[it])) {
                return Ok(Some(what));
            }
            if !has(source, &["downwardAPI"]) {
                return Err(format!("unknown source for projected volume {name}"));
            }
        }
    }
    Ok(None)
}

fn names_config_maps(pod: &Value) -> bool {
    let kinds = ["initContainers", "containers", "ephemeralContainers"];
    let mut containers = kinds.into_iter().flat_map(|it| items(pod, &["spec", it]));
    let named = |it: &Value, path: &[&str]| !text(it, path).is_empty();
    let in_container = containers.any(|it| {
        let mut env = items(it, &["env"]).iter();
        let mut from = items(it, &["envFrom"]).iter();
        env.any(|it| named(it, &["valueFrom", "configMapKeyRef", "name"]))
            || from.any(|it| named(it, &["configMapRef", "name"]))
    });
    let mut volumes = items(pod, &["spec", "volumes"]).iter();
    in_container
        || volumes.any(|it| {
            let mut sources = items(it, &["projected", "sources"]).iter();
            named(it, &["configMap", "name"]) || sources.any(|it| named(it, &["configMap", "name"]))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    #[test]
    fn what_a_mirror_pod_may_not_refer_to() {
        let volume = |source: Value| json!({"spec": {"volumes": [source]}});
        let projected =
            |source: Value| volume(json!({"name": "v", "projected": {"sources": [source]}}));
        let cases = [
            (json!({"spec": {}}), Ok(None)),
            (
                json!({"spec": {"serviceAccountName": "x"}}),
                Ok(Some("serviceaccounts")),
            ),
            (
                json!({"spec": {"imagePullSecrets": [{"name": "x"}]}}),
                Ok(Some("secrets")),
            ),
            (
                json!({"spec": {"containers": [{"env": [{"valueFrom": {"configMapKeyRef": {"name": "x"}}}]}]}}),
                Ok(Some("configmaps")),
            ),
            (
                json!({"spec": {"resourceClaims": [{"name": "x"}]}}),
                Ok(Some("resourceclaims")),
            ),
            (volume(json!({"hostPath": {"path": "/"}})), Ok(None)),
            (
                volume(json!({"csi": {"driver": "d"}})),
                Ok(Some("csidrivers (via CSI volumes)")),
            ),
            (
                volume(json!({"ephemeral": {}})),
                Ok(Some("persistentvolumeclaims (via ephemeral volumes)")),
            ),
            (
                volume(json!({"name": "v", "new": {}})),
                Err("unknown volume type for volume  \"v\"".to_owned()),
            ),
            (projected(json!({"downwardAPI": {}})), Ok(None)),
            (
                projected(json!({"serviceAccountToken": {}})),
                Ok(Some("serviceaccounts (via projected volumes)")),
            ),
            (
                projected(json!({"new": {}})),
                Err("unknown source for projected volume \"v\"".to_owned()),
            ),
        ];
        for (pod, expected) in cases {
            assert_eq!(reference(&pod), expected, "{pod}");
        }
    }
}
