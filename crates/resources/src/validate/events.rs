//! Events, whose rules depend on the group they come by.

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};

fn legacy(e: &mut Errors, it: &Field, involved: &str, controller: &str, message: &str) {
    let metadata = it.child("metadata");
    let own = metadata.text("namespace");
    let object = it.child_as(involved, "involvedObject");
    let namespace = object.child("namespace");
    let text = "does not match event.namespace";
    if !it.has("eventTime") {
        let matches = if namespace.is_empty() {
            matches!(own, "" | "default")
        } else {
            own == namespace.str()
        };
        if !matches {
            e.invalid(&namespace, text);
        }
        return;
    }
    if namespace.is_empty() && !matches!(own, "default" | "kube-system") {
        e.invalid(&namespace, text);
    }
    let by = it.child(controller);
    e.required_text(&by);
    e.qualified_name(&by);
    for name in ["reportingInstance", "action", "reason"] {
        let field = it.child(name);
        e.required_text(&field);
        if field.len() > 128 {
            e.invalid_value(&field, "", "can have at most 128 characters");
        }
    }
    if it.text(message).len() > 1024 {
        e.invalid_value(&it.child("message"), "", "can have at most 1024 characters");
    }
}

pub(crate) mod core {
    //! By the core group, as it always was.

    use super::{Errors, Field, legacy};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        legacy(e, it, "involvedObject", "reportingComponent", "message");
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, _: &Field) {
        create(e, new);
    }
}

pub(crate) fn create(e: &mut Errors, it: &Field) {
    legacy(e, it, "regarding", "reportingController", "note");
    object_meta::create(e, it, Named::SUBDOMAIN);
    series(e, &it.child("series"));
    let time = it.child("eventTime");
    if !time.is_set() {
        e.required(&time, "");
    }
    let kind = it.child("type");
    if !matches!(kind.str(), "Normal" | "Warning") {
        e.invalid_value(&kind, "", &format!("has invalid value: {}", kind.str()));
    }
    for (name, reported) in [
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
    ] {
        if it.has(name) {
            e.invalid_value(&it.child(reported), "", "needs to be unset");
        }
    }
    if it.number("deprecatedCount") != 0 {
        e.invalid_value(&it.child("count"), "", "needs to be unset");
    }
    let source = it.child("deprecatedSource");
    if !source.text("component").is_empty() || !source.text("host").is_empty() {
        e.invalid_value(&it.child("source"), "", "needs to be unset");
    }
}

fn series(e: &mut Errors, it: &Field) {
    if it.is_set() {
        let count = it.child("count");
        if count.int() < 2 {
            e.invalid_value(&count, "", "should be at least 2");
        }
        let time = it.child("lastObservedTime");
        if !time.is_set() {
            e.required(&time, "");
        }
    }
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    legacy(e, new, "regarding", "reportingController", "note");
    object_meta::update(e, new, old);
    if new.child("series").value != old.child("series").value {
        series(e, &new.child("series"));
    }
    for (name, reported) in [
        ("regarding", "involvedObject"),
        ("reason", "reason"),
        ("note", "message"),
        ("deprecatedSource", "source"),
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("reason", "reason"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingController", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        e.immutable(&new.child_as(name, reported), &old.child(name));
    }
}
