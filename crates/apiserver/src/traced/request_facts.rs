//! Hot path. What is known of a request when its answer begins, as its trace says it. It is written straight into the
//! message for the collector: nothing of it is copied before.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, Version};
use http_body::Body as _;
use telemetry::trace::{Attributes, Describe, Name, Role};

use crate::body::Body;
use crate::negotiate::{self, Offer, View};
use crate::pipeline::Caller;
use crate::request::{Query, ResourceRequest, Verb};
use crate::request_log::show;

const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

/// How much of a user agent the handler's span shows, and how it ends then.
const MAX_AGENT: usize = 1024;
const TRUNCATED: &str = "...TRUNCATED";

/// A request and the beginning of its answer.
#[derive(Debug)]
pub(crate) struct RequestFacts<'a> {
    parts: &'a Parts,
    query: &'a Query,
    /// None for what is no resource, or no path at all.
    info: Option<&'a ResourceRequest<'a>>,
    host: &'a str,
    agent: &'a str,
    accept: &'a str,
    forwarded: &'a str,
    content_type: &'a str,
    /// If it is known.
    request_size: Option<i64>,
    peer: Option<SocketAddr>,
    /// The peer's IP address, empty if there is none.
    client: AddressText,
    audit_id: &'a str,
    code: StatusCode,
    /// The content type of the answer.
    media: &'a str,
    size: Option<u64>,
}

impl<'a> RequestFacts<'a> {
    pub(crate) fn new(
        caller: &Caller,
        parts: &'a Parts,
        (query, info): (&'a Query, Option<&'a ResourceRequest<'a>>),
        response: &'a Response<Body>,
        audit_id: Option<&'a HeaderValue>,
    ) -> Self {
        let [
            mut host,
            mut agent,
            mut accept,
            mut forwarded,
            mut content_type,
        ] = [None; 5];
        let mut request_size = None;
        // All that are there are fewer than those that are looked for.
        for (name, value) in &parts.headers {
            match *name {
                HOST => host = host.or(Some(value)),
                USER_AGENT => agent = agent.or(Some(value)),
                ACCEPT => accept = accept.or(Some(value)),
                CONTENT_TYPE => content_type = content_type.or(Some(value)),
                CONTENT_LENGTH => request_size = text(Some(value)).parse().ok(),
                _ if *name == FORWARDED => forwarded = forwarded.or(Some(value)),
                _ => {}
            }
        }
        let peer = match caller {
            Caller::Remote { peer, .. } => Some(peer.address),
            Caller::Local(_) => None,
        };
        // HTTP/2 has no header for it.
        let authority = parts.uri.authority();
        Self {
            parts,
            query,
            info,
            host: authority.map_or_else(|| text(host), |it| it.as_str()),
            agent: text(agent),
            accept: text(accept),
            forwarded: text(forwarded),
            content_type: text(content_type),
            request_size,
            peer,
            client: peer.map_or(AddressText::EMPTY, |it| AddressText::new(it.ip())),
            audit_id: text(audit_id),
            code: response.status(),
            media: text(response.headers().get(CONTENT_TYPE)),
            size: response.body().size_hint().exact(),
        }
    }

    fn path(&self) -> &'a str {
        self.parts.uri.path()
    }

