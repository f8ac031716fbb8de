//! Hot path. What many requests have in common, as a trace says it: those of one program for one kind of object differ in little
//! but names and times. What they share is encoded once and copied then.

use std::cell::RefCell;
use std::rc::Rc;

use http::{HeaderValue, Method, StatusCode, Version};
use telemetry::trace::{Attributes, Encoded, Name};

use crate::request::negotiate::{self, Offer, View};
use crate::request::{ResourceRequest, Verb};

/// How much of a user agent the handler's span shows, and how it ends then.
const MAX_AGENT: usize = 1024;
const TRUNCATED: &str = "...TRUNCATED";

/// What is alike. Nothing here may differ from one request of a client for a kind of object to the next: names and
/// namespaces count only by whether there are any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alike<'a> {
    pub(super) method: &'a Method,
    pub(super) http: Version,
    pub(super) code: StatusCode,
    /// None for what is no resource, or no path at all.
    pub(super) info: Option<&'a ResourceRequest<'a>>,
    pub(super) host: &'a str,
    pub(super) agent: Option<&'a HeaderValue>,
    pub(super) accept: Option<&'a HeaderValue>,
    /// The content type of the answer.
    pub(super) media: Option<&'a HeaderValue>,
    /// What the query says of it; if nothing, the user agent does.
    pub(super) pretty: Option<bool>,
    pub(super) is_apply: bool,
}

impl<'a> Alike<'a> {
    pub(super) fn name(&self, out: &mut Name<'_>) {
        name(self.method, self.info, |piece| out.push(piece));
    }

    pub(super) fn server(&self, out: &mut Attributes<'_>) {
        let host = self.host;
        let (address, port) = match host.rsplit_once(':') {
            Some((address, port)) if !port.contains(']') => (address, port.parse().ok()),
            _ => (host, None),
        };
        out.some_text("server.address", address.trim_matches(['[', ']']));
        if let Some(port) = port {
            out.int("server.port", port);
        }
        if is_known(self.method) {
            out.text("http.request.method", self.method.as_str());
        } else {
            out.text("http.request.method", "_OTHER");
            out.text("http.request.method_original", self.method.as_str());
        }
        out.text("url.scheme", "https");
        out.some_text("user_agent.original", text(self.agent));
        let version = match self.http {
            Version::HTTP_10 => "1.0",
            // As Go writes it, not as OpenTelemetry's conventions would.
            Version::HTTP_2 => "2.0",
            _ => "1.1",
        };
        out.text("network.protocol.version", version);
        out.int("http.response.status_code", self.code.as_u16().into());
    }

    pub(super) fn handler(&self, out: &mut Attributes<'_>) {
        out.text("accept", text(self.accept));
        if let Some(info) = self.info {
            out.text("api-group", &info.group);
            out.text("api-version", &info.version);
            out.text("subresource", &info.subresource);
            out.text("resource", &info.resource);
            let scope = scope(info);
            out.text("scope", scope);
            out.text("verb", self.verb(info, scope));
        }
        out.text("protocol", self.protocol());
        let agent = text(self.agent);
        match agent.get(..MAX_AGENT) {
            Some(start) if start.len() < agent.len() => {
                out.pieces("user-agent", &[start, TRUNCATED]);
            }
            _ => out.text("user-agent", agent),
        }
    }

    /// As upstream's metrics name it.
    fn verb(&self, info: &ResourceRequest<'_>, scope: &str) -> &str {
        match *self.method {
            _ if info.subresource == "log" => "CONNECT",
            Method::GET | Method::HEAD if info.verb == Verb::Watch => "WATCH",
            Method::GET | Method::HEAD if scope != "resource" => "LIST",
            Method::HEAD => "GET",
            Method::PATCH if self.is_apply => "APPLY",
            ref method => method.as_str(),
        }
    }

