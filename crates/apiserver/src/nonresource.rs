//! Requests for paths that are no resources: discovery, version, health, metrics, the keys of the token issuer.
//!
//! **Belongs here:** paths that are no resources.
//! **May use:** `catalog`, `discovery`, `flow`, `handler`, `observe`, `request`, `runtime`, `state`, `transport`.

pub(crate) mod debug_flags;
pub(crate) mod debug_traces;
pub mod health;

use std::sync::Arc;

use http::header::HeaderValue;
use http::{Method, Response};
use json::Value;
use meta::Status;

use crate::catalog::Group;
use crate::discovery;
use crate::discovery::openapi;
use crate::flow;
use crate::handler::document::objects;
use crate::handler::respond;
use crate::handler::respond::{no_resource, page_not_found};
use crate::request::NonResourceRequest;
use crate::state::Api;
use crate::transport::body::Body;

pub use crate::discovery::documents::{Documents, version};

pub async fn answer(
    api: &Arc<Api>,
    request: &NonResourceRequest<'_>,
) -> Result<Response<Body>, Status> {
    let path = request.path;
    let bare = path.strip_prefix('/').unwrap_or(path);
    let parts: Vec<&str> = bare.strip_suffix('/').unwrap_or(bare).split('/').collect();
    let exact = ["healthz", "livez", "readyz", "metrics"];
    if path.ends_with('/') && exact.contains(&parts[0]) {
        return Ok(page_not_found());
    }
    if let ["healthz" | "livez" | "readyz", ..] = parts.as_slice() {
        // Whatever the method, as upstream.
        return Ok(health::answer(api, request, &parts).await);
    }
    if let ["debug", "traces", rest @ ..] = parts.as_slice() {
        return debug_traces::answer(api, request, rest).await;
    }
    if let ["debug", "api_priority_and_fairness", name] = parts.as_slice()
        && let Some(flow) = api.limiter().flow()
        && !path.ends_with('/')
    {
        let found = flow::dump(flow, request.query, name);
        let found = found.map(|it| respond::ok("text/plain; charset=utf-8", it));
        return Ok(found.unwrap_or_else(page_not_found));
    }
    let Some(read) = read(api, request, &parts).await else {
        return Ok(page_not_found());
    };
    if *request.method == Method::GET {
        return read;
    }
    match parts.as_slice() {
        ["version" | "api" | "apis", ..] => Err(respond::not_allowed()),
        _ if *request.method == Method::HEAD => read,
        _ => Ok(page_not_found()),
    }
}

/// What GET gets; none if there is nothing of that name.
async fn read(
    api: &Arc<Api>,
    request: &NonResourceRequest<'_>,
    parts: &[&str],
) -> Option<Result<Response<Body>, Status>> {
    let resources =
        |group, version| match discovery::resources(&api.catalog().load(), group, version) {
            Some(all) => Some(objects(request, &all)),
            None if api
                .catalog()
                .load()
                .group(group)
                .is_some_and(Group::is_builtin) =>
            {
                Some(Err(no_resource()))
            }
            None => None,
        };
    match parts {
        [""] => Some(objects(request, &discovery::paths(&api.catalog().load()))),
        ["version"] => Some(
            only(request, "application/json").map(|()| pretty(&version(&api.settings().features))),
        ),
        ["metrics", rest @ ..] if api.settings().serve_metrics => {
            let registry = match rest {
                [] => &api.metrics().registry,
                ["slis"] => &api.metrics().slis,
                _ => return None,
            };
            let format = telemetry::metrics::Format::accepted(request.accepts());
            let text = telemetry::metrics::encode(registry, format);
            Some(Ok(respond::ok(format.content_type(), text)))
        }
        ["api" | "apis"] => {
            let (catalog, address) = (api.catalog().load_full(), &api.documents().address);
            let groups = parts[0] == "apis";
            Some(api.discovery().root(&catalog, address, request, groups))
        }
        ["api", version] => resources("", version),
        ["apis", group] => {
            discovery::group(&api.catalog().load(), group).map(|it| objects(request, &it))
        }
        ["apis", group, version] => resources(group, version),
        ["openapi", rest @ ..] => Some(openapi::answer(api.openapi(), request, rest).await),
        [".well-known", "openid-configuration"] => {
            Some(Ok(document(&api.documents().openid, "application/json")))
        }
        ["openid", "v1", "jwks"] => {
            let media = "application/jwk-set+json";
            Some(only(request, media).map(|()| document(&api.documents().jwks, media)))
        }
        _ => None,
    }
}

/// Whether the client takes the one form that a document has.
fn only(request: &NonResourceRequest<'_>, media: &str) -> Result<(), Status> {
    let takes = |it: &str| [media, "application/*", "*/*", ""].contains(&it);
    let mut asked = request.accepts().split(',');
    if asked.any(|it| takes(it.split(';').next().unwrap_or_default().trim())) {
        return Ok(());
    }
    Err(respond::unrepresentable(&[media]))
}

fn pretty(value: &Value) -> Response<Body> {
    let body = json::to_string_pretty(value, "  ");
    respond::ok("application/json", body)
}

fn document(value: &Value, content_type: &'static str) -> Response<Body> {
    if value.is_null() {
        return page_not_found();
    }
    let mut response = respond::ok(content_type, json::to_vec(value));
    let headers = response.headers_mut();
    headers.insert(
        "cache-control",
        HeaderValue::from_static("public, max-age=3600"),
    );
    response
}
