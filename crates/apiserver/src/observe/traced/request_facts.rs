//! Hot path. What is known of a request when its answer begins, as its trace says it. It is written straight into the
//! message for the collector: nothing of it is copied before.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
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
use crate::transport::caller::Caller;

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
    peer: Option<SocketAddr>,
    /// The peer's IP address, empty if there is none.
    client: AddressText,
    audit_id: &'a str,
    size: Option<u64>,
}

impl<'a> RequestFacts<'a> {
    pub(crate) fn new(
        caller: &Caller,
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
        let peer = match caller {
            Caller::Remote { peer, .. } => Some(peer.address),
            Caller::Local(_) => None,
        };
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
            peer,
            client: peer.map_or(AddressText::EMPTY, |it| AddressText::new(it.ip())),
            audit_id: text(audit_id),
            size: response.body().size_hint().exact(),
        }
    }

    fn path(&self) -> &'a str {
        self.parts.uri.path()
    }

    fn server(&self, out: &mut Attributes<'_>) {
        match &self.known {
            Some(known) => out.encoded(&known.server),
            None => self.alike.server(out),
        }
        out.text("url.path", self.path());
        let client = self.client.as_str();
        if let Some(peer) = self.peer {
            out.text("network.peer.address", client);
            out.int("network.peer.port", peer.port().into());
        }
        let forwarded = text(self.forwarded).split(',').next();
        match forwarded.unwrap_or_default().trim() {
            "" => out.some_text("client.address", client),
            forwarded => out.text("client.address", forwarded),
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
        let client = self.client.as_str();
        out.text("client", if client.is_empty() { "unknown" } else { client });
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

#[cfg(test)]
mod tests {
    use super::*;

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