    /// As Go writes it.
    fn protocol(&self) -> &'static str {
        match self.http {
            Version::HTTP_10 => "HTTP/1.0",
            Version::HTTP_2 => "HTTP/2.0",
            _ => "HTTP/1.1",
        }
    }

    pub(super) fn stored(&self, out: &mut Attributes<'_>) {
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

    pub(super) fn answer(&self, out: &mut Attributes<'_>) {
        self.encoded(Some(self.version()), out);
    }

    pub(super) fn document(&self, out: &mut Attributes<'_>) {
        let is_aggregated = text(self.media).contains("g=apidiscovery.k8s.io;v=v2;");
        let version = ["apidiscovery.k8s.io", "/", "v2"];
        self.encoded(is_aggregated.then_some(version), out);
    }

    /// `version` is the one that its objects are written in, if they have any, in two pieces.
    fn encoded(&self, version: Option<[&str; 3]>, out: &mut Attributes<'_>) {
        out.text("method", self.method.as_str());
        out.text("protocol", self.protocol());
        let media = text(self.media);
        out.text("mediaType", media);
        let by_agent = || negotiate::wants_pretty(None, Some(text(self.agent)));
        let encoder = encoder(media, self.pretty.unwrap_or_else(by_agent));
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
        let accept = text(self.accept);
        let view = if self.code.is_success() && accept.contains("as=") {
            negotiate::accept(Some(accept), Offer::VIEWS).map(|it| it.view)
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

    /// All that is a text.
    fn texts(&self) -> [&'a [u8]; TEXTS] {
        let bytes = |it: Option<&'a HeaderValue>| it.map_or(&b""[..], HeaderValue::as_bytes);
        let [group, version, resource, subresource] = match self.info {
            Some(info) => [
                &*info.group,
                &info.version,
                &info.resource,
                &info.subresource,
            ],
            None => [""; 4],
        };
        [
            self.method.as_str().as_bytes(),
            self.host.as_bytes(),
            bytes(self.agent),
            bytes(self.accept),
            bytes(self.media),
            group.as_bytes(),
            version.as_bytes(),
            resource.as_bytes(),
            subresource.as_bytes(),
        ]
    }

    /// All the rest.
    fn marks(&self) -> Marks {
        Marks {
            http: self.http,
            code: self.code,
            pretty: self.pretty,
            is_apply: self.is_apply,
            asked: self.info.map(|info| {
                let has = [!info.namespace.is_empty(), !info.name.is_empty()];
                (info.verb, has)
            }),
        }
    }
}

const TEXTS: usize = 9;

#[derive(Debug, PartialEq, Eq)]
struct Marks {
    http: Version,
    code: StatusCode,
    pretty: Option<bool>,
    is_apply: bool,
    asked: Option<(Verb, [bool; 2])>,
}

/// What is said of all requests that are alike.
#[derive(Debug)]
pub(super) struct Known {
    marks: Marks,
    /// One behind the other.
    texts: Box<[u8]>,
    lengths: [usize; TEXTS],
    pub(super) name: String,
    pub(super) server: Encoded,
    pub(super) handler: Encoded,
    pub(super) stored: Encoded,
    pub(super) answer: Encoded,
}

/// So many are known to a thread.
const KNOWN: usize = 64;
/// What is larger is made anew each time.
const LARGEST: usize = 8 << 10;

/// One of them, and which one was asked for last and not found.
#[derive(Default)]
struct Place {
    known: Option<Rc<Known>>,
    missed: u64,
}

thread_local! {
    static PLACES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
}

impl Known {
    /// None if there was no request like this one on this thread of late. What is asked for a second time is worth knowing.
    pub(super) fn find(alike: &Alike<'_>) -> Option<Rc<Self>> {
        let texts = alike.texts();
        let hash = hash(&texts, alike);
        PLACES.with_borrow_mut(|places| {
            if places.is_empty() {
                places.resize_with(KNOWN, Place::default);
            }
            let index = usize::try_from(hash >> 32).unwrap_or_default() % KNOWN;
            let place = places.get_mut(index)?;
            if let Some(known) = &place.known
                && known.is(&texts, alike)
            {
                return Some(known.clone());
            }
            if std::mem::replace(&mut place.missed, hash) == hash {
                place.known = Self::new(&texts, alike).map(Rc::new);
            }
            None
        })
    }

    fn new(texts: &[&[u8]; TEXTS], alike: &Alike<'_>) -> Option<Self> {
        let mut known = Self {
            marks: alike.marks(),
            texts: texts.concat().into(),
            lengths: texts.map(<[u8]>::len),
            name: String::new(),
            server: Encoded::new(|out| alike.server(out)),
            handler: Encoded::new(|out| alike.handler(out)),
            stored: Encoded::new(|out| alike.stored(out)),
            answer: Encoded::new(|out| alike.answer(out)),
        };
        name(alike.method, alike.info, |it| known.name.push_str(it));
        let encoded = [&known.server, &known.handler, &known.stored, &known.answer];
        let size = encoded.map(Encoded::size).iter().sum::<usize>();
        (size + known.texts.len() + known.name.len() <= LARGEST).then_some(known)
    }

    fn is(&self, texts: &[&[u8]; TEXTS], alike: &Alike<'_>) -> bool {
        if self.lengths != texts.map(<[u8]>::len) || self.marks != alike.marks() {
            return false;
        }
        let mut rest = &*self.texts;
        texts.iter().all(|text| {
            let (own, behind) = rest.split_at_checked(text.len()).unwrap_or_default();
            rest = behind;
            own == *text
        })
    }
}

/// By the lengths of texts, mostly: what is found is compared.
fn hash(texts: &[&[u8]; TEXTS], alike: &Alike<'_>) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let lengths = texts.iter().fold(0, |all: u64, it| {
        let last = it.last().copied().unwrap_or_default();
        all.rotate_left(7) ^ it.len() as u64 ^ u64::from(last) << 32
    });
    let verb = alike.info.map_or(0, |it| 1 + it.verb as u64);
    let name = alike.info.is_some_and(|it| !it.name.is_empty());
    let all = lengths ^ u64::from(alike.code.as_u16()) << 16 ^ verb << 8 ^ u64::from(name) << 15;
    // Zero is what nobody asked for.
    all.wrapping_mul(MIX) | 1
}

