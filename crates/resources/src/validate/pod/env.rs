//! Environment variables and where they come from.

use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::paths;
use crate::validate::words::quantity;
use meta::names;

const FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

pub(super) fn variables(e: &mut Errors, all: &Field) {
    for it in all.items() {
        let name = it.child("name");
        if e.required_text(&name) {
            e.invalid_all(&name, names::relaxed_env_var_name(name.str()));
        }
        let from = it.child("valueFrom");
        if from.is_set() {
            value_from(e, &from, it.text("value"));
        }
    }
}

fn value_from(e: &mut Errors, from: &Field, value: &str) {
    let mut sources = 0;
    let mut source = |name: &'static str, rule: &mut dyn FnMut(&Field)| {
        if from.has(name) {
            sources += 1;
            rule(&from.child(name));
        }
    };
    source("fieldRef", &mut |it| field_ref(e, it, FIELDS));
    source("resourceFieldRef", &mut |it| {
        resource_field_ref(e, it, false);
    });
    source("configMapKeyRef", &mut |it| key_ref(e, it));
    source("secretKeyRef", &mut |it| key_ref(e, it));
    source("fileKeyRef", &mut |it| file_key_ref(e, it));
    let wrong = match sources {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        }
        _ if !value.is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    e.invalid_value(from, "", wrong);
}

/// `metadata.labels['key']` and the like may have any key that is a valid one.
pub(super) fn field_ref(e: &mut Errors, it: &Field, fields: &[&str]) {
    let path = it.child("fieldPath");
    if !e.required_text(&it.child("apiVersion")) || !e.required_text(&path) {
        return;
    }
    let text = path.str();
    let unknown = if it.text("apiVersion") != "v1" {
        format!("unsupported pod version: {}", it.text("apiVersion"))
    } else if let Some((of, key)) = subscript(text) {
        match of {
            "metadata.annotations" => return subscripted(e, it, &key.to_lowercase()),
            "metadata.labels" => return subscripted(e, it, key),
            _ => format!("field label does not support subscript: {text}"),
        }
    } else if CONVERTIBLE.contains(&text) {
        return e.one_of(&path, fields);
    } else if text == "spec.host" {
        return;
    } else {
        format!("field label not supported: {text}")
    };
    e.invalid(&path, &format!("error converting fieldPath: {unknown}"));
}

fn subscripted(e: &mut Errors, it: &Field, key: &str) {
    for wrong in names::qualified_name(key) {
        e.invalid_value(it, key, &wrong);
    }
}

/// What the conversion of field labels knows; which of these a place allows is another question.
const CONVERTIBLE: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

fn subscript(path: &str) -> Option<(&str, &str)> {
    let (of, rest) = path.strip_suffix("']")?.split_once("['")?;
    (!of.is_empty()).then_some((of, rest))
}

const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const HUGE_PAGES: [&str; 2] = ["limits.hugepages-", "requests.hugepages-"];
const BYTE_DIVISORS: &[&str] = &[
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
];

pub(super) fn resource_field_ref(e: &mut Errors, it: &Field, in_volume: bool) {
    let resource = it.child("resource");
    let container = it.child("containerName");
    let huge = HUGE_PAGES
        .iter()
        .any(|prefix| resource.str().starts_with(prefix));
    if in_volume && container.is_empty() {
        e.required(&container, "");
    } else if e.required_text(&resource) && !huge {
        e.one_of(&resource, RESOURCES);
    }
    let divisor = it.child("divisor");
    let Some(quantity) = quantity(&divisor) else {
        return;
    };
    if quantity.is_zero() {
        return;
    }
    let bytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
    let (allowed, named, of): (&[&str], _, _) = match resource.str() {
        "limits.cpu" | "requests.cpu" => (&["1m", "1"], "1m and 1", "cpu"),
        "limits.memory" | "requests.memory" => (BYTE_DIVISORS, bytes, "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (BYTE_DIVISORS, bytes, "local ephemeral storage")
        }
        _ if huge => (BYTE_DIVISORS, bytes, "hugepages"),
        _ => return,
    };
    if !allowed.contains(&quantity.to_string().as_str()) {
        let why = format!("only divisor's values {named} are supported with the {of} resource");
        e.invalid_value(&divisor, resource.str(), &why);
    }
}

fn key_ref(e: &mut Errors, it: &Field) {
    e.dns_subdomain(&it.child("name"));
    let key = it.child("key");
    if e.required_text(&key) {
        e.config_key(&key);
    }
}

fn file_key_ref(e: &mut Errors, it: &Field) {
    let (key, volume, path) = (it.child("key"), it.child("volumeName"), it.child("path"));
    if e.required_text(&key) {
        e.invalid_all(&key, names::relaxed_env_var_name(key.str()));
    }
    if e.required_text(&volume) {
        e.dns_label(&volume);
    }
    if e.required_text(&path) {
        paths::no_backsteps(e, &path);
    }
}

pub(super) fn sources(e: &mut Errors, all: &Field) {
    for it in all.items() {
        let prefix = it.child("prefix");
        if !prefix.is_empty() {
            e.invalid_all(&prefix, names::relaxed_env_var_name(prefix.str()));
        }
        let mut sources = 0;
        for name in ["configMapRef", "secretRef"] {
            if it.has(name) {
                sources += 1;
                let of = it.child(name);
                let name = of.child("name");
                if e.required_text(&name) {
                    e.invalid_all(&name, names::name_is_dns_subdomain(name.str(), true));
                }
            }
        }
        match sources {
            0 => e.invalid_value(
                all,
                "",
                "must specify one of: `configMapRef` or `secretRef`",
            ),
            1 => {}
            _ => e.invalid_value(
                all,
                "",
                "may not have more than one field specified at a time",
            ),
        }
    }
}
