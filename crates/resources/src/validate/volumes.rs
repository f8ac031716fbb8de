//! Persistent volumes.

use json::{Object, Value};

use super::claims::{VOLUME_MODES, access_modes, basic_resource};
use super::diff::diff;
use super::errors::Errors;
use super::field::Field;
use super::go_form::go_form;
use super::object_meta::{self, Named};
use super::pod::scheduling::node_selector;
use super::sources;
use super::words::{IMMUTABLE, quantity};

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    spec(
        e,
        &it.child("spec"),
        it.child("metadata").text("name"),
        false,
    );
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    create(e, new);
    let (it, was) = (new.child("spec"), old.child("spec"));
    let (mut source, had) = (only_source(it.value), only_source(was.value));
    let expand = "controllerExpandSecretRef";
    let added = had.get("csi").is_some_and(|csi| csi.get(expand).is_none());
    if added && let Some(csi) = source.get_mut("csi").and_then(Value::as_object_mut) {
        csi.remove(expand);
    }
    if !e.same_at(&it, &source, &had) {
        let text = "spec.persistentvolumesource is immutable after creation";
        let at = it.child("persistentvolumesource");
        let form = |it| go_form("PersistentVolumeSource", it);
        let diff = diff(&form(&had), &form(&source));
        e.forbidden(&at, &format!("{text}\n{diff}"));
    }
    let mode = it.child("volumeMode");
    if !e.same(&mode, &was.child("volumeMode")) {
        e.invalid(&new.child("volumeMode").with(mode.value), IMMUTABLE);
    }
    let (affinity, had) = (it.child("nodeAffinity"), was.child("nodeAffinity"));
    if had.is_set()
        && !e.same_at(
            &affinity,
            affinity.value,
            &with_stable_labels(had.value, affinity.value),
        )
    {
        let why = "field is immutable, except for updating from beta label to GA";
        e.invalid(&new.child("nodeAffinity").with(affinity.value), why);
    }
    let class = it.child("volumeAttributesClassName");
    if was.has("volumeAttributesClassName") && !class.is_set() {
        e.forbidden(&class, "update from non-nil value to nil is forbidden");
    }
}

const STABLE: [(&str, &str); 5] = [
    (
        "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/zone",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
    ),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    (
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
    ),
];

/// The old value, with keys in the form that the new value has them.
fn with_stable_labels(old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::Array(old), Value::Array(new)) => {
            let of = |at: usize| new.get(at).unwrap_or(&Value::Null);
            old.iter()
                .enumerate()
                .map(|(at, old)| with_stable_labels(old, of(at)))
                .collect()
        }
        (Value::Object(old), Value::Object(new)) => {
            let of = |name: &str| new.get(name).unwrap_or(&Value::Null);
            let pairs = old
                .iter()
                .map(|(name, old)| (name.clone(), with_stable_labels(old, of(name))));
            Value::Object(pairs.collect())
        }
        (Value::String(old), Value::String(new)) if STABLE.contains(&(old, new)) => {
            Value::from(new)
        }
        _ => old.clone(),
    }
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    if new.child("metadata").text("resourceVersion").is_empty() {
        e.required(&new.child("resourceVersion"), "");
    }
}

