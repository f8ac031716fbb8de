//! Tokens for the pods on the kubelet's node, of audiences that they ask for.

use auth::{Attributes, Authorizer};
use json::Value;
use meta::Status;
use meta::go::quote;
use meta::gvk::GroupResource;

use super::Kubelet;
use crate::read::{has, items, text};
use crate::{Operation, Request};

/// The CSI drivers that have taken over kinds of volumes.
const MIGRATED: [(&str, &str); 7] = [
    ("awsElasticBlockStore", "ebs.csi.aws.com"),
    ("gcePersistentDisk", "pd.csi.storage.gke.io"),
    ("cinder", "cinder.csi.openstack.org"),
    ("azureDisk", "disk.csi.azure.com"),
    ("azureFile", "file.csi.azure.com"),
    ("vsphereVolume", "csi.vsphere.vmware.com"),
    ("portworxVolume", "pxd.portworx.com"),
];

pub(super) async fn check(kubelet: Kubelet<'_>, authorizer: &dyn Authorizer) -> Result<(), Status> {
    let request = kubelet.request;
    if request.operation != Operation::Create || request.subresource != "token" {
        return Ok(());
    }
    let bound = |field| text(kubelet.object, &["spec", "boundObjectRef", field]);
    if bound("apiVersion") != "v1" || bound("kind") != "Pod" || bound("name").is_empty() {
        return kubelet.refuse("node requested token not bound to a pod");
    }
    let uid = bound("uid");
    if uid.is_empty() {
        return kubelet.refuse("node requested token with a pod binding without a uid");
    }
    let pod = kubelet.find("pod", request.namespace, bound("name"))?;
    if uid != meta::object::uid(&pod) {
        return kubelet.refuse(format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
        ));
    }
    if text(&pod, &["spec", "nodeName"]) != kubelet.node {
        return kubelet.refuse("node requested token bound to a pod scheduled on a different node");
    }
    let audience = match items(kubelet.object, &["spec", "audiences"]) {
        [] => "",
        [one] => one.as_str().unwrap_or_default(),
        _ => return kubelet.refuse("node may only request 0 or 1 audiences"),
    };
    match asks_for(request, &pod, audience) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(error) => {
            let audience = quote(audience);
            return kubelet.refuse(format!("error validating audience {audience}: {error}"));
        }
    }
    let verb = "request-serviceaccounts-token-audience";
    let attributes = Attributes {
        version: &request.resource.version,
        namespace: request.namespace,
        name: request.name,
        ..Attributes::resource(request.user, verb, &request.resource.group, audience)
    };
    if authorizer.authorize(attributes).await.allowed() {
        return Ok(());
    }
    let (user, audience) = (&request.user.name, quote(audience));
    kubelet.refuse(format!(
        "{user} is not authorized to request tokens for audience {audience}"
    ))
}

/// Whether a volume of the pod needs a token of this audience.
fn asks_for(request: &Request<'_>, pod: &Value, audience: &str) -> Result<bool, String> {
    let mut errors = Vec::new();
    for volume in items(pod, &["spec", "volumes"]) {
        let mut sources = items(volume, &["projected", "sources"]).iter();
        let token = |it: &Value| {
            has(it, &["serviceAccountToken"])
                && text(it, &["serviceAccountToken", "audience"]) == audience
        };
        if sources.any(token) {
            return Ok(true);
        }
        match driver(request, pod, volume).and_then(|it| mounts(request, &it, audience)) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) => errors.push(error),
        }
    }
    match &*errors {
        [] => Ok(false),
        [one] => Err(one.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

/// The CSI driver of a volume; empty if it has none.
fn driver(request: &Request<'_>, pod: &Value, volume: &Value) -> Result<String, String> {
    let claim = if has(volume, &["ephemeral", "volumeClaimTemplate"]) {
        let name = text(volume, &["name"]);
        format!("{}-{name}", meta::object::name(pod))
    } else {
        text(volume, &["persistentVolumeClaim", "claimName"]).to_owned()
    };
    if claim.is_empty() {
        return Ok(driver_of(volume));
    }
    let namespace = request.namespace;
    let claim = find(request, "", "persistentvolumeclaim", namespace, &claim)?;
    let name = text(&claim, &["spec", "volumeName"]);
    let volume = find(request, "", "persistentvolume", "", name)?;
    Ok(volume.get("spec").map(driver_of).unwrap_or_default())
}

fn driver_of(source: &Value) -> String {
    let migrated = || MIGRATED.iter().find(|(kind, _)| has(source, &[kind]));
    match text(source, &["csi", "driver"]) {
        "" => migrated().map_or("", |(_, driver)| driver).to_owned(),
        driver => driver.to_owned(),
    }
}

fn mounts(request: &Request<'_>, driver: &str, audience: &str) -> Result<bool, String> {
    if driver.is_empty() {
        return Ok(false);
    }
    let driver = find(request, "storage.k8s.io", "csidriver", "", driver)?;
    let mut wanted = items(&driver, &["spec", "tokenRequests"]).iter();
    Ok(wanted.any(|it| text(it, &["audience"]) == audience))
}

fn find(
    request: &Request<'_>,
    group: &str,
    singular: &str,
    namespace: &str,
    name: &str,
) -> Result<Value, String> {
    let plural = format!("{singular}s");
    let found = request.lookup.get(group, &plural, namespace, name);
    found.ok_or_else(|| Status::not_found(&GroupResource::new(group, singular), name).message)
}
