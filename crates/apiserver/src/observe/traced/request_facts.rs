//! Hot path. What is known of a request when its answer begins, as its trace says it. It is written straight into the
//! message for the collector: nothing of it is copied before.

use std::rc::Rc;

use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Response};
use http_body::Body as _;
use telemetry::trace::{Attributes, Describe, Name, Role};

use super::alike::{Alike, Known, text};
use crate::observe::request_log::path_with_query;
use crate::request::negotiate;
use crate::request::{Query, ResourceRequest};
use crate::transport::body::Body;
use crate::transport::caller::{Caller, EncodedPeer};

const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

/// A request and the beginning of its answer.
#[derive(Debug)]
pub(crate) struct RequestFacts<'a> {
    parts: &'a Parts,
    alike: Alike<'a>,
    /// What is alike, if it was encoded before.
    known: Option<Rc<Known>>,
    forwarded: Option<&'a HeaderValue>,
    /// If it is known.
    request_size: Option<i64>,
    /// None for a controller of ours.
    peer: Option<&'a EncodedPeer>,
    audit_id: &'a str,
    size: Option<u64>,
}

impl<'a> RequestFacts<'a> {
    pub(crate) fn new(
        caller: &'a Caller,
        parts: &'a Parts,
        (query, info): (&Query, Option<&'a ResourceRequest<'a>>),
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
        // HTTP/2 has no header for it.
        let authority = parts.uri.authority();
        let pretty = query.get("pretty");
        let alike = Alike {
            method: &parts.method,
            http: parts.version,
            code: response.status(),
            info,
            host: authority.map_or_else(|| text(host), |it| it.as_str()),
            agent,
            accept,
            media: response.headers().get(CONTENT_TYPE),
            pretty: pretty.map(|it| negotiate::wants_pretty(Some(it), None)),
            is_apply: parts.method == Method::PATCH && text(content_type).contains("apply-patch"),
        };
        Self {
            parts,
            known: Known::find(&alike),
            alike,
            forwarded,
            request_size,
            peer: caller.encoded_peer(),
            audit_id: text(audit_id),
            size: response.body().size_hint().exact(),
        }
    }

    fn path(&self) -> &'a str {
        self.parts.uri.path()
    }

    /// By whom a proxy was asked, if it says so.
    fn forwarded(&self) -> &'a str {
        let Some(forwarded) = self.forwarded else {
            return "";
        };
        let first = text(Some(forwarded)).split(',').next();
        first.unwrap_or_default().trim()
    }

    fn server(&self, out: &mut Attributes<'_>) {
        match &self.known {
            Some(known) => out.encoded(&known.server),
            None => self.alike.server(out),
        }
        out.text("url.path", self.path());
        if let Some(peer) = self.peer {
            out.encoded(&peer.server);
        }
        match (self.forwarded(), self.peer) {
            ("", Some(peer)) => out.encoded(&peer.client_address),
            ("", None) => {}
            (forwarded, _) => out.text("client.address", forwarded),
        }
        if let Some(size) = self.request_size {
            out.int("http.request.body.size", size);
        }
        if let Some(size) = self.size.and_then(|it| i64::try_from(it).ok()) {
            out.int("http.response.body.size", size);
        }
        match self.parts.uri.query() {
            None | Some("") => out.text("http.target", self.path()),
            Some(query) => out.text("http.target", &path_with_query(self.path(), query)),
        }
        out.text("audit-id", self.audit_id);
    }

    fn handler(&self, out: &mut Attributes<'_>) {
        match &self.known {
            Some(known) => out.encoded(&known.handler),
            None => self.alike.handler(out),
        }
        out.text("audit-id", self.audit_id);
        match self.peer {
            Some(peer) => out.encoded(&peer.handler),
            None => out.text("client", "unknown"),
        }
        if let Some(info) = self.alike.info {
            out.text("name", &info.name);
            out.text("namespace", &info.namespace);
        }
        out.text("url", self.path());
    }

    fn stored(&self, out: &mut Attributes<'_>) {
        match &self.known {
            Some(known) => out.encoded(&known.stored),
            None => self.alike.stored(out),
        }
        out.text("audit-id", self.audit_id);
    }

    fn answer(&self, out: &mut Attributes<'_>) {
        match &self.known {
            Some(known) => out.encoded(&known.answer),
            None => self.alike.answer(out),
        }
        out.text("audit-id", self.audit_id);
        out.text("url", self.path());
    }

    fn document(&self, out: &mut Attributes<'_>) {
        self.alike.document(out);
        out.text("audit-id", self.audit_id);
        out.text("url", self.path());
    }
}

impl Describe for RequestFacts<'_> {
    fn name(&self, out: &mut Name<'_>) {
        match &self.known {
            Some(known) => out.push(&known.name),
            None => self.alike.name(out),
        }
    }

    fn attributes(&self, role: Role, out: &mut Attributes<'_>) {
        match role {
            Role::Plain => {}
            Role::Server => self.server(out),
            Role::Handler => self.handler(out),
            Role::Stored => self.stored(out),
            Role::Answer => self.answer(out),
            Role::Document => self.document(out),
        }
    }

    fn is_error(&self) -> bool {
        self.alike.code.is_server_error()
    }
}
