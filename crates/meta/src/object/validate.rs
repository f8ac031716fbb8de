//! `ValidateObjectMeta` and what it is made of, with upstream's order and texts.

mod condition;

use std::collections::BTreeSet;

use json::{Object, Value};

use super::{
    FINALIZER_DELETE_DEPENDENTS, FINALIZER_ORPHAN_DEPENDENTS, OwnerReference, annotations, field,
    finalizers, generate_name_prefix, generation, is_being_deleted, items, labels, name, namespace,
    resource_version,
};
use crate::field::{Error, ErrorList, Path};
use crate::go::{is_print, quote_all};
use crate::gvk::GroupVersion;
use crate::names::{self, NameFn};
use crate::selector::validate_labels;
use crate::time::Time;

pub use condition::validate_conditions;

pub const TOTAL_ANNOTATION_SIZE_LIMIT: usize = 256 * 1024;
const FIELD_MANAGER_LENGTH: usize = 128;
const SUBRESOURCE_LENGTH: usize = 256;

/// For an object that is to be created. `path` is usually `metadata`.
pub fn validate_object_meta(
    object: &Value,
    namespaced: bool,
    name_fn: NameFn,
    path: &Path,
) -> Vec<Error> {
    let mut errors = ErrorList::default();
    let prefix = generate_name_prefix(object);
    if !prefix.is_empty() {
        let wrong = name_fn(prefix, true).into_iter();
        errors.extend(wrong.map(|it| Error::invalid(path.child("generateName"), prefix, it)));
    }
    let name = name(object);
    if name.is_empty() {
        errors.push(Error::required(
            path.child("name"),
            "name or generateName is required",
        ));
    } else {
        let wrong = name_fn(name, false).into_iter();
        errors.extend(wrong.map(|it| Error::invalid(path.child("name"), name, it)));
    }
    errors.extend(wrong_namespace(
        object,
        namespaced,
        &path.child("namespace"),
    ));
    errors.extend(negative_generation(object, path));
    errors.extend(maps_and_owners(object, path));
    errors.extend(validate_finalizers(object, &path.child("finalizers")));
    errors.extend(validate_managed_fields(
        items(object, "managedFields"),
        &path.child("managedFields"),
    ));
    errors.into_vec()
}

fn wrong_namespace(object: &Value, namespaced: bool, path: &Path) -> Vec<Error> {
    let namespace = namespace(object);
    match (namespaced, namespace.is_empty()) {
        (true, true) => vec![Error::required(path, "")],
        (true, false) => {
            let wrong = names::name_is_dns_label(namespace, false).into_iter();
            wrong
                .map(|it| Error::invalid(path, namespace, it))
                .collect()
        }
        (false, true) => Vec::new(),
        (false, false) => vec![Error::forbidden(path, "not allowed on this type")],
    }
}

fn negative_generation(object: &Value, path: &Path) -> Option<Error> {
    let it = generation(object);
    let detail = "must be greater than or equal to 0";
    (it < 0).then(|| Error::invalid(path.child("generation"), it, detail))
}

fn maps_and_owners(object: &Value, path: &Path) -> Vec<Error> {
    let mut errors = ErrorList::default();
    if let Some(labels) = labels(object) {
        errors.extend(validate_labels(labels, &path.child("labels")));
    }
    if let Some(annotations) = annotations(object) {
        errors.extend(validate_annotations(
            annotations,
            &path.child("annotations"),
        ));
    }
    let owners = items(object, "ownerReferences");
    errors.extend(validate_owner_references(
        owners,
        &path.child("ownerReferences"),
    ));
    errors.into_vec()
}

/// For what an object is to become.
pub fn validate_object_meta_update(new: &Value, old: &Value, path: &Path) -> Vec<Error> {
    let mut errors = ErrorList::default();
    if is_being_deleted(old) {
        errors.extend(new_finalizers(new, old, &path.child("finalizers")));
    }
    if resource_version(new).is_empty() {
        let detail = "must be specified for an update";
        errors.push(Error::invalid(path.child("resourceVersion"), "", detail));
    }
    errors.extend(negative_generation(new, path));
    if generation(new) < generation(old) {
        let detail = "must not be decremented";
        errors.push(Error::invalid(
            path.child("generation"),
            generation(new),
            detail,
        ));
    }
    for key in ["name", "namespace", "uid"] {
        let text = |it| field(it, key).and_then(Value::as_str).unwrap_or_default();
        let (new, old) = (text(new).into(), text(old).into());
        errors.extend(validate_immutable_field(&new, &old, &path.child(key)));
    }
    for key in ["creationTimestamp", "deletionTimestamp"] {
        let (new, old) = (time_or_null(new, key), time_or_null(old, key));
        errors.extend(validate_immutable_field(&new, &old, &path.child(key)));
    }
    let key = "deletionGracePeriodSeconds";
    let (before, after) = (value_or_null(old, key), value_or_null(new, key));
    errors.extend(validate_immutable_field(after, before, &path.child(key)));
    errors.extend(maps_and_owners(new, path));
    errors.extend(validate_managed_fields(
        items(new, "managedFields"),
        &path.child("managedFields"),
    ));
    errors.into_vec()
}

fn value_or_null<'a>(object: &'a Value, key: &str) -> &'a Value {
    field(object, key).unwrap_or(&Value::Null)
}

/// As upstream writes it: the same instant may come in more than one form.
fn time_or_null(object: &Value, key: &str) -> Value {
    let value = value_or_null(object, key);
    match value.as_str().map(Time::parse) {
        Some(Ok(time)) => time.to_string().into(),
        _ => value.clone(),
    }
}