    fn server(&self, out: &mut Attributes<'_>) {
        let host = self.host;
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
        out.text("url.path", self.path());
        let client = self.client.as_str();
        if let Some(peer) = self.peer {
            out.text("network.peer.address", client);
            out.int("network.peer.port", peer.port().into());
        }
        let forwarded = self.forwarded.split(',').next();
        match forwarded.unwrap_or_default().trim() {
            "" => out.some_text("client.address", client),
            forwarded => out.text("client.address", forwarded),
        }
        out.some_text("user_agent.original", self.agent);
        let version = match self.parts.version {
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
        match self.parts.uri.query() {
            None | Some("") => out.text("http.target", self.path()),
            Some(query) => out.text("http.target", &show(self.path(), query)),
        }
        out.text("audit-id", self.audit_id);
    }

    fn handler(&self, out: &mut Attributes<'_>) {
        out.text("accept", self.accept);
        out.text("audit-id", self.audit_id);
        let client = self.client.as_str();
        out.text("client", if client.is_empty() { "unknown" } else { client });
        if let Some(info) = self.info {
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
        out.text("url", self.path());
        match self.agent.get(..MAX_AGENT) {
            Some(start) if start.len() < self.agent.len() => {
                out.pieces("user-agent", &[start, TRUNCATED]);
            }
            _ => out.text("user-agent", self.agent),
        }
    }

    /// As upstream's metrics name it.
    fn verb(&self, info: &ResourceRequest<'_>, scope: &str) -> &str {
        match self.parts.method {
            _ if info.subresource == "log" => "CONNECT",
            Method::GET | Method::HEAD if info.verb == Verb::Watch => "WATCH",
            Method::GET | Method::HEAD if scope != "resource" => "LIST",
            Method::HEAD => "GET",
            Method::PATCH if self.content_type.contains("apply-patch") => "APPLY",
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

    fn stored(&self, out: &mut Attributes<'_>) {
        out.text("audit-id", self.audit_id);
        if let Some(info) = self.info {
            out.text("group", &info.group);
            // What is bound is a pod, whichever way.
            let resource = match &*info.resource {
                "bindings" => "pods",
                resource => resource,
            };
            out.text("resource", resource);
        }
    }

    /// `version` is the one that its objects are written in, if they have any, in two pieces.
    fn answer(&self, version: Option<[&str; 3]>, out: &mut Attributes<'_>) {
        out.text("audit-id", self.audit_id);
        out.text("method", self.parts.method.as_str());
        out.text("url", self.path());
        out.text("protocol", self.protocol());
        out.text("mediaType", self.media);
        let pretty = negotiate::wants_pretty(self.query.get("pretty"), Some(self.agent));
        let encoder = encoder(self.media, pretty);
        match version {
            Some([group, slash, version]) => out.pieces(
                "encoder",
                &[r#"{"encodeGV":""#, group, slash, version, r#"","#, encoder],
            ),
            None => out.pieces("encoder", &["{", encoder]),
        }
    }

    /// The group and version of what is answered, which is not always that of what was asked for.
    fn version(&self) -> [&str; 3] {
        let Some(info) = self.info else {
            return ["", "", "v1"];
        };
        let view = if self.code.is_success() && self.accept.contains("as=") {
            negotiate::accept(Some(self.accept), Offer::VIEWS).map(|it| it.view)
        } else {
            None
        };
        match view {
            Some(View::Table(it) | View::Metadata(it) | View::MetadataList(it)) => {
                return ["meta.k8s.io", "/", it];
            }
            Some(View::Whole) | None => {}
        }
        match (&*info.subresource, &*info.group) {
            ("scale", _) => ["autoscaling", "/", "v1"],
            ("eviction", "") => ["policy", "/", "v1"],
            ("token", "") => ["authentication.k8s.io", "/", "v1"],
            (_, "") => ["", "", &info.version],
            (_, group) => [group, "/", &info.version],
        }
    }
}

impl Describe for RequestFacts<'_> {
    fn name(&self, out: &mut Name<'_>) {
        name(&self.parts.method, self.info, |piece| out.push(piece));
    }

    fn attributes(&self, role: Role, out: &mut Attributes<'_>) {
        match role {
            Role::Plain => {}
            Role::Server => self.server(out),
            Role::Handler => self.handler(out),
            Role::Stored => self.stored(out),
            Role::Answer => self.answer(Some(self.version()), out),
            Role::Document => {
                let is_aggregated = self.media.contains("g=apidiscovery.k8s.io;v=v2;");
                let version = ["apidiscovery.k8s.io", "/", "v2"];
                self.answer(is_aggregated.then_some(version), out);
            }
        }
    }

    fn is_error(&self) -> bool {
        self.code.is_server_error()
    }
}

/// An IP address as text, without an allocation.
#[derive(Debug)]
struct AddressText {
    /// The longest has 45 bytes: eight groups, the last two as IPv4 has them.
    bytes: [u8; 45],
    length: usize,
}

impl AddressText {
    const EMPTY: Self = Self {
        bytes: [0; 45],
        length: 0,
    };

    fn new(address: IpAddr) -> Self {
        let mut text = Self::EMPTY;
        // It has room for any.
        let _ = match address {
            IpAddr::V4(address) => {
                let [first, rest @ ..] = address.octets();
                text.decimal(first);
                for octet in rest {
                    text.push(b'.');
                    text.decimal(octet);
                }
                Ok(())
            }
            IpAddr::V6(address) => write!(text, "{address}"),
        };
        text
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn decimal(&mut self, octet: u8) {
        if octet >= 100 {
            self.push(b'0' + octet / 100);
        }
        if octet >= 10 {
            self.push(b'0' + octet / 10 % 10);
        }
        self.push(b'0' + octet % 10);
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl std::fmt::Write for AddressText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        text.bytes().for_each(|byte| self.push(byte));
        Ok(())
    }
}

fn text(value: Option<&HeaderValue>) -> &str {
    let text = value.and_then(|it| it.to_str().ok());
    text.unwrap_or_default()
}

/// A path with what differs from object to object left out, piece by piece.
fn name(method: &Method, info: Option<&ResourceRequest<'_>>, mut out: impl FnMut(&str)) {
    out(method.as_str());
    let Some(info) = info else {
        return;
    };
    if info.group.is_empty() {
        out(" /api");
    } else {
        out(" /apis/");
        out(&info.group);
    }
    let mut add = |part: &str| {
        out("/");
        out(part);
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

/// As upstream's encoders call themselves, from behind the version.
fn encoder(media: &str, pretty: bool) -> &'static str {
    macro_rules! json {
        ($pretty:literal, $yaml:literal) => {
            concat!(
                r#""encoder":"{\"name\":\"json\",\"pretty\":\""#,
                $pretty,
                r#"\",\"strict\":\"false\",\"yaml\":\""#,
                $yaml,
                r#"\"}","name":"versioning"}"#
            )
        };
    }
    match (media.split(';').next(), pretty) {
        (Some("application/vnd.kubernetes.protobuf"), _) if media.contains("stream=watch") => {
            r#""encoder":"raw-protobuf","name":"versioning"}"#
        }
        (Some("application/vnd.kubernetes.protobuf"), _) => {
            r#""encoder":"protobuf","name":"versioning"}"#
        }
        (Some("application/yaml"), true) => json!("true", "true"),
        (Some("application/yaml"), false) => json!("false", "true"),
        (_, true) => json!("true", "false"),
        (_, false) => json!("false", "false"),
    }
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
    use crate::request::RequestInfo;

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
            name(&parts.method, info.resource.as_ref(), |piece| {
                found.push_str(piece);
            });
            assert_eq!(found, expected, "{method} {uri}");
        }
    }

    #[test]
    fn addresses_are_written_as_they_always_are() {
        for text in [
            "0.0.0.0",
            "127.0.0.1",
            "255.10.99.100",
            "::1",
            "2001:db8::a:b",
            "::ffff:192.168.100.200",
            "1234:5678:9abc:def0:1234:5678:9abc:def0",
        ] {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(AddressText::new(address).as_str(), address.to_string());
        }
    }
}
