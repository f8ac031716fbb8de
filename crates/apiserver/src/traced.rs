//! What a trace says of a request: names, attributes and events as kube-apiserver has them, so that what was made to look
//! at its traces works on ours. What costs anything is made on the exporter's thread.

use std::cell::OnceCell;
use std::net::SocketAddr;

use auth::User;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version};
use http_body::Body as _;
use meta::Status;
use telemetry::context::{TraceContext, baggage};
use telemetry::trace::{
    self, Attributes, Describe, Incoming, Role, Scope, Span, Tick, Tracer, Trust,
};

use crate::body::Body;
use crate::incoming::RequestBody;
use crate::pipeline::{Api, Ask, Caller};
use crate::request::{Query, RequestInfo, ResourceRequest, Verb};
use crate::request_log::shown;
use crate::respond::text;

static TRACEPARENT: HeaderName = HeaderName::from_static(telemetry::context::TRACEPARENT);
static TRACESTATE: HeaderName = HeaderName::from_static(telemetry::context::TRACESTATE);
static BAGGAGE: HeaderName = HeaderName::from_static(baggage::HEADER);
const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");
pub(crate) const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// How much of a user agent the handler's span shows, and how it ends then.
const MAX_AGENT: usize = 1024;
const TRUNCATED: &str = "...TRUNCATED";

/// Begins the trace of a request as soon as it is known who sent it, which nobody is if that failed: only then is it
/// known whose trace it may be a part of. `started` is when it came in, if anything is recorded at all.
pub(crate) fn begin(
    tracer: &Tracer,
    headers: &HeaderMap,
    user: Option<&User>,
    started: Option<Tick>,
) {
    let bytes = |name| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let is_told = headers.contains_key(&TRACEPARENT);
    if started.is_none() && !is_told {
        return;
    }
    let trust = user.map_or(Trust::Nobody, |it| Trust::of(&it.groups));
    let mut incoming = Incoming::default();
    if is_told && trust != Trust::Nobody {
        incoming.context = TraceContext::read(bytes(&TRACEPARENT), bytes(&TRACESTATE));
    }
    if trust == Trust::Parent {
        incoming.baggage = baggage::read(bytes(&BAGGAGE)).map(Into::into);
    }
    let now = trace::now();
    let who = user.map_or("", |it| &*it.name);
    tracer.begin(incoming, trust, who, started.unwrap_or(now));
    trace::past("authentication", Scope::Filter, started.unwrap_or(now), now);
}

/// One of the stations before the verb, with everything behind it.
pub(crate) fn station(name: &'static str) -> Span {
    trace::span_as(name, Scope::Filter, Role::Plain)
}

/// The verb's own.
pub(crate) fn handler(ask: &Ask<'_>) -> Option<Span> {
    let streams = matches!(
        &*ask.info.subresource,
        "exec" | "attach" | "portforward" | "proxy"
    );
    let name = match ask.info.verb {
        // Upstream hands them on without a span.
        _ if streams => return None,
        Verb::Get => "Get",
        Verb::List => "List",
        Verb::Watch if ask.query.flag("sendInitialEvents") => "WatchList",
        // Upstream has none for it. It ends when the watch is open, as the whole trace does.
        Verb::Watch => "Watch",
        Verb::Create => "Create",
        Verb::Update => "Update",
        Verb::Patch => "Patch",
        Verb::Delete | Verb::DeleteCollection => "Delete",
        Verb::Proxy | Verb::None => return None,
    };
    Some(trace::span_as(name, Scope::Component, Role::Handler))
}

/// Something that the store does.
pub(crate) fn storage(name: &'static str) -> Span {
    trace::span_as(name, Scope::Component, Role::Stored)
}

/// What was found at a key, by its length.
pub(crate) fn got(span: &Span, key: String, from_cache: bool, found: Option<usize>) {
    span.set("key", || key);
    if from_cache {
        span.set("resource-version", || "0");
        trace::event("watchCache locked acquired");
        trace::event("watchCache fresh enough");
    } else {
        trace::event("Get call succeeded");
    }
    match found {
        Some(_) if from_cache => trace::event("GetByKey success"),
        Some(length) => {
            trace::event("TransformFromStorage succeeded");
            trace::event_with("Decode succeeded", "len", length);
        }
        None => {}
    }
}

