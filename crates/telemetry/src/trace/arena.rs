//! Hot path. Where a request's spans gather.

use std::fmt;
use std::sync::Arc;

use super::attributes::{Attributes, Value};
use super::clock::{Tick, now};
use super::ids;
use crate::context::{Flags, SpanId, TraceContext, TraceId};

/// A request that does so much says no more by saying all of it.
const SPANS: usize = 512;
const EVENTS: usize = 2048;
const ATTRIBUTES: usize = 4096;

/// Says on the exporter's thread what was known on the request's all along.
pub trait Describe: Send {
    /// The root's name.
    fn name(&self) -> String;

    /// The attributes that a span has by its role.
    fn attributes(&self, role: Role, out: &mut Attributes<'_>);

    /// The server failed, whoever's fault it was.
    fn is_error(&self) -> bool;
}

/// For which of the things that are known of a request a span asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing but its own.
    Plain,
    /// The request as HTTP has it: the root.
    Server,
    /// The request as the API has it.
    Handler,
    /// What is stored or read for it.
    Stored,
    /// Its answer.
    Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Internal,
    Server,
    Client,
}

/// Who speaks, as upstream's spans have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What upstream has no span for, or one of a library.
    Own,
    /// The stations before the verb.
    Filter,
    /// The verb and all below it.
    Component,
}

impl Scope {
    pub(super) const ALL: [Self; 3] = [Self::Own, Self::Filter, Self::Component];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own => "pilothouse",
            // Upstream's own spelling.
            Self::Filter => "k8s.op/apiserver/pkg/endpoints/filterlatency",
            Self::Component => "k8s.io/component-base/tracing",
        }
    }
}

#[derive(Debug)]
pub(super) struct Record {
    pub(super) name: &'static str,
    pub(super) id: SpanId,
    /// An index; the root's is its own.
    pub(super) parent: u32,
    pub(super) kind: Kind,
    pub(super) scope: Scope,
    pub(super) role: Role,
    pub(super) failed: bool,
    pub(super) start: Tick,
    pub(super) end: Option<Tick>,
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) span: u32,
    pub(super) time: Tick,
    pub(super) name: &'static str,
    /// With the key's name, if it is not empty.
    pub(super) key: &'static str,
    pub(super) value: i64,
}

/// Another trace that a root has to do with.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) context: TraceContext,
    /// A span of another process.
    pub(super) is_remote: bool,
}

pub(super) struct Arena {
    recording: bool,
    pub(super) trace_id: TraceId,
    pub(super) flags: Flags,
    /// Of the root.
    span_id: SpanId,
    /// Nothing is ever recorded here: what comes in goes out as it is.
    is_through: bool,
    pub(super) parent: Option<SpanId>,
    pub(super) state: Option<Arc<str>>,
    pub(super) baggage: Option<Arc<str>>,
    pub(super) spans: Vec<Record>,
    pub(super) events: Vec<Event>,
    pub(super) attributes: Vec<(u32, &'static str, Value)>,
    pub(super) link: Option<Link>,
    pub(super) describe: Option<Box<dyn Describe>>,
    /// Spans and events that found no room.
    pub(super) left_out: u32,
    pub(super) current: u32,
}

impl Arena {
    pub(super) fn new() -> Self {
        Self {
            recording: false,
            trace_id: ids::trace(),
            flags: Flags::default(),
            span_id: ids::span(),
            is_through: false,
            parent: None,
            state: None,
            baggage: None,
            spans: Vec::new(),
            events: Vec::new(),
            attributes: Vec::new(),
            link: None,
            describe: None,
            left_out: 0,
            current: 0,
        }
    }

    pub(super) fn reset(&mut self, trace_id: TraceId, flags: Flags, recording: bool) {
        self.recording = recording;
        self.trace_id = trace_id;
        self.flags = flags;
        self.span_id = ids::span();
        self.is_through = false;
        self.current = 0;
        self.left_out = 0;
    }

    /// Keeps nothing but the room.
    pub(super) fn clear(&mut self) {
        self.parent = None;
        self.state = None;
        self.baggage = None;
        self.spans.clear();
        self.events.clear();
        self.attributes.clear();
        self.link = None;
        self.describe = None;
    }

    pub(super) fn is_recording(&self) -> bool {
        self.recording
    }

