//! The checks behind `/healthz`, `/livez` and `/readyz`.

use crate::state::Api;

/// A name and what is looked at; errs with the reason.
pub(super) type Check = (&'static str, fn(&Api) -> Result<(), String>);

/// By the names that upstream has, and monitoring knows; what upstream has a hook for after its start is part of ours.
/// `storage` is our own: a store that is not etcd.
pub(super) const CHECKS: &[Check] = &[
    ("ping", |_| Ok(())),
    ("log", |_| Ok(())),
    ("loopback-serving-certificate", |_| Ok(())),
    ("etcd", etcd),
    ("etcd-readiness", etcd),
    ("storage", storage),
    ("informer-sync", started),
    (
        "poststarthook/start-apiserver-admission-initializer",
        started,
    ),
    ("poststarthook/generic-apiserver-start-informers", started),
    (
        "poststarthook/priority-and-fairness-config-consumer",
        started,
    ),
    ("poststarthook/priority-and-fairness-filter", started),
    ("poststarthook/storage-object-count-tracker-hook", started),
    ("poststarthook/start-apiextensions-informers", started),
    ("poststarthook/start-apiextensions-controllers", started),
    ("poststarthook/crd-informer-synced", started),
    ("poststarthook/start-system-namespaces-controller", started),
    ("poststarthook/peer-endpoint-reconciler-controller", started),
    (
        "poststarthook/start-cluster-authentication-info-controller",
        started,
    ),
    (
        "poststarthook/start-kube-apiserver-identity-lease-controller",
        started,
    ),
    (
        "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
        started,
    ),
    ("poststarthook/storage-readiness", started),
    (
        "poststarthook/start-legacy-token-tracking-controller",
        started,
    ),
    ("poststarthook/start-service-ip-repair-controllers", started),
    ("poststarthook/rbac/bootstrap-roles", started),
    (
        "poststarthook/scheduling/bootstrap-system-priority-classes",
        started,
    ),
    (
        "poststarthook/priority-and-fairness-config-producer",
        started,
    ),
    ("poststarthook/bootstrap-controller", started),
    (
        "poststarthook/start-kubernetes-service-cidr-controller",
        started,
    ),
    ("poststarthook/start-kube-aggregator-informers", started),
    (
        "poststarthook/apiservice-status-local-available-controller",
        started,
    ),
    (
        "poststarthook/apiservice-status-remote-available-controller",
        started,
    ),
    ("poststarthook/apiservice-registration-controller", started),
    ("poststarthook/apiservice-discovery-controller", started),
    ("poststarthook/kube-apiserver-autoregistration", started),
    ("autoregister-completion", started),
    ("poststarthook/apiservice-openapi-controller", started),
    ("poststarthook/apiservice-openapiv3-controller", started),
    ("shutdown", stopping),
];

/// Which of the checks an endpoint has.
pub(super) fn applies(api: &Api, kind: &str, name: &str) -> bool {
    match name {
        "loopback-serving-certificate" => kind != "readyz",
        "etcd-readiness" | "informer-sync" | "shutdown" => kind == "readyz",
        "storage" => !is_etcd(api),
        _ => true,
    }
}

/// Whether a check is about the process itself. Nothing else counts for liveness: a new process would find the same
/// full disk, or the same silent etcd.
pub(super) fn is_of_process(name: &str) -> bool {
    matches!(name, "ping" | "log" | "loopback-serving-certificate")
}

fn is_etcd(api: &Api) -> bool {
    api.store().stats().1.kind == "etcd"
}

pub(super) fn etcd(api: &Api) -> Result<(), String> {
    if is_etcd(api) { writes(api) } else { Ok(()) }
}

pub(super) fn storage(api: &Api) -> Result<(), String> {
    if is_etcd(api) { Ok(()) } else { writes(api) }
}

fn writes(api: &Api) -> Result<(), String> {
    match api.store().stats().1.refusing {
        Some(reason) => Err(reason.to_string()),
        None => Ok(()),
    }
}

pub(super) fn started(api: &Api) -> Result<(), String> {
    if api.is_ready() {
        Ok(())
    } else {
        Err("not finished".into())
    }
}

fn stopping(api: &Api) -> Result<(), String> {
    if api.is_leaving() {
        Err("process is shutting down".into())
    } else {
        Ok(())
    }
}

/// Not a check of the endpoints: without checkpoints the log grows, and nothing else would report why.
pub(super) fn checkpoints(api: &Api) -> Result<(), String> {
    match api.store().stats().1.checkpoint_error {
        Some(reason) => Err(reason.to_string()),
        None => Ok(()),
    }
}
