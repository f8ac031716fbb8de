//! `/healthz`, `/livez`, `/readyz`: each check by name.

use std::fmt::Write as _;

use http::{Response, StatusCode};

use crate::body::Body;
use crate::documents::{Request, page_not_found};
use crate::pipeline::Api;
use crate::respond;

type Check = (&'static str, fn(&Api) -> Result<(), String>);

/// By the names that upstream has, and monitoring knows; what upstream has a hook for after its start is part of ours.
const CHECKS: &[Check] = &[
    ("ping", |_| Ok(())),
    ("log", |_| Ok(())),
    ("loopback-serving-certificate", |_| Ok(())),
    ("etcd", storage),
    ("etcd-readiness", storage),
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

/// Under the name that probes know; whatever the store is.
fn storage(api: &Api) -> Result<(), String> {
    match api.store.stats().1.refusing {
        Some(reason) => Err(reason.to_string()),
        None => Ok(()),
    }
}

fn started(api: &Api) -> Result<(), String> {
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

pub(crate) fn answer(api: &Api, request: &Request<'_>, parts: &[&str]) -> Response<Body> {
    let (kind, one) = (parts[0], parts[1..].join("/"));
    let applies = |name: &str| match name {
        "loopback-serving-certificate" => kind != "readyz",
        // A server that stops or waits for others is alive.
        "etcd-readiness" | "informer-sync" | "shutdown" => kind == "readyz",
        _ => true,
    };
    if !one.is_empty() {
        let found = CHECKS
            .iter()
            .find(|(name, _)| *name == one && applies(name));
        let Some((_, check)) = found else {
            return page_not_found();
        };
        let outcome = check(api);
        api.metrics.health.note(&one, kind, outcome.is_ok());
        return match outcome {
            Ok(()) => respond::ok("text/plain; charset=utf-8", "ok"),
            Err(reason) => text(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("internal server error: {reason}\n"),
            ),
        };
    }
    let excluded: Vec<&str> = request.query.all("exclude").collect();
    let mut out = String::new();
    let mut failed = Vec::new();
    for (name, check) in CHECKS.iter().filter(|(name, _)| applies(name)) {
        if excluded.contains(name) {
            writeln!(out, "[+]{name} excluded: ok").expect("a String takes all");
            continue;
        }
        let outcome = check(api);
        api.metrics.health.note(name, kind, outcome.is_ok());
        if outcome.is_ok() {
            writeln!(out, "[+]{name} ok")
        } else {
            failed.push(*name);
            writeln!(out, "[-]{name} failed: reason withheld")
        }
        .expect("a String takes all");
    }
    if failed.is_empty() {
        if request.query.get("verbose").is_none() {
            return text(StatusCode::OK, "ok".into());
        }
        return text(StatusCode::OK, format!("{out}{kind} check passed\n"));
    }
    let body = format!("{out}{kind} check failed\n");
    text(StatusCode::INTERNAL_SERVER_ERROR, body)
}

fn text(code: StatusCode, body: String) -> Response<Body> {
    let mut response = respond::with_code(code, "text/plain; charset=utf-8", body);
    response.headers_mut().insert(
        "x-content-type-options",
        http::HeaderValue::from_static("nosniff"),
    );
    response
}