/// A state is there that is as new as it must be. Upstream takes a lock for it, we need none.
pub(crate) fn fresh(asked_for_latest: bool) {
    if asked_for_latest {
        trace::event("getCurrentRV success");
    }
    trace::event("watchCache locked acquired");
    trace::event("watchCache fresh enough");
}

/// How many there are is not known where they are taken as they are written.
pub(crate) fn listed(count: Option<usize>) {
    for name in ["Listed items from cache", "Filtered items"] {
        match count {
            Some(count) => trace::event_with(name, "count", count),
            None => trace::event(name),
        }
    }
}

/// The body of a request that is read whole.
pub(crate) async fn body(api: &Api, ask: &Ask<'_>, body: RequestBody) -> Result<Bytes, Status> {
    let read = body.read(api.settings.max_body_bytes).await;
    match &read {
        Ok(bytes) => {
            trace::event_with("limitedReadBody succeeded", "len", bytes.len());
            api.body_read(ask, bytes.len());
        }
        Err(_) => trace::event("limitedReadBody failed"),
    }
    read
}

/// What is done with an object that came in a body of so many bytes, whether or not something is stored.
pub(crate) async fn stored<T>(
    length: usize,
    store: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    trace::event("About to store object in database");
    let stored = store.await;
    let name = match &stored {
        Ok(_) => "Write to database call succeeded",
        Err(_) => "Write to database call failed",
    };
    trace::event_with(name, "len", length);
    stored
}

/// An answer's body. A list that goes out in pieces is only begun here.
pub(crate) fn serialize<T: Into<Body>>(
    make: impl FnOnce() -> Result<T, Status>,
) -> Result<Body, Status> {
    trace::event("About to write a response");
    let span = trace::span_as("SerializeObject", Scope::Component, Role::Answer);
    let made = make().map(Into::into);
    match made.as_ref().map(|it| it.size_hint().exact()) {
        Ok(Some(size)) => {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            trace::event_with("About to start writing response", "size", size);
            trace::event_with("Write call succeeded", "size", size);
        }
        Ok(None) => trace::event("About to start writing response"),
        Err(_) => span.fail(),
    }
    drop(span);
    trace::event("Writing http response done");
    made
}

/// All that is known of a request when its answer begins.
#[derive(Debug)]
pub(crate) struct Told {
    parts: Parts,
    peer: Option<SocketAddr>,
    code: StatusCode,
    /// If it is known.
    size: Option<u64>,
    content_type: Option<HeaderValue>,
    audit_id: Option<HeaderValue>,
    /// What the path says, once somebody asks.
    info: OnceCell<Option<ResourceRequest<'static>>>,
}

impl Told {
    pub(crate) fn new(
        caller: &Caller,
        parts: Parts,
        response: &Response<Body>,
        audit_id: Option<HeaderValue>,
    ) -> Self {
        let peer = match caller {
            Caller::Remote { peer, .. } => Some(peer.address),
            Caller::Local(_) => None,
        };
        Self {
            parts,
            peer,
            code: response.status(),
            size: response.body().size_hint().exact(),
            content_type: response.headers().get(CONTENT_TYPE).cloned(),
            audit_id,
            info: OnceCell::new(),
        }
    }

    fn header(&self, name: &HeaderName) -> &str {
        text(&self.parts.headers, name).unwrap_or_default()
    }

    fn audit_id(&self) -> &str {
        let id = self.audit_id.as_ref().and_then(|it| it.to_str().ok());
        id.unwrap_or_default()
    }

