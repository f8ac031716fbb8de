//! Annotations that mean something for a pod.

use std::collections::HashSet;

use super::{each_container, scheduling};
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::paths;

pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

pub(super) fn annotations(e: &mut Errors, all: &Field, spec: &Field) {
    let mut containers: Option<HashSet<String>> = None;
    for (key, at) in all.entries() {
        let value = at.str();
        match key {
            MIRROR if spec.text("nodeName").is_empty() => {
                e.invalid(
                    &at,
                    "must set spec.nodeName if mirror pod annotation is set",
                );
            }
            TOLERATIONS if !value.is_empty() => match json::parse(value.as_bytes()) {
                Ok(list) => scheduling::tolerations(e, &all.child(TOLERATIONS).with(&list)),
                Err(wrong) => e.invalid_value(all, TOLERATIONS, &wrong.to_string()),
            },
            DELETION_COST if !is_deletion_cost(value) => e.invalid(&at, "must be a 32bit integer"),
            SECCOMP_POD => seccomp(e, &all.child(key).with(at.value)),
            _ if key.starts_with(SECCOMP_CONTAINER) => seccomp(e, &all.child(key).with(at.value)),
            _ => {
                if let Some(container) = key.strip_prefix(APP_ARMOR) {
                    let known = containers.get_or_insert_with(|| names(spec));
                    app_armor(e, &at, container, known);
                }
            }
        }
    }
}

/// A number without a plus or zeros before it.
fn is_deletion_cost(value: &str) -> bool {
    let odd = value.starts_with('+') || value.len() > 1 && value.starts_with('0');
    !odd && value.parse::<i32>().is_ok()
}

fn seccomp(e: &mut Errors, at: &Field) {
    match at.str() {
        "runtime/default" | "docker/default" | "unconfined" => {}
        other => match other.strip_prefix("localhost/") {
            Some(rest) => {
                let rest = json::Value::from(rest);
                paths::local_descending(e, &at.with(&rest));
            }
            None => e.invalid(at, "must be a valid seccomp profile"),
        },
    }
}

fn names(spec: &Field) -> HashSet<String> {
    let mut names = HashSet::new();
    each_container(spec, |it| {
        names.insert(it.text("name").to_owned());
    });
    names
}

fn app_armor(e: &mut Errors, at: &Field, container: &str, known: &HashSet<String>) {
    if !known.contains(container) {
        e.invalid_value(at, container, "container not found");
    }
    let profile = at.str();
    if !matches!(profile, "" | "runtime/default" | "unconfined")
        && !profile.starts_with("localhost/")
    {
        let why = format!(
            "invalid AppArmor profile name: {}",
            meta::go::quote(profile)
        );
        e.invalid(at, &why);
    }
}

/// Some say where a pod came from, and stay.
pub(super) fn updated(e: &mut Errors, new: &Field, old: &Field) {
    for (key, value) in old.pairs() {
        if new.value.get(key) == Some(value) {
            continue;
        }
        if key.starts_with(APP_ARMOR) {
            e.forbidden(
                &new.entry(key),
                "may not remove or update AppArmor annotations",
            );
        }
        if key == MIRROR {
            e.forbidden(
                &new.entry(key),
                "may not remove or update mirror pod annotation",
            );
        }
    }
    for (key, at) in new.entries().filter(|(key, _)| !old.has(key)) {
        if key.starts_with(APP_ARMOR) {
            e.forbidden(&at, "may not add AppArmor annotations");
        }
        if key == MIRROR {
            e.forbidden(&at, "may not add mirror pod annotation");
        }
    }
}

/// What is said both by an annotation and by a field must be the same.
pub(super) fn match_fields(e: &mut Errors, annotations: &Field, spec: &Field) {
    if annotations.is_empty() {
        return;
    }
    let context = spec.child("securityContext");
    let pod = context.child("seccompProfile");
    if pod.is_set() && annotations.has(SECCOMP_POD) {
        matches(e, "seccomp", &pod, &pod, annotations.text(SECCOMP_POD));
    }
    each_container(spec, |it| {
        let own = it.children(&["securityContext", "seccompProfile"]);
        let key = format!("{SECCOMP_CONTAINER}{}", it.text("name"));
        if own.is_set() && annotations.has(&key) {
            matches(e, "seccomp", &own, &own, annotations.text(&key));
        }
    });
    if spec.child("os").text("name") == "windows" {
        return;
    }
    let pod = context.child("appArmorProfile");
    each_container(spec, |it| {
        let own = it.children(&["securityContext", "appArmorProfile"]);
        let profile = if own.is_set() { own } else { pod };
        let key = format!("{APP_ARMOR}{}", it.text("name"));
        if profile.is_set() && annotations.has(&key) {
            matches(e, "apparmor", &own, &profile, annotations.text(&key));
        }
    });
}

fn matches(e: &mut Errors, what: &str, at: &Field, profile: &Field, annotation: &str) {
    let same = match profile.text("type") {
        "Unconfined" => annotation == "unconfined",
        "RuntimeDefault" => {
            annotation == "runtime/default" || what == "seccomp" && annotation == "docker/default"
        }
        "Localhost" => match annotation.strip_prefix("localhost/") {
            Some(name) if name == profile.text("localhostProfile") => true,
            Some(_) => {
                let why = format!("{what} profile in annotation and field must match");
                return e.forbidden(&at.child("localhostProfile"), &why);
            }
            None => false,
        },
        _ => true,
    };
    if !same {
        let why = format!("{what} type in annotation and field must match");
        e.forbidden(&at.child("type"), &why);
    }
}
