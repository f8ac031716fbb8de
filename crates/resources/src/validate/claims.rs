//! Claims of volumes.

use json::Value;

use super::diff::diff;
use super::errors::Errors;
use super::field::Field;
use super::go_form::go_form;
use super::object_meta::{self, Named};
use super::pod::resources::quantity_value;
use super::words::{IMMUTABLE, quantity, read_quantity};

pub(super) const ACCESS_MODES: &[&str] = &[
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
pub(super) const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    spec(e, &it.child("spec"));
}

/// Inside a pod's volume: only labels and annotations of the claim are the user's.
pub(super) fn template(e: &mut Errors, it: &Field) {
    let metadata = it.child("metadata");
    e.annotations(&metadata.child("annotations"));
    e.labels(&metadata.child("labels"));
    for (name, _) in metadata.pairs() {
        if !matches!(name, "annotations" | "labels") && !metadata.child(name).is_empty() {
            e.forbidden(&metadata.child(name), "cannot be set");
        }
    }
    spec(e, &it.child("spec"));
}

pub(super) fn access_modes(e: &mut Errors, modes: &Field) {
    for mode in modes.list() {
        e.one_of(&modes.with(mode), ACCESS_MODES);
    }
    let one_pod = |it: &str| it == "ReadWriteOncePod";
    if modes.texts().any(one_pod)
        && modes
            .texts()
            .any(|it| !one_pod(it) && ACCESS_MODES.contains(&it))
    {
        e.forbidden(
            modes,
            "may not use ReadWriteOncePod with other access modes",
        );
    }
}

pub(super) fn spec(e: &mut Errors, it: &Field) {
    let modes = it.child("accessModes");
    if modes.is_empty() {
        e.required(&modes, "at least 1 access mode is required");
    }
    e.label_selector(&it.child("selector"));
    access_modes(e, &modes);
    let resources = it.child("resources");
    let size = resources.entry("storage");
    let requests = resources.child("requests");
    match requests.value.get("storage").filter(|it| !it.is_null()) {
        None => e.required(&size, ""),
        Some(value) => {
            let size = size.with(value);
            match read_quantity(value) {
                Some(it) if it.sign() <= 0 => {
                    e.invalid_value(&size, it.to_string(), "must be greater than zero");
                }
                _ => quantity_value(e, &size, "storage"),
            }
        }
    }
    class(e, &it.child("storageClassName"));
    e.optional_one_of(&it.child("volumeMode"), VOLUME_MODES);
    let (source, reference) = (it.child("dataSource"), it.child("dataSourceRef"));
    data_source(e, &source);
    data_source(e, &reference);
    let shown = || source.path.to_string();
    let namespace = reference.child("namespace");
    if !namespace.is_empty() {
        if source.is_set() {
            let text = "may not be specified when dataSourceRef.namespace is specified";
            e.invalid_value(it, shown(), text);
        }
    } else if source.is_set() && reference.is_set() {
        let key = |it: &Field| ["apiGroup", "kind", "name"].map(|name| it.text(name).to_owned());
        if key(&source) != key(&reference) {
            e.invalid_value(it, shown(), "must match dataSourceRef");
        }
    }
    class(e, &it.child("volumeAttributesClassName"));
}

fn class(e: &mut Errors, it: &Field) {
    if !it.is_empty() {
        e.dns_subdomain(it);
    }
}

fn data_source(e: &mut Errors, it: &Field) {
    if !it.is_set() {
        return;
    }
    e.required_text(&it.child("name"));
    e.required_text(&it.child("kind"));
    let group = it.child("apiGroup");
    if group.is_empty() {
        if it.text("kind") != "PersistentVolumeClaim" {
            let text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            e.invalid_value(it, it.text("kind"), text);
        }
    } else {
        e.dns_subdomain(&group);
    }
    let namespace = it.child("namespace");
    if !namespace.is_empty() {
        e.dns_label(&namespace);
    }
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    create(e, new);
    let (it, was) = (new.child("spec"), old.child("spec"));
    let (mut munged, mut had) = (it.value.clone(), was.value.clone());
    allowed(e, new, old, &mut munged, &mut had);
    if !e.same_at(&it, &munged, &had) {
        let form = |it| go_form("PersistentVolumeClaimSpec", it);
        let (munged, had) = (form(&munged), form(&had));
        let text = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        e.forbidden(&it, &format!("{text}\n{}", diff(&had, &munged)));
    }
    let size = |it: &Value, path: &[&str]| it.at(path).and_then(read_quantity);
    let storage = ["spec", "resources", "requests", "storage"];
    if let Some(before) = size(old.value, &storage)
        && let now = size(new.value, &storage)
        && now.as_ref() < Some(&before)
        && now <= size(old.value, &["status", "capacity", "storage"])
    {
        let at = new.children(&storage);
        e.forbidden(&at, "field can not be less than status.capacity");
    }
    let mode = it.child("volumeMode");
    if !e.same(&mode, &was.child("volumeMode")) {
        e.invalid(&new.child("volumeMode").with(mode.value), IMMUTABLE);
    }
    let class = it.child("volumeAttributesClassName");
    let changed = class.value != was.child("volumeAttributesClassName").value;
    if changed && old.child("status").has("currentVolumeAttributesClassName") {
        if !class.is_set() {
            let text = "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil";
            e.forbidden(&class, text);
        } else if class.is_empty() {
            let text = "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil";
            e.forbidden(&class, text);
        }
    }
}