/// In upstream's order, with the name it is reported under when it is one too many.
const SOURCES: &[(&str, &str)] = &[
    ("hostPath", "hostPath"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("nfs", "nfs"),
    ("rbd", "rbd"),
    ("quobyte", "quobyte"),
    ("cephfs", "cephFS"),
    ("iscsi", "iscsi"),
    ("cinder", "cinder"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("scaleIO", "scaleIO"),
    ("local", "local"),
    ("storageos", "storageos"),
    ("csi", "csi"),
];

fn only_source(spec: &Value) -> Value {
    let of = |name: &str| Some((name.to_owned(), spec.get(name)?.clone()));
    let pairs = SOURCES.iter().filter_map(|(name, _)| of(name));
    Value::Object(pairs.collect::<Object>())
}

/// Inline specs are those of volume attachments.
pub(super) fn spec(e: &mut Errors, it: &Field, name: &str, inline: bool) {
    let not_inline = "may not be specified in the context of inline volumes";
    let (capacity, csi) = (it.child("capacity"), it.child("csi"));
    if inline {
        if it.has("claimRef") {
            e.forbidden(&it.child("claimRef"), not_inline);
        }
        if !capacity.is_empty() {
            e.forbidden(&capacity, not_inline);
        }
        if !csi.is_set() {
            e.required(&csi, "has to be specified in the context of inline volumes");
        }
    }
    let modes = it.child("accessModes");
    if modes.is_empty() {
        e.required(&modes, "");
    }
    access_modes(e, &modes);
    if !inline {
        self::capacity(e, &capacity);
    }
    let policy = it.child("persistentVolumeReclaimPolicy");
    if !policy.is_empty() {
        if !inline {
            e.one_of(&policy, &["Delete", "Recycle", "Retain"]);
        } else if policy.str() != "Retain" {
            e.forbidden(
                &policy,
                "may only be Retain in the context of inline volumes",
            );
        }
    }
    let affinity = it.child("nodeAffinity");
    if affinity.is_set() {
        if inline {
            e.forbidden(&affinity, not_inline);
        } else if affinity.has("required") {
            node_selector(e, &affinity.child("required"));
        } else {
            e.required(
                &affinity.child("required"),
                "must specify required node constraints",
            );
        }
    }
    source(e, it, name);
    let root = it.child("hostPath").text("path");
    if !root.is_empty()
        && root.split('/').all(|part| matches!(part, "" | "."))
        && policy.str() == "Recycle"
    {
        e.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
    classes(e, it, inline);
}

fn classes(e: &mut Errors, it: &Field, inline: bool) {
    let (class, mode) = (it.child("storageClassName"), it.child("volumeMode"));
    if !class.is_empty() {
        if inline {
            let text = "may not be specified in the context of inline volumes";
            e.forbidden(&class, text);
        } else {
            e.dns_subdomain(&class);
        }
    }
    if mode.is_set() {
        if !inline {
            e.one_of(&mode, VOLUME_MODES);
        } else if mode.str() != "Filesystem" {
            let text =
                "may not specify volumeMode other than Filesystem in the context of inline volumes";
            e.forbidden(&mode, text);
        }
    }
    let attributes = it.child("volumeAttributesClassName");
    if attributes.is_set() && !inline {
        if attributes.is_empty() {
            e.required(&attributes, "an empty string is disallowed");
        } else {
            e.dns_subdomain(&attributes);
        }
        if !it.has("csi") {
            e.required(
                &it.child("csi"),
                "has to be specified when using volumeAttributesClassName",
            );
        }
    }
}

fn capacity(e: &mut Errors, it: &Field) {
    if it.is_empty() {
        e.required(it, "");
    }
    if !it.has("storage") || it.len() > 1 {
        let shown = it.value.clone();
        e.push(meta::field::Error::not_supported(
            it.path,
            shown,
            ["storage"],
        ));
    }
    for (_, at) in it.entries() {
        basic_resource(e, &at);
        if let Some(size) = quantity(&at).filter(|it| it.sign() <= 0) {
            e.invalid_value(&at, size.to_string(), "must be greater than zero");
        }
    }
}

fn source(e: &mut Errors, it: &Field, volume_name: &str) {
    let mut one = false;
    for (name, reported) in SOURCES {
        if !it.has(name) {
            continue;
        }
        if one && *name != "flexVolume" {
            let at = it.child_as(name, reported);
            e.forbidden(&at, "may not specify more than 1 volume type");
            continue;
        }
        one = true;
        let source = it.child(name);
        match *name {
            "csi" => csi(e, &source),
            "local" => {
                let path = source.child("path");
                if e.required_text(&path) {
                    super::paths::no_backsteps(e, &path);
                }
                if !it.has("nodeAffinity") {
                    e.required(
                        &it.child("nodeAffinity"),
                        "Local volume requires node affinity",
                    );
                }
            }
            "iscsi" => {
                let portal = source.text("targetPortal");
                if source.has("initiatorName") && volume_name.len() + 1 + portal.len() > 64 {
                    let at = source.child_as("targetPortal", "targetportal");
                    e.invalid(&at, sources::ISCSI_TOO_LONG);
                }
                sources::common(e, it, name, true);
            }
            _ => sources::common(e, it, name, true),
        }
        let namespace = source.child(if *name == "azureFile" {
            "secretNamespace"
        } else {
            "endpointsNamespace"
        });
        if *name == "azureFile" && namespace.is_set() {
            e.required_text(&namespace);
        } else if *name == "glusterfs" && namespace.is_set() {
            if namespace.is_empty() {
                let text = "if the endpointnamespace is set, it must be a valid namespace name";
                e.invalid(&namespace, text);
            } else {
                e.dns_label(&namespace);
            }
        }
    }
    if !one {
        e.required(it, "must specify a volume type");
    }
}

fn csi(e: &mut Errors, it: &Field) {
    sources::csi_driver_name(e, &it.child("driver"));
    e.required_text(&it.child("volumeHandle"));
    for name in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let secret = it.child(name);
        if secret.is_set() {
            let (name, namespace) = (secret.child("name"), secret.child("namespace"));
            if e.required_text(&name) {
                e.dns_subdomain(&name);
            }
            if e.required_text(&namespace) {
                e.dns_label(&namespace);
            }
        }
    }
}
