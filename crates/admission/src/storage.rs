//! Claims and volumes: the class of those that name none, who may grow, and that what is used stays.

use json::Value;
use meta::Status;
use meta::quantity::Quantity;

use crate::read::{default_class, flag, has, section, text};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const CLAIMS: &str = "persistentvolumeclaims";
const GROUP: &str = "storage.k8s.io";
const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const IS_DEFAULT: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

/// A claim without a class gets the default one.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultStorageClass;

impl Plugin for DefaultStorageClass {
    fn name(&self) -> &'static str {
        "DefaultStorageClass"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Create && request.is_whole("", CLAIMS)
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        let claim = &mut admitting.object;
        let annotated = meta::object::annotation(claim, BETA_CLASS).is_some();
        if !annotated && !has(claim, &["spec", "storageClassName"]) {
            let classes = request.lookup.list(GROUP, "storageclasses", "");
            if let Some(name) = default_class(classes, &IS_DEFAULT)
                && let Some(spec) = section(claim, "spec")
            {
                spec.insert("storageClassName", name);
            }
        }
        Ok(()).into()
    }
}

/// What is in use is not deleted under its users: a finalizer holds it.
#[derive(Clone, Copy, Debug, Default)]
pub struct StorageObjectInUseProtection;

fn finalizer(request: &Request<'_>) -> Option<&'static str> {
    let rows = [
        ("", CLAIMS, "kubernetes.io/pvc-protection"),
        ("", "persistentvolumes", "kubernetes.io/pv-protection"),
        (
            GROUP,
            "volumeattributesclasses",
            "kubernetes.io/vac-protection",
        ),
    ];
    let mut rows = rows.into_iter();
    let found = rows.find(|(group, resource, _)| request.is_whole(group, resource));
    found.map(|(.., finalizer)| finalizer)
}

impl Plugin for StorageObjectInUseProtection {
    fn name(&self) -> &'static str {
        "StorageObjectInUseProtection"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Create && finalizer(request).is_some()
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        if let Some(finalizer) = finalizer(request) {
            meta::object::add_finalizer(&mut admitting.object, finalizer);
        }
        Ok(()).into()
    }
}

/// A claim grows only if its class says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct PersistentVolumeClaimResize;

impl Plugin for PersistentVolumeClaimResize {
    fn name(&self) -> &'static str {
        "PersistentVolumeClaimResize"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Update && request.is_whole("", CLAIMS)
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        check_size(request, &admitting.object).into()
    }
}

fn check_size(request: &Request<'_>, claim: &Value) -> Result<(), Status> {
    let Some(old) = request.old else {
        return Ok(());
    };
    let size = |it: &Value| {
        let found = it.at(&["spec", "resources", "requests", "storage"]);
        Quantity::from_value(found.unwrap_or(&Value::Null)).ok()
    };
    if size(claim) <= size(old) {
        return Ok(());
    }
    if text(old, &["status", "phase"]) != "Bound" {
        let why = "Only bound persistent volume claims can be expanded";
        return Err(request.forbidden(claim, why));
    }
    let class = class_of(claim);
    let found = request.lookup.get(GROUP, "storageclasses", "", class);
    let allowed = found.is_some_and(|it| flag(&it, &["allowVolumeExpansion"]) == Some(true));
    if class.is_empty() || class != class_of(old) || !allowed {
        let why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
        return Err(request.forbidden(claim, why));
    }
    Ok(())
}

fn class_of(claim: &Value) -> &str {
    let old = meta::object::annotation(claim, BETA_CLASS);
    old.unwrap_or_else(|| text(claim, &["spec", "storageClassName"]))
}
