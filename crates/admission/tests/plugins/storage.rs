//! Claims, volumes and their classes.

use admission::Operation;
use admission::storage::{
    DefaultStorageClass, PersistentVolumeClaimResize, StorageObjectInUseProtection,
};
use json::{Value, json};

use super::world::Case;

const CLASSES: &str = "storage.k8s.io/storageclasses";
const CLAIMS: &str = "/persistentvolumeclaims";

#[test]
fn a_claim_gets_the_default_class() {
    let class = |name: &str, key: &str| {
        let mut class = json!({"metadata": {"name": name}});
        meta::object::set_annotation(&mut class, key, "true");
        class
    };
    let create = || {
        Case::create(&DefaultStorageClass, CLAIMS)
            .with(CLASSES, class("other", "example.com/is-default-class"))
            .with(
                CLASSES,
                class("fast", "storageclass.kubernetes.io/is-default-class"),
            )
    };
    let bare = json!({"spec": {}});
    assert_eq!(
        create().ok(&bare),
        json!({"spec": {"storageClassName": "fast"}})
    );
    create().same(&json!({"spec": {"storageClassName": ""}}));
    create().same(
        &json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}}),
    );
    Case::create(&DefaultStorageClass, CLAIMS).same(&bare);
    let beta = class("old", "storageclass.beta.kubernetes.io/is-default-class");
    let beta = Case::create(&DefaultStorageClass, CLAIMS).with(CLASSES, beta);
    assert_eq!(beta.ok(&bare), json!({"spec": {"storageClassName": "old"}}));
    let update = Case {
        operation: Operation::Update,
        ..create()
    };
    update.same(&bare);
    let other = Case {
        resource: "/pods",
        ..create()
    };
    other.same(&bare);
}

#[test]
fn what_is_used_gets_a_finalizer() {
    for (resource, finalizer) in [
        (CLAIMS, "kubernetes.io/pvc-protection"),
        ("/persistentvolumes", "kubernetes.io/pv-protection"),
        (
            "storage.k8s.io/volumeattributesclasses",
            "kubernetes.io/vac-protection",
        ),
    ] {
        let create = Case::create(&StorageObjectInUseProtection, resource);
        let held = json!({"metadata": {"finalizers": [finalizer]}});
        assert_eq!(create.ok(&json!({"metadata": {}})), held);
        create.same(&held);
        let update = Case {
            operation: Operation::Update,
            ..create
        };
        update.same(&json!({"metadata": {}}));
    }
    let pods = Case::create(&StorageObjectInUseProtection, "/pods");
    assert!(!pods.handles());
}

fn claim(size: &str, class: &str, phase: &str) -> Value {
    json!({
        "metadata": {"name": "data"},
        "spec": {"storageClassName": class, "resources": {"requests": {"storage": size}}},
        "status": {"phase": phase},
    })
}

#[test]
fn a_claim_grows_if_its_class_allows() {
    let class = |name: &str, allow: bool| json!({"metadata": {"name": name}, "allowVolumeExpansion": allow});
    let update = |old: Value| {
        Case::update(&PersistentVolumeClaimResize, CLAIMS, old)
            .with(CLASSES, class("grows", true))
            .with(CLASSES, class("fixed", false))
    };
    let bound = |size: &str, class: &str| claim(size, class, "Bound");
    update(bound("1Gi", "grows")).same(&bound("2Gi", "grows"));
    // Not larger.
    update(bound("1Gi", "fixed")).same(&bound("1024Mi", "fixed"));
    update(bound("1Gi", "fixed")).same(&bound("1Mi", "fixed"));
    let refused = "persistentvolumeclaims \"data\" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
    for (old, new) in [
        ("fixed", "fixed"),
        ("", ""),
        ("gone", "gone"),
        ("fixed", "grows"),
    ] {
        let found = update(bound("1Gi", old)).err(&bound("2Gi", new));
        assert_eq!(found, refused, "{old} {new}");
    }
    assert_eq!(
        update(claim("1Gi", "grows", "Pending")).err(&claim("2Gi", "grows", "Pending")),
        "persistentvolumeclaims \"data\" is forbidden: Only bound persistent volume claims can be expanded"
    );
    // The annotation was there before the field.
    let annotated = |size: &str| {
        json!({
            "metadata": {"name": "data", "annotations": {"volume.beta.kubernetes.io/storage-class": "grows"}},
            "spec": {"storageClassName": "fixed", "resources": {"requests": {"storage": size}}},
            "status": {"phase": "Bound"},
        })
    };
    update(annotated("1Gi")).same(&annotated("2Gi"));
    Case::create(&PersistentVolumeClaimResize, CLAIMS).same(&bound("2Gi", "fixed"));
    let status = "/persistentvolumeclaims/status";
    Case::update(&PersistentVolumeClaimResize, status, bound("1Gi", "fixed"))
        .same(&bound("2Gi", "fixed"));
}
