//! Everything that is not a resource: discovery, versions, health, and who we are.
//!
//! **Room.** Paths that are no resources, on top of `discovery` and `state`.

pub(crate) mod debug_flags;
pub(crate) mod debug_traces;
pub mod health;

use std::sync::Arc;

use auth::User;
use http::header::{ACCEPT, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::{HeaderMap, Method, Response, StatusCode};
use json::{Value, json};
use meta::Status;
use meta::status::Reason;
use telemetry::trace::Role;

use crate::catalog::Group;
use crate::discovery;
use crate::discovery::openapi;
use crate::flow;
use crate::observe::traced;
use crate::request::Query;
use crate::request::negotiate::{Accepted, Format, Offer};
use crate::request::render;
use crate::request::respond;
use crate::state::Api;
use crate::transport::body::Body;

/// What the server says of itself.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    pub issuer: String,
    /// `/openid/v1/jwks`
    pub jwks: Value,
    pub openid: Value,
    /// How clients reach us.
    pub address: String,
}

impl Documents {
    /// The port that clients reach us at.
    pub fn port(&self) -> u16 {
        let port = self.address.rsplit(':').next();
        port.and_then(|it| it.parse().ok()).unwrap_or(6443)
    }
}

#[derive(Debug)]
pub struct Request<'a> {
    pub user: &'a User,
    pub path: &'a str,
    pub query: &'a Query,
    pub headers: &'a HeaderMap,
    pub method: &'a Method,
}

pub async fn answer(api: &Arc<Api>, request: &Request<'_>) -> Result<Response<Body>, Status> {
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
        && let Some(flow) = api.limiter.flow()
        && !path.ends_with('/')
    {
        let found = flow::debug_answer(flow, request, name);
        return Ok(found.unwrap_or_else(page_not_found));
    }
    let Some(read) = read(api, request, &parts).await else {
        return Ok(page_not_found());
    };
    if *request.method == Method::GET {
        return read;
    }
    match parts.as_slice() {
        ["version" | "api" | "apis", ..] => Err(crate::pipeline::verbs::not_allowed()),
        _ if *request.method == Method::HEAD => read,
        _ => Ok(page_not_found()),
    }
}

/// What GET gets; none if there is nothing of that name.
async fn read(
    api: &Arc<Api>,
    request: &Request<'_>,
    parts: &[&str],
) -> Option<Result<Response<Body>, Status>> {
    let resources = |group, version| match discovery::resources(api, group, version) {
        Some(all) => Some(objects(request, &all)),
        None if api
            .catalog
            .load()
            .group(group)
            .is_some_and(Group::is_builtin) =>
        {
            Some(Err(no_resource()))
        }
        None => None,
    };
    match parts {
        [""] => Some(objects(request, &discovery::paths(api))),
        ["version"] => Some(only(request, "application/json").map(|()| pretty(&version()))),
        ["metrics", rest @ ..] if api.settings.serve_metrics => {
            let registry = match rest {
                [] => &api.metrics.registry,
                ["slis"] => &api.metrics.slis,
                _ => return None,
            };
            let format = telemetry::metrics::Format::accepted(accepts(request));
            let text = telemetry::metrics::encode(registry, format);
            Some(Ok(respond::ok(format.content_type(), text)))
        }
        ["api" | "apis"] => Some(discovery::root(api, request, parts[0] == "apis")),
        ["api", version] => resources("", version),
        ["apis", group] => discovery::group(api, group).map(|it| objects(request, &it)),
        ["apis", group, version] => resources(group, version),
        ["openapi", rest @ ..] => Some(openapi::answer(api, request, rest).await),
        [".well-known", "openid-configuration"] => {
            Some(Ok(document(&api.documents.openid, "application/json")))
        }
        ["openid", "v1", "jwks"] => {
            let media = "application/jwk-set+json";
            Some(only(request, media).map(|()| document(&api.documents.jwks, media)))
        }
        _ => None,
    }
}

/// Whether the client takes the one form that a document has.
fn only(request: &Request<'_>, media: &str) -> Result<(), Status> {
    let takes = |it: &str| [media, "application/*", "*/*", ""].contains(&it);
    let mut asked = accepts(request).split(',');
    if asked.any(|it| takes(it.split(';').next().unwrap_or_default().trim())) {
        return Ok(());
    }
    Err(respond::unrepresentable(&[media]))
}

/// A document that is shown in any format that objects are shown in.
pub fn objects(request: &Request<'_>, value: &Value) -> Result<Response<Body>, Status> {
    let accepted = respond::of_headers(request.headers, request.query, Offer::PLAIN)?;
    // Discovery has no protobuf of ours; whoever asks for it takes JSON too.
    let accepted = match accepted.format {
        Format::Protobuf => Accepted {
            format: Format::Json,
            ..accepted
        },
        _ => accepted,
    };
    let body = traced::written(Role::Document, || render::encode(value, accepted))?;
    Ok(respond::ok(accepted.format.content_type(), body))
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

/// Bytes that change seldom: whoever has them already gets none.
pub fn tagged(
    request: &Request<'_>,
    content_type: &'static str,
    etag: &str,
    body: bytes::Bytes,
) -> Response<Body> {
    let known = request
        .headers
        .get(IF_NONE_MATCH)
        .and_then(|it| it.to_str().ok());
    let mut response = if known == Some(etag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        respond::ok(content_type, body)
    };
    let headers = response.headers_mut();
    headers.insert("cache-control", HeaderValue::from_static("public"));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(ETAG, etag);
    }
    response
}

pub fn version() -> Value {
    json!({
        "major": "1",
        "minor": "37",
        "emulationMajor": "1",
        "emulationMinor": "37",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "36",
        "gitVersion": "v1.37.0",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": (format!("{}/{}", std::env::consts::OS, go_arch())),
    })
}

fn go_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// As Go's mux answers.
pub fn page_not_found() -> Response<Body> {
    let mut response = respond::with_code(
        StatusCode::NOT_FOUND,
        "text/plain; charset=utf-8",
        "404 page not found\n",
    );
    let headers = response.headers_mut();
    headers.insert(
        "x-content-type-options",
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// A resource that is not there, in a version that is.
pub fn no_resource() -> Status {
    let mut status = Status::failure(
        404,
        Reason::NotFound,
        "the server could not find the requested resource",
    );
    status.details = Some(Box::default());
    status
}

/// What the client asked for in its Accept header, word by word.
pub fn accepts<'a>(request: &'a Request<'_>) -> &'a str {
    let header = request.headers.get(ACCEPT).and_then(|it| it.to_str().ok());
    header.unwrap_or_default()
}