    /// Whether so little was ever recorded in it that it is worth keeping.
    pub(super) fn is_small(&self) -> bool {
        self.spans.capacity() <= 64
            && self.events.capacity() <= 256
            && self.attributes.capacity() <= 256
    }

    pub(super) fn open_root(&mut self, start: Tick, kind: Kind) {
        self.spans.push(Record {
            name: "",
            id: self.span_id,
            parent: 0,
            kind,
            scope: Scope::Own,
            role: Role::Server,
            failed: false,
            start,
            end: None,
        });
    }

    pub(super) fn set_parent(&mut self, parent: TraceContext, baggage: Option<Arc<str>>, on: bool) {
        self.state = parent.state;
        self.baggage = baggage;
        self.parent = Some(parent.span_id);
        self.is_through = !on;
    }

    /// Who calls, for those who are called. Calls that are not recorded are told apart all the same; where nothing is
    /// ever recorded, whoever is called is a child of the client, as nobody is between them.
    pub(super) fn caller(&self) -> SpanId {
        match self.parent {
            Some(parent) if self.is_through => parent,
            _ if self.recording => self.span_id(self.current),
            _ => ids::span(),
        }
    }

    /// Its root, as others may link to it.
    pub(super) fn root(&self) -> TraceContext {
        TraceContext {
            trace_id: self.trace_id,
            span_id: self.span_id,
            flags: self.flags,
            state: self.state.clone(),
        }
    }

    /// What tells a span of this request from one of another: spans may end where another request is current.
    pub(super) fn serial(&self) -> u64 {
        u64::from_be_bytes(self.span_id.to_bytes())
    }

    pub(super) fn start(
        &mut self,
        name: &'static str,
        parent: u32,
        scope: Scope,
        role: Role,
        start: Tick,
    ) -> Option<u32> {
        if self.spans.len() >= SPANS {
            self.left_out += 1;
            return None;
        }
        let index = u32::try_from(self.spans.len()).ok()?;
        self.spans.push(Record {
            name,
            id: ids::span(),
            parent,
            kind: Kind::Internal,
            scope,
            role,
            failed: false,
            start,
            end: None,
        });
        Some(index)
    }

    /// Whoever is open above it is the innermost one again.
    pub(super) fn end(&mut self, index: u32) {
        let Some(record) = self.record(index) else {
            return;
        };
        record.end = Some(now());
        while let Some(record) = self.spans.get(self.current as usize)
            && record.end.is_some()
            && self.current != record.parent
        {
            self.current = record.parent;
        }
    }

    pub(super) fn event(&mut self, span: u32, name: &'static str, key: &'static str, value: i64) {
        if self.events.len() >= EVENTS {
            self.left_out += 1;
            return;
        }
        self.events.push(Event {
            span,
            time: now(),
            name,
            key,
            value,
        });
    }

    pub(super) fn attribute(&mut self, span: u32, key: &'static str, value: Value) {
        if self.attributes.len() < ATTRIBUTES {
            self.attributes.push((span, key, value));
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn record(&mut self, index: u32) -> Option<&mut Record> {
        self.spans.get_mut(index as usize)
    }

    pub(super) fn span_id(&self, index: u32) -> SpanId {
        let found = self.spans.get(index as usize);
        found.map_or(self.span_id, |it| it.id)
    }

    /// The handler's span around the innermost one, or the root.
    pub(super) fn handler(&self) -> u32 {
        let mut index = self.current;
        while let Some(record) = self.spans.get(index as usize)
            && record.role != Role::Handler
            && record.parent != index
        {
            index = record.parent;
        }
        index
    }

    /// What is still open ends here.
    pub(super) fn close(&mut self, describe: Box<dyn Describe>) {
        let end = now();
        for span in self.spans.iter_mut().filter(|it| it.end.is_none()) {
            span.end = Some(end);
        }
        self.describe = Some(describe);
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, spans) = (self.trace_id, self.spans.len());
        write!(f, "Arena({trace}, {spans} spans)")
    }
}

/// A request that went away before anything could be said about it.
#[derive(Debug)]
pub(super) struct Abandoned;

impl Describe for Abandoned {
    fn name(&self) -> String {
        "abandoned".into()
    }

    fn attributes(&self, _: Role, _: &mut Attributes<'_>) {}

    fn is_error(&self) -> bool {
        true
    }
}
