//! `/healthz`, `/livez`, `/readyz`: each check by name.

use std::fmt::Write as _;

use http::{Response, StatusCode};

use crate::body::Body;
use crate::documents::{Request, page_not_found};
use crate::pipeline::Api;
use crate::respond;

type Check = (&'static str, fn(&Api) -> Result<(), String>);

const CHECKS: &[Check] = &[
    ("ping", |_| Ok(())),
    ("log", |_| Ok(())),
    ("etcd", storage),
    ("poststarthook/rbac/bootstrap-roles", started),
    ("poststarthook/start-apiextensions-controllers", started),
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
    let applies = |name: &str| match kind {
        "readyz" => true,
        // A server that stops or waits for others is alive.
        _ => !matches!(name, "shutdown") && !name.starts_with("poststarthook"),
    };
    if !one.is_empty() {
        let found = CHECKS
            .iter()
            .find(|(name, _)| *name == one && applies(name));
        let Some((_, check)) = found else {
            return page_not_found();
        };
        return match check(api) {
            Ok(()) => text(StatusCode::OK, "ok".into()),
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
        if let Ok(()) = check(api) {
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
