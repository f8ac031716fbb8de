//! `/healthz`, `/livez`, `/readyz`: each check by name, in upstream's words.
//!
//! `/livez` fails only for what a new process would mend: checks of anything else are listed there, and shown as excluded
//! while they fail. The reason of a failure is shown only at the check's own path (`/readyz/etcd`); the log has it
//! in any case.

mod checks;
mod monitor;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use auth::Attributes;
use http::{Response, StatusCode};

use crate::handler::respond;
use crate::handler::respond::page_not_found;
use crate::request::NonResourceRequest;
use crate::state::Api;
use crate::transport::body::Body;
use checks::{CHECKS, applies, is_of_process};

pub use monitor::monitor;

pub(crate) async fn answer(
    api: &Api,
    request: &NonResourceRequest<'_>,
    parts: &[&str],
) -> Response<Body> {
    let (kind, one) = (parts[0], parts[1..].join("/"));
    if one.is_empty() {
        return all(api, request, kind).await;
    }
    let mut found = CHECKS.iter().filter(|(name, _)| applies(api, kind, name));
    let Some((_, check)) = found.find(|(name, _)| *name == one) else {
        return page_not_found();
    };
    let outcome = check(api);
    api.metrics().health.note(&one, kind, outcome.is_ok());
    match outcome {
        Ok(()) => respond::ok("text/plain; charset=utf-8", "ok"),
        Err(reason) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("internal server error: {reason}\n"),
        ),
    }
}

async fn all(api: &Api, request: &NonResourceRequest<'_>, kind: &str) -> Response<Body> {
    let excluded: BTreeSet<&str> = request.query.all("exclude").collect();
    let mut unknown = excluded.clone();
    let mut lines = Lines::default();
    let mut failed = false;
    for (name, check) in CHECKS.iter().filter(|(name, _)| applies(api, kind, name)) {
        if excluded.contains(name) {
            unknown.remove(*name);
            lines.add(format_args!("[+]{name} excluded: ok"));
            continue;
        }
        let outcome = check(api);
        if outcome.is_err() && kind == "livez" && !is_of_process(name) {
            lines.add(format_args!("[+]{name} excluded: ok"));
            continue;
        }
        api.metrics().health.note(name, kind, outcome.is_ok());
        match outcome {
            Ok(()) => lines.add(format_args!("[+]{name} ok")),
            Err(reason) => {
                failed = true;
                if may_read(api, request, &format!("/{kind}/{name}")).await {
                    let reason = reason.replace('\n', " ");
                    lines.add(format_args!("[-]{name} failed: {reason}"));
                } else {
                    lines.add(format_args!("[-]{name} failed: reason withheld"));
                }
            }
        }
    }
    if !unknown.is_empty() {
        let unknown: Vec<_> = unknown.iter().map(|it| format!("{it:?}")).collect();
        let unknown = unknown.join(",");
        lines.add(format_args!(
            "warn: some health checks cannot be excluded: no matches for {unknown}"
        ));
    }
    if failed {
        lines.add(format_args!("{kind} check failed"));
        return text(StatusCode::INTERNAL_SERVER_ERROR, lines.0);
    }
    if request.query.get("verbose").is_none() {
        return text(StatusCode::OK, "ok".into());
    }
    lines.add(format_args!("{kind} check passed"));
    text(StatusCode::OK, lines.0)
}

/// Upstream withholds the reason, since everybody may read the endpoint, and shows it at the path of the check. Nothing is
/// learned for it first: what there is to learn from may be what fails.
async fn may_read(api: &Api, request: &NonResourceRequest<'_>, path: &str) -> bool {
    let attributes = Attributes::path(request.user, "get", path);
    api.authorizer().authorize(attributes).await.allowed()
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("a String takes all");
    }
}

fn text(code: StatusCode, body: String) -> Response<Body> {
    let mut response = respond::with_code(code, "text/plain; charset=utf-8", body);
    response.headers_mut().insert(
        "x-content-type-options",
        http::HeaderValue::from_static("nosniff"),
    );
    response
}
