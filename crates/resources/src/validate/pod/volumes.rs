//! Volumes of a pod.

use std::collections::HashMap;

use super::{containers, env, projected};
use crate::validate::claims;
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::seen::Seen;
use crate::validate::sources;
use crate::validate::words::quantity;
use meta::names;

/// Gives back those that are valid: the others are not found by mounts.
pub(super) fn volumes<'a>(
    e: &mut Errors,
    all: &'a Field<'a>,
    pod_name: &str,
) -> HashMap<&'a str, Field<'a>> {
    let mut valid: HashMap<&str, Field> = HashMap::with_capacity(all.len());
    let ephemeral = all.items().filter(|it| it.has("ephemeral"));
    let ephemeral: Seen<&str> = ephemeral.map(|it| it.text("name")).collect();
    let created = |claim: &str| {
        let of_pod = claim
            .strip_prefix(pod_name)
            .and_then(|it| it.strip_prefix('-'));
        !pod_name.is_empty() && of_pod.is_some_and(|name| ephemeral.contains(&name))
    };
    for it in all.items() {
        let before = e.len();
        source(e, &it, pod_name);
        let name = it.child("name");
        if e.required_text(&name) {
            e.dns_label(&name);
        }
        if valid.contains_key(name.str()) {
            e.duplicate(&name);
        }
        if e.len() == before {
            valid.insert(it.text("name"), it);
        }
        let claim = it.child("persistentVolumeClaim");
        if created(claim.text("claimName")) {
            let text = "must not reference a PVC that gets created for an ephemeral volume";
            e.invalid(&claim.child("claimName"), text);
        }
    }
    valid
}

/// In upstream's order: the first that is there is checked, the others are one too many. With the name it is reported
/// under then, where that differs.
const SOURCES: &[(&str, &str)] = &[
    ("emptyDir", "emptyDir"),
    ("hostPath", "hostPath"),
    ("gitRepo", "gitRepo"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("secret", "secret"),
    ("nfs", "nfs"),
    ("iscsi", "iscsi"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("persistentVolumeClaim", "persistentVolumeClaim"),
    ("rbd", "rbd"),
    ("cinder", "cinder"),
    ("cephfs", "cephFS"),
    ("quobyte", "quobyte"),
    ("downwardAPI", "downwarAPI"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("configMap", "configMap"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("storageos", "storageos"),
    ("projected", "projected"),
    ("scaleIO", "scaleIO"),
    ("csi", "csi"),
    ("ephemeral", "ephemeral"),
    ("image", "image"),
];

fn source(e: &mut Errors, volume: &Field, pod_name: &str) {
    let mut one = false;
    for (name, reported) in SOURCES {
        if !volume.has(name) {
            continue;
        }
        if one {
            let text = "may not specify more than 1 volume type";
            e.forbidden(&volume.child_as(name, reported), text);
        } else {
            one = true;
            of_pod(e, volume, name, pod_name);
        }
        let iscsi = volume.child("iscsi");
        let portal = iscsi.text("targetPortal").len();
        if *name == "iscsi"
            && iscsi.has("initiatorName")
            && volume.text("name").len() + 1 + portal > 64
        {
            e.invalid(&volume.child("name"), sources::ISCSI_TOO_LONG);
        }
    }
    if !one {
        e.required(volume, "must specify a volume type");
    }
}

fn of_pod(e: &mut Errors, volume: &Field, name: &str, pod_name: &str) {
    let it = volume.child(name);
    match name {
        "emptyDir" => empty_dir(e, &it),
        "secret" | "configMap" => files(
            e,
            &it,
            if name == "secret" {
                "secretName"
            } else {
                "name"
            },
        ),
        "downwardAPI" => {
            mode(e, &it, "defaultMode");
            e.user_id(&it.child("defaultUser"));
            for file in it.child("items").items() {
                downward_file(e, &it.with(file.value));
            }
        }
        "persistentVolumeClaim" => {
            e.required_text(&it.child("claimName"));
        }
        "projected" => projected::volume(e, &it),
        "ephemeral" => ephemeral(e, &it, volume, pod_name),
        "csi" => {
            sources::csi_driver_name(e, &it.child("driver"));
            let secret = it.child("nodePublishSecretRef");
            let secret_name = secret.child("name");
            if secret.is_set() && e.required_text(&secret_name) {
                e.dns_subdomain(&it.child("name").with(secret_name.value));
            }
        }
        "image" => {
            e.required_text(&it.child("reference"));
            e.required_one_of(&it.child("pullPolicy"), containers::PULL_POLICIES);
        }
        _ => sources::common(e, volume, name, false),
    }
}

fn empty_dir(e: &mut Errors, it: &Field) {
    let limit = it.child("sizeLimit");
    if quantity(&limit).is_some_and(|it| it.sign() < 0) {
        e.forbidden(&limit, "SizeLimit field must be a valid resource quantity");
    }
    let mode = it.child("mode");
    if mode.opt_int().is_some_and(|it| !(0..=0o1777).contains(&it)) {
        e.invalid(
            &mode,
            "must be a number between 0 and 01777 (octal), both inclusive",
        );
    }
}

pub(super) fn mode(e: &mut Errors, it: &Field, name: &str) {
    let mode = it.child(name);
    if mode.opt_int().is_some_and(|it| !(0..=0o777).contains(&it)) {
        e.invalid(
            &mode,
            "must be a number between 0 and 0777 (octal), both inclusive",
        );
    }
}

/// Of a secret or a config map.
fn files(e: &mut Errors, it: &Field, name: &str) {
    e.required_text(&it.child(name));
    mode(e, it, "defaultMode");
    e.user_id(&it.child("defaultUser"));
    for file in it.child("items").items() {
        key_to_path(e, &file);
    }
}

pub(super) fn key_to_path(e: &mut Errors, it: &Field) {
    e.required_text(&it.child("key"));
    let path = it.child("path");
    e.required_text(&path);
    crate::validate::paths::local_non_reserved(e, &path);
    mode(e, it, "mode");
    e.user_id(&it.child("user"));
}

const FIELDS: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

pub(super) fn downward_file(e: &mut Errors, it: &Field) {
    let path = it.child("path");
    e.required_text(&path);
    crate::validate::paths::local_non_reserved(e, &path);
    let (field, resource) = (it.child("fieldRef"), it.child("resourceFieldRef"));
    if field.is_set() {
        env::field_ref(e, &field, FIELDS);
        if resource.is_set() {
            let text = "fieldRef and resourceFieldRef can not be specified simultaneously";
            e.invalid_value(it, "resource", text);
        }
    } else if resource.is_set() {
        env::resource_field_ref(e, &resource, true);
    } else {
        e.required(it, "one of fieldRef and resourceFieldRef is required");
    }
    mode(e, it, "mode");
    e.user_id(&it.child("user"));
}

fn ephemeral(e: &mut Errors, it: &Field, volume: &Field, pod_name: &str) {
    let template = it.child("volumeClaimTemplate");
    if template.is_set() {
        claims::template(e, &template);
    } else {
        e.required(&template, "");
    }
    let name = volume.child("name");
    if !pod_name.is_empty() && !name.is_empty() {
        let claim = format!("{pod_name}-{}", name.str());
        for wrong in names::dns1123_subdomain(&claim) {
            e.invalid(
                &name,
                &format!("PVC name {}: {wrong}", meta::go::quote(&claim)),
            );
        }
    }
}