pub(super) fn text(value: Option<&HeaderValue>) -> &str {
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
    use crate::request::{Query, RequestInfo};

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

    /// What is known of each request, when it came three times, against what is said of it without that.
    #[test]
    fn what_is_known_is_what_would_be_said() {
        let header = |text: &'static str| Some(HeaderValue::from_static(text));
        let [kubectl, curl] = [header("kubectl/v1.37.0"), header("curl/8")];
        let [json, table] = [
            header("application/json"),
            header("application/json;as=Table;v=v1;g=meta.k8s.io"),
        ];
        let uris = [
            "/healthz",
            "/api/v1/namespaces/x/pods/a",
            "/api/v1/namespaces/x/pods/a/log",
            "/api/v1/namespaces/x/pods",
            "/api/v1/pods",
            "/apis/apps/v1/namespaces/x/deployments/a/scale",
            "/apis/apps/v1/deployments?watch=1",
        ];
        let mut all = Vec::new();
        for uri in uris {
            for method in [Method::GET, Method::PATCH, Method::POST] {
                let request = http::Request::builder().method(method).uri(uri);
                all.push(request.body(()).unwrap().into_parts().0);
            }
        }
        let mut said = std::collections::HashMap::new();
        for parts in &all {
            let query = Query::parse(parts.uri.query());
            let info = RequestInfo::new(&parts.method, parts.uri.path(), &query).unwrap();
            let plain = Alike {
                method: &parts.method,
                http: Version::HTTP_2,
                code: StatusCode::OK,
                info: info.resource.as_ref(),
                host: "server:6443",
                agent: kubectl.as_ref(),
                accept: json.as_ref(),
                media: json.as_ref(),
                pretty: None,
                is_apply: false,
            };
            let variants = [
                plain,
                Alike {
                    http: Version::HTTP_11,
                    ..plain
                },
                Alike {
                    code: StatusCode::NOT_FOUND,
                    ..plain
                },
                Alike {
                    host: "[::1]",
                    ..plain
                },
                Alike {
                    agent: curl.as_ref(),
                    ..plain
                },
                Alike {
                    agent: None,
                    ..plain
                },
                Alike {
                    accept: table.as_ref(),
                    ..plain
                },
                Alike {
                    media: table.as_ref(),
                    ..plain
                },
                Alike {
                    pretty: Some(true),
                    ..plain
                },
                Alike {
                    is_apply: true,
                    ..plain
                },
            ];
            for alike in variants {
                let known = (0..3).find_map(|_| Known::find(&alike));
                let known = known.expect("it was asked for three times");
                assert_eq!(known.server, Encoded::new(|it| alike.server(it)));
                assert_eq!(known.handler, Encoded::new(|it| alike.handler(it)));
                assert_eq!(known.stored, Encoded::new(|it| alike.stored(it)));
                assert_eq!(known.answer, Encoded::new(|it| alike.answer(it)));
                let mut own = String::new();
                name(alike.method, alike.info, |it| own.push_str(it));
                assert_eq!(known.name, own);
                said.insert(format!("{alike:?}"), known);
            }
        }
        assert_eq!(said.len(), all.len() * 10);
    }

    #[test]
    fn what_is_very_long_is_not_kept() {
        let host = "h".repeat(LARGEST);
        let alike = Alike {
            method: &Method::GET,
            http: Version::HTTP_11,
            code: StatusCode::OK,
            info: None,
            host: &host,
            agent: None,
            accept: None,
            media: None,
            pretty: None,
            is_apply: false,
        };
        assert!((0..3).all(|_| Known::find(&alike).is_none()));
    }
}
