//! Volumes, claims and their classes.

use json::Value;

use super::cell::{NONE, UNSET, cells, deleted, join, name, or, quantity, text_or};
use super::workload::count;
use crate::clock::{self, Now};
use crate::read::{Read, annotation, texts};

pub(crate) fn volume(it: &Value, now: Now) -> Vec<Value> {
    let claim = it.find("spec.claimRef");
    let claim = claim.map(|it| format!("{}/{}", it.text("namespace"), it.text("name")));
    cells![
        name(it),
        quantity(it.find("spec.capacity.storage")),
        access_modes(it, "spec.accessModes"),
        it.text("spec.persistentVolumeReclaimPolicy"),
        phase(it),
        claim.unwrap_or_default(),
        class(it),
        text_or(it, "spec.volumeAttributesClassName", UNSET),
        it.text("status.reason"),
        now.age(it),
        text_or(it, "spec.volumeMode", UNSET),
    ]
}

pub(crate) fn claim(it: &Value, now: Now) -> Vec<Value> {
    let bound = !it.text("spec.volumeName").is_empty();
    let (capacity, modes) = if bound {
        (
            quantity(it.find("status.capacity.storage")),
            access_modes(it, "status.accessModes"),
        )
    } else {
        (String::new(), String::new())
    };
    cells![
        name(it),
        phase(it),
        it.text("spec.volumeName"),
        capacity,
        modes,
        class(it),
        text_or(it, "spec.volumeAttributesClassName", UNSET),
        now.age(it),
        text_or(it, "spec.volumeMode", UNSET),
    ]
}

fn phase(it: &Value) -> &str {
    if deleted(it) {
        "Terminating"
    } else {
        it.text("status.phase")
    }
}

/// The beta annotation goes first.
fn class(it: &Value) -> &str {
    let beta = annotation(it, "volume.beta.kubernetes.io/storage-class");
    beta.unwrap_or_else(|| it.text("spec.storageClassName"))
}

fn access_modes(it: &Value, path: &str) -> String {
    let modes = texts(it, path);
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let short = short.iter().filter(|(long, _)| modes.contains(long));
    join(short.map(|(_, short)| *short), ",")
}

pub(crate) fn storage_class(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        it.text("provisioner"),
        text_or(it, "reclaimPolicy", "Delete"),
        text_or(it, "volumeBindingMode", "Immediate"),
        it.flag("allowVolumeExpansion"),
        now.age(it),
    ]
}

/// Names the default class of a list as such.
pub(crate) fn mark_default(classes: &[Value], rows: &mut [Vec<Value>]) {
    if let Some(at) = effective_default(classes) {
        rows[at][0] = format!("{} (default)", classes[at].text("metadata.name")).into();
    }
}

/// Of all that are marked as default the newest counts, then the first by name.
fn effective_default(classes: &[Value]) -> Option<usize> {
    let marked = |it: &Value| {
        [
            "storageclass.kubernetes.io/is-default-class",
            "storageclass.beta.kubernetes.io/is-default-class",
        ]
        .iter()
        .any(|key| annotation(it, key) == Some("true"))
    };
    let rank = |it: &Value| {
        let created = clock::parse(it.text("metadata.creationTimestamp"));
        (std::cmp::Reverse(created), name(it).to_owned())
    };
    let all = classes.iter().enumerate().filter(|(_, it)| marked(it));
    all.min_by_key(|(_, it)| rank(it)).map(|(at, _)| at)
}

pub(crate) fn attributes_class(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), it.text("driverName"), now.age(it)]
}

pub(crate) fn attachment(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        it.text("spec.attacher"),
        it.text("spec.source.persistentVolumeName"),
        it.text("spec.nodeName"),
        it.flag("status.attached"),
        now.age(it),
    ]
}

pub(crate) fn csi_node(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), count(it.list("spec.drivers")), now.age(it)]
}

pub(crate) fn csi_driver(it: &Value, now: Now) -> Vec<Value> {
    let attach = it.find("spec.attachRequired").and_then(Value::as_bool);
    let tokens = it.find("spec.tokenRequests").and_then(Value::as_array);
    let tokens = tokens.map(|all| join(all.iter().map(|it| it.text("audience")), ","));
    cells![
        name(it),
        attach.unwrap_or(true),
        it.flag("spec.podInfoOnMount"),
        it.flag("spec.storageCapacity"),
        tokens.unwrap_or_else(|| UNSET.into()),
        it.flag("spec.requiresRepublish"),
        or(&join(texts(it, "spec.volumeLifecycleModes"), ","), NONE),
        now.age(it),
    ]
}