    /// Reads the path again: to keep what it said would cost the request.
    fn info(&self) -> Option<&ResourceRequest<'static>> {
        let info = self.info.get_or_init(|| {
            let query = Query::parse(self.parts.uri.query());
            let info = RequestInfo::new(&self.parts.method, self.parts.uri.path(), &query);
            info.ok()?.resource.map(ResourceRequest::into_owned)
        });
        info.as_ref()
    }

    fn server(&self, out: &mut Attributes<'_>) {
        let uri = &self.parts.uri;
        // HTTP/2 has no header for it.
        let host = uri.authority().map_or(self.header(&HOST), |it| it.as_str());
        let (address, port) = match host.rsplit_once(':') {
            Some((address, port)) if !port.contains(']') => (address, port.parse().ok()),
            _ => (host, None),
        };
        out.some_text("server.address", address.trim_matches(['[', ']']));
        if let Some(port) = port {
            out.int("server.port", port);
        }
        let method = &self.parts.method;
        if is_known(method) {
            out.text("http.request.method", method.as_str());
        } else {
            out.text("http.request.method", "_OTHER");
            out.text("http.request.method_original", method.as_str());
        }
        out.text("url.scheme", "https");
        out.text("url.path", uri.path());
        if let Some(peer) = self.peer {
            out.text("network.peer.address", &peer.ip().to_string());
            out.int("network.peer.port", peer.port().into());
        }
        let forwarded = self.header(&FORWARDED).split(',').next();
        match (forwarded.unwrap_or_default().trim(), self.peer) {
            ("", Some(peer)) => out.text("client.address", &peer.ip().to_string()),
            (forwarded, _) => out.some_text("client.address", forwarded),
        }
        out.some_text("user_agent.original", self.header(&USER_AGENT));
        let version = match self.parts.version {
            Version::HTTP_10 => "1.0",
            // As Go writes it, not as OpenTelemetry's conventions would.
            Version::HTTP_2 => "2.0",
            _ => "1.1",
        };
        out.text("network.protocol.version", version);
        out.int("http.response.status_code", self.code.as_u16().into());
        if let Ok(size) = self.header(&CONTENT_LENGTH).parse() {
            out.int("http.request.body.size", size);
        }
        if let Some(size) = self.size.and_then(|it| i64::try_from(it).ok()) {
            out.int("http.response.body.size", size);
        }
        out.text("http.target", &shown(uri));
        out.text("audit-id", self.audit_id());
    }

    fn handler(&self, out: &mut Attributes<'_>) {
        out.text("accept", self.header(&ACCEPT));
        out.text("audit-id", self.audit_id());
        let client = self.peer.map(|it| it.ip().to_string());
        out.text("client", client.as_deref().unwrap_or("unknown"));
        if let Some(info) = self.info() {
            out.text("api-group", &info.group);
            out.text("api-version", &info.version);
            out.text("name", &info.name);
            out.text("subresource", &info.subresource);
            out.text("namespace", &info.namespace);
            out.text("resource", &info.resource);
            let scope = scope(info);
            out.text("scope", scope);
            out.text("verb", self.verb(info, scope));
        }
        out.text("protocol", self.protocol());
        out.text("url", self.parts.uri.path());
        let agent = self.header(&USER_AGENT);
        match agent.get(..MAX_AGENT) {
            Some(start) if start.len() < agent.len() => {
                out.text("user-agent", &format!("{start}{TRUNCATED}"));
            }
            _ => out.text("user-agent", agent),
        }
    }

    /// As upstream's metrics name it.
    fn verb(&self, info: &ResourceRequest<'_>, scope: &str) -> &str {
        match self.parts.method {
            Method::GET | Method::HEAD if info.verb == Verb::Watch => "WATCH",
            Method::GET | Method::HEAD if scope != "resource" => "LIST",
            Method::HEAD => "GET",
            Method::PATCH if self.header(&CONTENT_TYPE).contains("apply-patch") => "APPLY",
            ref method => method.as_str(),
        }
    }

    /// As Go writes it.
    fn protocol(&self) -> &'static str {
        match self.parts.version {
            Version::HTTP_10 => "HTTP/1.0",
            Version::HTTP_2 => "HTTP/2.0",
            _ => "HTTP/1.1",
        }
    }

    fn answer(&self, out: &mut Attributes<'_>) {
        out.text("audit-id", self.audit_id());
        out.text("method", self.parts.method.as_str());
        out.text("url", self.parts.uri.path());
        out.text("protocol", self.protocol());
        let media = self.content_type.as_ref().and_then(|it| it.to_str().ok());
        let media = media.unwrap_or_default();
        out.text("mediaType", media);
        if let Some(info) = self.info() {
            out.text("encoder", &encoder(info, media));
        }
    }
}

