//! What is noted of a request when its answer begins, and said of it when it is exported.

use std::net::SocketAddr;

use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, Version};
use http_body::Body as _;
use telemetry::trace::{Attributes, Describe, Description, Role};

use crate::body::Body;
use crate::negotiate::{self, Offer, View};
use crate::pipeline::Caller;
use crate::request::{Query, RequestInfo, ResourceRequest, Verb};
use crate::request_log::show;

const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

/// How much of a user agent the handler's span shows, and how it ends then.
const MAX_AGENT: usize = 1024;
const TRUNCATED: &str = "...TRUNCATED";

/// All that is known of a request when its answer begins. Used again and again, so that nothing is allocated for it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The texts of [`Part`], one after the other.
    text: String,
    ends: [usize; PARTS],
    method: Method,
    version: Version,
    peer: Option<SocketAddr>,
    code: StatusCode,
    /// If they are known.
    request_size: Option<i64>,
    size: Option<u64>,
}

/// What of a request is text, in the order in which it is noted.
#[derive(Clone, Copy)]
enum Part {
    Host,
    Path,
    Query,
    Agent,
    Accept,
    Forwarded,
    ContentType,
    AuditId,
    /// The content type of the answer.
    Media,
}

const PARTS: usize = Part::Media as usize + 1;

impl Told {
    pub(crate) fn note(
        &mut self,
        caller: &Caller,
        parts: &Parts,
        response: &Response<Body>,
        audit_id: Option<&HeaderValue>,
    ) {
        let [
            mut host,
            mut agent,
            mut accept,
            mut forwarded,
            mut content_type,
        ] = [None; 5];
        self.request_size = None;
        // All that are there are fewer than those that are looked for.
        for (name, value) in &parts.headers {
            match *name {
                HOST => host = host.or(Some(value)),
                USER_AGENT => agent = agent.or(Some(value)),
                ACCEPT => accept = accept.or(Some(value)),
                CONTENT_TYPE => content_type = content_type.or(Some(value)),
                CONTENT_LENGTH => self.request_size = text(Some(value)).parse().ok(),
                _ if *name == FORWARDED => forwarded = forwarded.or(Some(value)),
                _ => {}
            }
        }
        let uri = &parts.uri;
        // HTTP/2 has no header for it.
        let host = uri.authority().map_or(text(host), |it| it.as_str());
        let texts = [
            host,
            uri.path(),
            uri.query().unwrap_or_default(),
            text(agent),
            text(accept),
            text(forwarded),
            text(content_type),
            text(audit_id),
            text(response.headers().get(CONTENT_TYPE)),
        ];
        self.text.clear();
        for (text, end) in texts.into_iter().zip(&mut self.ends) {
            self.text.push_str(text);
            *end = self.text.len();
        }
        self.method.clone_from(&parts.method);
        self.version = parts.version;
        self.peer = match caller {
            Caller::Remote { peer, .. } => Some(peer.address),
            Caller::Local(_) => None,
        };
        self.code = response.status();
        self.size = response.body().size_hint().exact();
    }

    fn part(&self, part: Part) -> &str {
        let at = part as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text.get(start..self.ends[at]).unwrap_or_default()
    }

    fn server(&self, client: &str, out: &mut Attributes<'_>) {
        let host = self.part(Part::Host);
        let (address, port) = match host.rsplit_once(':') {
            Some((address, port)) if !port.contains(']') => (address, port.parse().ok()),
            _ => (host, None),
        };
        out.some_text("server.address", address.trim_matches(['[', ']']));
        if let Some(port) = port {
            out.int("server.port", port);
        }
        let method = &self.method;
        if is_known(method) {
            out.text("http.request.method", method.as_str());
        } else {
            out.text("http.request.method", "_OTHER");
            out.text("http.request.method_original", method.as_str());
        }
        out.text("url.scheme", "https");
        out.text("url.path", self.part(Part::Path));
        if let Some(peer) = self.peer {
            out.text("network.peer.address", client);
            out.int("network.peer.port", peer.port().into());
        }
        let forwarded = self.part(Part::Forwarded).split(',').next();
        match forwarded.unwrap_or_default().trim() {
            "" => out.some_text("client.address", client),
            forwarded => out.text("client.address", forwarded),
        }
        out.some_text("user_agent.original", self.part(Part::Agent));
        let version = match self.version {
            Version::HTTP_10 => "1.0",
            // As Go writes it, not as OpenTelemetry's conventions would.
            Version::HTTP_2 => "2.0",
            _ => "1.1",
        };
        out.text("network.protocol.version", version);
        out.int("http.response.status_code", self.code.as_u16().into());
        if let Some(size) = self.request_size {
            out.int("http.request.body.size", size);
        }
        if let Some(size) = self.size.and_then(|it| i64::try_from(it).ok()) {
            out.int("http.response.body.size", size);
        }
        match self.part(Part::Query) {
            "" => out.text("http.target", self.part(Part::Path)),
            query => out.text("http.target", &show(self.part(Part::Path), query)),
        }
        out.text("audit-id", self.part(Part::AuditId));
    }