pub fn validate_immutable_field(new: &Value, old: &Value, path: &Path) -> Option<Error> {
    (new != old).then(|| Error::invalid(path, new.clone(), "field is immutable"))
}

fn new_finalizers(new: &Value, old: &Value, path: &Path) -> Option<Error> {
    let old: BTreeSet<&str> = finalizers(old).collect();
    let extra: BTreeSet<&str> = finalizers(new).filter(|it| !old.contains(it)).collect();
    (!extra.is_empty()).then(|| {
        let extra = quote_all(extra);
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{extra}}}"
        );
        Error::forbidden(path, detail)
    })
}

pub fn validate_annotations(annotations: &Object, path: &Path) -> Vec<Error> {
    let mut errors = ErrorList::default();
    let mut size = 0;
    for (key, value) in annotations.iter() {
        for wrong in names::qualified_name(&key.to_lowercase()) {
            errors.push_with(|| Error::invalid(path, key, wrong));
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > TOTAL_ANNOTATION_SIZE_LIMIT {
        errors.push(Error::too_long(path, TOTAL_ANNOTATION_SIZE_LIMIT));
    }
    errors.into_vec()
}

pub fn validate_owner_references(references: &[Value], path: &Path) -> Vec<Error> {
    let mut errors = ErrorList::default();
    let mut controller: Option<String> = None;
    for (index, reference) in references.iter().enumerate() {
        let reference = OwnerReference::from_value(reference);
        validate_owner_reference(&reference, &path.index(index), &mut errors);
        if reference.controller != Some(true) {
            continue;
        }
        let this = format!("{}/{}", reference.kind, reference.name);
        let Some(first) = &controller else {
            controller = Some(this);
            continue;
        };
        errors.push_with(|| {
            let all = references
                .iter()
                .map(|it| OwnerReference::from_value(it).to_value());
            let detail = format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
            );
            Error::invalid(path, all.collect::<Value>(), detail)
        });
    }
    errors.into_vec()
}

fn validate_owner_reference(reference: &OwnerReference, path: &Path, errors: &mut ErrorList) {
    let version = GroupVersion::parse(reference.api_version);
    if reference.api_version.is_empty() {
        errors.push_with(|| Error::required(path.child("apiVersion"), "must not be empty"));
    } else if !version.is_ok_and(|it| !it.version.is_empty()) {
        errors.push_with(|| {
            Error::invalid(
                path.child("apiVersion"),
                reference.api_version,
                "must be <group>/<version> or <version>",
            )
        });
    }
    for (key, text) in [
        ("kind", reference.kind),
        ("name", reference.name),
        ("uid", reference.uid),
    ] {
        if text.is_empty() {
            errors.push_with(|| Error::required(path.child(key), "must not be empty"));
        }
    }
    // Events come and go; nothing should go with them.
    if (reference.api_version, reference.kind) == ("v1", "Event") {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push_with(|| Error::invalid(path, reference.to_value(), detail));
    }
}

pub fn validate_finalizer_name(name: &str, path: &Path) -> Vec<Error> {
    let wrong = names::qualified_name(name).into_iter();
    wrong.map(|it| Error::invalid(path, name, it)).collect()
}

pub fn validate_finalizers(object: &Value, path: &Path) -> Vec<Error> {
    let all = || finalizers(object);
    let mut errors = ErrorList::default();
    for name in all() {
        for wrong in names::qualified_name(name) {
            errors.push_with(|| Error::invalid(path, name, wrong));
        }
    }
    let has = |finalizer| all().any(|it| it == finalizer);
    if has(FINALIZER_ORPHAN_DEPENDENTS) && has(FINALIZER_DELETE_DEPENDENTS) {
        let detail = format!(
            "finalizer {FINALIZER_ORPHAN_DEPENDENTS} and {FINALIZER_DELETE_DEPENDENTS} cannot be both set"
        );
        errors.push_with(|| Error::invalid(path, all().collect::<Value>(), detail));
    }
    errors.into_vec()
}

pub fn validate_managed_fields(entries: &[Value], path: &Path) -> Vec<Error> {
    let mut errors = ErrorList::default();
    for (index, entry) in entries.iter().enumerate() {
        let path = path.index(index);
        let text = |key| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("operation") {
            "Apply" | "Update" => {}
            "" => {
                errors.push_with(|| Error::required(path.child("operation"), "must not be empty"));
            }
            other => {
                let path = path.child("operation");
                errors.push_with(|| Error::not_supported(path, other, ["Apply", "Update"]));
            }
        }
        match text("fieldsType") {
            "" | "FieldsV1" => {}
            other => {
                let path = path.child("fieldsType");
                errors.push_with(|| Error::invalid(path, other, "must be `FieldsV1`"));
            }
        }
        errors.extend(validate_field_manager(
            text("manager"),
            &path.child("manager"),
        ));
        if text("subresource").len() > SUBRESOURCE_LENGTH {
            errors.push(Error::too_long(
                path.child("subresource"),
                SUBRESOURCE_LENGTH,
            ));
        }
    }
    errors.into_vec()
}

pub fn validate_field_manager(manager: &str, path: &Path) -> Vec<Error> {
    let mut errors = ErrorList::default();
    if manager.len() > FIELD_MANAGER_LENGTH {
        errors.push(Error::too_long(path, FIELD_MANAGER_LENGTH));
    }
    for (at, it) in manager.char_indices().filter(|(_, it)| !is_print(*it)) {
        errors.push_with(|| {
            let character = u32::from(it);
            let detail = format!("invalid character U+{character:04X} (at position {at})");
            Error::invalid(path, manager, detail)
        });
    }
    errors.into_vec()
}
