//! Claims of devices and their classes: their shape. What is allocated, and expressions, are not looked at.

use json::Value;

use super::errors::Errors;
use super::field::{Field, text};
use super::object_meta::{self, Named};

pub(super) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    claim(e, &it.children(&["spec", "devices"]));
}

pub(super) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::create(e, new, Named::SUBDOMAIN);
    object_meta::update(e, new, old);
    e.late(|e| e.immutable(&new.child("spec"), &old.child("spec")));
}

pub(super) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
}

fn claim(e: &mut Errors, it: &Field) {
    let requests = it.child("requests");
    if requests.len() > 32 {
        return e.late(|e| e.too_many(&requests, 32));
    }
    for request in requests.items() {
        self::request(e, &request);
    }
    e.late(|e| duplicates(e, &requests));
    let known = |name: &str| {
        let (name, sub) = name
            .split_once('/')
            .map_or((name, None), |(name, sub)| (name, Some(sub)));
        let own = requests.list().iter().find(|it| text(it, "name") == name);
        let subs = own
            .and_then(|it| it.get("firstAvailable"))
            .and_then(Value::as_array);
        own.is_some()
            && sub.is_none_or(|sub| subs.into_iter().flatten().any(|it| text(it, "name") == sub))
    };
    for list in ["constraints", "config"] {
        for entry in it.child(list).items() {
            for name in entry.child("requests").items() {
                if !known(name.str()) {
                    let text = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
                    e.invalid(&name, text);
                }
            }
        }
    }
}

fn duplicates(e: &mut Errors, all: &Field) {
    for (index, it) in all.items().enumerate() {
        let name = it.text("name");
        if all.list()[..index]
            .iter()
            .any(|other| text(other, "name") == name)
        {
            e.duplicate_value(&it, name);
        }
    }
}

fn request(e: &mut Errors, it: &Field) {
    name(e, it);
    let (exactly, first) = (it.child("exactly"), it.child("firstAvailable"));
    let one = "exactly one of `exactly` or `firstAvailable` is required";
    match (exactly.is_set(), first.is_empty()) {
        (false, true) => e.required(it, one),
        (true, false) => {
            let why = format!("{one}, but multiple fields are set");
            e.invalid_value(it, Value::Null, &why);
        }
        (true, true) => exact(e, &exactly),
        (false, false) => {
            for sub in first.items() {
                name(e, &sub);
                exact(e, &sub);
            }
        }
    }
}

fn name(e: &mut Errors, it: &Field) {
    let name = it.child("name");
    if e.required_text(&name) {
        e.dns_label(&name);
    }
}

fn exact(e: &mut Errors, it: &Field) {
    let (class, count) = (it.child("deviceClassName"), it.child("count"));
    if e.required_text(&class) {
        e.dns_subdomain(&class);
    }
    let mode = it.child("allocationMode");
    match mode.str() {
        "All" if count.int() != 0 => {
            e.invalid(&count, "must not be specified when allocationMode is 'All'");
        }
        "All" => {}
        "ExactCount" => e.positive(&count),
        _ => e.late(|e| e.not_supported(&mode, &["All", "ExactCount"])),
    }
}

pub(super) mod templates {
    //! `ResourceClaimTemplate`

    use super::{Errors, Field, Named, claim, object_meta};

    pub(in crate::validate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        claim(e, &it.children(&["spec", "spec", "devices"]));
    }

    pub(in crate::validate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::create(e, new, Named::SUBDOMAIN);
        object_meta::update(e, new, old);
        e.late(|e| e.immutable(&new.child("spec"), &old.child("spec")));
    }
}

pub(super) mod classes {
    //! `DeviceClass`, and other kinds of the cluster of which only metadata is looked at.

    use super::{Errors, Field, Named, object_meta};

    pub(in crate::validate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    }

    pub(in crate::validate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        create(e, new);
        object_meta::update(e, new, old);
    }
}