    fn handler(&self, info: Option<&ResourceRequest<'_>>, client: &str, out: &mut Attributes<'_>) {
        out.text("accept", self.part(Part::Accept));
        out.text("audit-id", self.part(Part::AuditId));
        out.text("client", if client.is_empty() { "unknown" } else { client });
        if let Some(info) = info {
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
        out.text("url", self.part(Part::Path));
        let agent = self.part(Part::Agent);
        match agent.get(..MAX_AGENT) {
            Some(start) if start.len() < agent.len() => {
                out.text("user-agent", &format!("{start}{TRUNCATED}"));
            }
            _ => out.text("user-agent", agent),
        }
    }

    /// As upstream's metrics name it.
    fn verb(&self, info: &ResourceRequest<'_>, scope: &str) -> &str {
        match self.method {
            _ if info.subresource == "log" => "CONNECT",
            Method::GET | Method::HEAD if info.verb == Verb::Watch => "WATCH",
            Method::GET | Method::HEAD if scope != "resource" => "LIST",
            Method::HEAD => "GET",
            Method::PATCH if self.part(Part::ContentType).contains("apply-patch") => "APPLY",
            ref method => method.as_str(),
        }
    }

    /// As Go writes it.
    fn protocol(&self) -> &'static str {
        match self.version {
            Version::HTTP_10 => "HTTP/1.0",
            Version::HTTP_2 => "HTTP/2.0",
            _ => "HTTP/1.1",
        }
    }

    fn stored(&self, info: Option<&ResourceRequest<'_>>, out: &mut Attributes<'_>) {
        out.text("audit-id", self.part(Part::AuditId));
        if let Some(info) = info {
            out.text("group", &info.group);
            // What is bound is a pod, whichever way.
            let resource = match &*info.resource {
                "bindings" => "pods",
                resource => resource,
            };
            out.text("resource", resource);
        }
    }

    /// `version` is the one that its objects are written in, if they have any.
    fn answer(&self, version: Option<&str>, pretty: bool, out: &mut Attributes<'_>) {
        out.text("audit-id", self.part(Part::AuditId));
        out.text("method", self.method.as_str());
        out.text("url", self.part(Part::Path));
        out.text("protocol", self.protocol());
        let media = self.part(Part::Media);
        out.text("mediaType", media);
        out.text("encoder", &encoder(version, media, pretty));
    }

    /// The group and version of what is answered, which is not always that of what was asked for.
    fn version(&self, info: Option<&ResourceRequest<'_>>) -> String {
        let Some(info) = info else {
            return "v1".to_owned();
        };
        let view = match self.part(Part::Accept) {
            accept if self.code.is_success() && accept.contains("as=") => {
                negotiate::accept(Some(accept), Offer::VIEWS).map(|it| it.view)
            }
            _ => None,
        };
        match view {
            Some(View::Table(it) | View::Metadata(it) | View::MetadataList(it)) => {
                return format!("meta.k8s.io/{it}");
            }
            Some(View::Whole) | None => {}
        }
        match (&*info.subresource, &*info.group) {
            ("scale", _) => "autoscaling/v1".to_owned(),
            ("eviction", "") => "policy/v1".to_owned(),
            ("token", "") => "authentication.k8s.io/v1".to_owned(),
            (_, "") => info.version.to_string(),
            (_, group) => format!("{group}/{}", info.version),
        }
    }
}

impl Describe for Told {
    /// Reads the path again: to keep what it said would cost the request.
    fn describe(&self, out: &mut Description) {
        let query = Some(self.part(Part::Query)).filter(|it| !it.is_empty());
        let query = Query::parse(query);
        let info = RequestInfo::new(&self.method, self.part(Part::Path), &query);
        let info = info.ok().and_then(|it| it.resource);
        let info = info.as_ref();
        let client = self.peer.map_or(String::new(), |it| it.ip().to_string());
        name(&self.method, info, &mut out.name);
        out.is_error = self.code.is_server_error();
        self.server(&client, &mut out.of(Role::Server));
        self.handler(info, &client, &mut out.of(Role::Handler));
        self.stored(info, &mut out.of(Role::Stored));
        let agent = Some(self.part(Part::Agent));
        let pretty = negotiate::wants_pretty(query.get("pretty"), agent);
        let version = self.version(info);
        self.answer(Some(&version), pretty, &mut out.of(Role::Answer));
        let aggregated = self
            .part(Part::Media)
            .contains("g=apidiscovery.k8s.io;v=v2;");
        let version = aggregated.then_some("apidiscovery.k8s.io/v2");
        self.answer(version, pretty, &mut out.of(Role::Document));
    }

    fn is_small(&self) -> bool {
        self.text.capacity() <= 4096
    }
}

fn text(value: Option<&HeaderValue>) -> &str {
    let text = value.and_then(|it| it.to_str().ok());
    text.unwrap_or_default()
}

/// A path with what differs from object to object left out.
fn name(method: &Method, info: Option<&ResourceRequest<'_>>, out: &mut String) {
    out.push_str(method.as_str());
    let Some(info) = info else {
        return;
    };
    if info.group.is_empty() {
        out.push_str(" /api");
    } else {
        out.push_str(" /apis/");
        out.push_str(&info.group);
    }
    let mut add = |part: &str| {
        out.push('/');
        out.push_str(part);
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
fn encoder(version: Option<&str>, media: &str, pretty: bool) -> String {
    let json = |yaml: bool| {
        format!(
            r#"{{\"name\":\"json\",\"pretty\":\"{pretty}\",\"strict\":\"false\",\"yaml\":\"{yaml}\"}}"#
        )
    };
    let encoder = match media.split(';').next() {
        Some("application/vnd.kubernetes.protobuf") if media.contains("stream=watch") => {
            "raw-protobuf".to_owned()
        }
        Some("application/vnd.kubernetes.protobuf") => "protobuf".to_owned(),
        Some("application/yaml") => json(true),
        _ => json(false),
    };
    let version = version.map_or(String::new(), |it| format!(r#""encodeGV":"{it}","#));
    format!(r#"{{{version}"encoder":"{encoder}","name":"versioning"}}"#)
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
            let query = Query::parse(parts.uri.query());
            let info = RequestInfo::new(&parts.method, parts.uri.path(), &query).unwrap();
            let mut found = String::new();
            name(&parts.method, info.resource.as_ref(), &mut found);
            assert_eq!(found, expected, "{method} {uri}");
        }
    }
}