/// Takes back what may change: the volume once, the class where there was none, sizes and attributes of bound claims.
fn allowed(e: &mut Errors, new: &Field, old: &Field, munged: &mut Value, had: &mut Value) {
    let put = |to: &mut Value, name: &str, from: Option<&Value>| {
        if let Some(object) = to.as_object_mut() {
            match from {
                Some(value) => drop(object.insert(name, value.clone())),
                None => drop(object.remove(name)),
            }
        }
    };
    let (it, was) = (new.child("spec"), old.child("spec"));
    if was.text("volumeName").is_empty() {
        put(had, "volumeName", it.value.get("volumeName"));
    }
    let annotation = |of: &Field| of.value.at(&["metadata", "annotations", CLASS]).cloned();
    let (marked, was_marked) = (annotation(new), annotation(old));
    let class = it.value.get("storageClassName").filter(|it| !it.is_null());
    let unset = !was.has("storageClassName");
    let upgraded = was_marked.is_some()
        && unset
        && class == was_marked.as_ref()
        && (marked.is_none() || marked == was_marked);
    if upgraded {
        put(munged, "storageClassName", None);
    } else {
        if marked != was_marked {
            let metadata = new.child("metadata");
            let at = metadata.child("annotations");
            e.invalid(
                &at.child(CLASS)
                    .with(marked.as_ref().unwrap_or(&Value::Null)),
                IMMUTABLE,
            );
        }
        if class.is_some() && unset && (was_marked.is_none() || class == was_marked.as_ref()) {
            put(munged, "storageClassName", None);
        }
    }
    if new.child("status").text("phase") == "Bound" {
        let size = was.value.at(&["resources", "requests", "storage"]);
        if let Some(requests) = munged.at_mut(&["resources", "requests"]) {
            put(requests, "storage", size);
        }
        let name = "volumeAttributesClassName";
        put(munged, name, was.value.get(name));
    }
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    if new.child("metadata").text("resourceVersion").is_empty() {
        e.required(&new.child("resourceVersion"), "");
    }
    let modes = new.children(&["spec", "accessModes"]);
    if modes.is_empty() {
        e.push(meta::field::Error::required("Spec.accessModes", ""));
    }
    let status = new.child("status");
    for (_, at) in status.child("capacity").entries() {
        basic_resource(e, &at);
    }
    let resizes = status.child("allocatedResourceStatuses");
    for (name, value) in resizes.pairs() {
        resource_key(e, &resizes, name);
        let known = &[
            "ControllerResizeInProgress",
            "ControllerResizeInfeasible",
            "NodeResizeInProgress",
            "NodeResizeInfeasible",
            "NodeResizePending",
        ];
        if !known.contains(&value.as_str().unwrap_or_default()) {
            e.push(meta::field::Error::not_supported(resizes.path, name, known));
        }
    }
    let allocated = status.child("allocatedResources");
    for (name, at) in allocated.entries() {
        if resource_key(e, &allocated, name) && basic_resource(e, &at) {
            quantity_value(e, &at, "storage");
        }
    }
}

fn resource_key(e: &mut Errors, at: &Field, name: &str) -> bool {
    let before = e.len();
    for wrong in meta::names::qualified_name(name) {
        e.invalid_value(at, name, &wrong);
    }
    if e.len() == before && super::quota_names::is_native(name) && name != "storage" {
        e.push(meta::field::Error::not_supported(
            at.path,
            name,
            ["storage"],
        ));
    }
    e.len() == before
}

pub(super) fn basic_resource(e: &mut Errors, at: &Field) -> bool {
    let negative = quantity(at).filter(|it| it.value() < 0);
    if let Some(quantity) = &negative {
        e.invalid_value(at, quantity.value(), "must be a valid resource quantity");
    }
    negative.is_none()
}