impl Describe for Told {
    fn name(&self) -> String {
        let method = self.parts.method.as_str();
        match self.info() {
            Some(info) => span_name(method, info),
            None => method.to_owned(),
        }
    }

    fn attributes(&self, role: Role, out: &mut Attributes<'_>) {
        match role {
            Role::Plain => {}
            Role::Server => self.server(out),
            Role::Handler => self.handler(out),
            Role::Stored => {
                out.text("audit-id", self.audit_id());
                if let Some(info) = self.info() {
                    out.text("group", &info.group);
                    out.text("resource", &info.resource);
                }
            }
            Role::Answer => self.answer(out),
        }
    }

    fn is_error(&self) -> bool {
        self.code.is_server_error()
    }
}

/// A path with what differs from object to object left out.
fn span_name(method: &str, info: &ResourceRequest<'_>) -> String {
    let mut name = format!("{method} ");
    if info.group.is_empty() {
        name.push_str("/api");
    } else {
        name.push_str("/apis/");
        name.push_str(&info.group);
    }
    let mut add = |part: &str| {
        name.push('/');
        name.push_str(part);
    };
    add(&info.version);
    if !info.namespace.is_empty() {
        add("namespaces/{:namespace}");
    }
    add(&info.resource);
    if !info.name.is_empty() {
        add("{:name}");
    }
    if !info.subresource.is_empty() {
        add(&info.subresource);
    }
    name
}

fn scope(info: &ResourceRequest<'_>) -> &'static str {
    if !info.name.is_empty() || info.verb == Verb::Create {
        "resource"
    } else if info.namespace.is_empty() {
        "cluster"
    } else {
        "namespace"
    }
}

/// As upstream's encoders call themselves.
fn encoder(info: &ResourceRequest<'_>, media: &str) -> String {
    let version = if info.group.is_empty() {
        info.version.to_string()
    } else {
        format!("{}/{}", info.group, info.version)
    };
    let encoder = match media.split(';').next() {
        Some("application/vnd.kubernetes.protobuf") if media.contains("stream=watch") => {
            "raw-protobuf".to_owned()
        }
        Some("application/vnd.kubernetes.protobuf") => "protobuf".to_owned(),
        found => {
            let yaml = found == Some("application/yaml");
            let own =
                format!(r#"{{"name":"json","pretty":"false","strict":"false","yaml":"{yaml}"}}"#);
            own.replace('"', "\\\"")
        }
    };
    format!(r#"{{"encodeGV":"{version}","encoder":"{encoder}","name":"versioning"}}"#)
}

/// Of HTTP, as OpenTelemetry lists them.
fn is_known(method: &Method) -> bool {
    matches!(
        *method,
        Method::CONNECT
            | Method::DELETE
            | Method::GET
            | Method::HEAD
            | Method::OPTIONS
            | Method::PATCH
            | Method::POST
            | Method::PUT
            | Method::TRACE
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_requests() {
        let cases = [
            ("GET", "/healthz", "GET"),
            ("GET", "/apis/apps/v1", "GET"),
            ("POST", "/api/v1/nodes", "POST /api/v1/nodes"),
            ("GET", "/api/v1/nodes/a", "GET /api/v1/nodes/{:name}"),
            (
                "PUT",
                "/api/v1/namespaces/x/pods/a/status",
                "PUT /api/v1/namespaces/{:namespace}/pods/{:name}/status",
            ),
            (
                "GET",
                "/apis/apps/v1/namespaces/x/deployments?watch=1",
                "GET /apis/apps/v1/namespaces/{:namespace}/deployments",
            ),
        ];
        for (method, uri, expected) in cases {
            let request = http::Request::builder().method(method).uri(uri);
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let user = std::sync::Arc::new(User::new("x", &[]));
            let response = Response::new(Body::empty());
            let told = Told::new(&Caller::Local(user), parts, &response, None);
            assert_eq!(told.name(), expected, "{method} {uri}");
        }
    }
}
