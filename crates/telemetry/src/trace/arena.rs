//! Hot path. Where a request's spans gather.

use std::fmt;
use std::sync::Arc;

use super::attributes::{Value, cut};
use super::clock::{Tick, now};
use super::describe::Role;
use super::ids;
use crate::context::{Flags, SpanId, TraceContext, TraceId};

/// A request that does so much says no more by saying all of it.
const SPANS: usize = 512;
const EVENTS: usize = 2048;
const ATTRIBUTES: usize = 4096;

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

    /// As a set of it alone.
    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }
}

#[derive(Debug)]
pub(super) struct Record {
    pub(super) name: &'static str,
    /// An index; the root's is its own.
    pub(super) parent: u32,
    pub(super) kind: Kind,
    pub(super) scope: Scope,
    pub(super) role: Role,
    pub(super) failed: bool,
    pub(super) start: Tick,
    pub(super) end: Option<Tick>,
    pub(super) events: List,
    pub(super) attributes: List,
}

impl Record {
    fn new(name: &'static str, parent: u32, scope: Scope, role: Role, start: Tick) -> Self {
        Self {
            name,
            parent,
            kind: Kind::Internal,
            scope,
            role,
            failed: false,
            start,
            end: None,
            events: List::EMPTY,
            attributes: List::EMPTY,
        }
    }
}

/// The events or attributes of one span among those of all: each knows the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    first: u32,
    last: u32,
}

/// The end of a list.
const NONE: u32 = u32::MAX;

impl List {
    const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
    };

    pub(super) fn is_empty(self) -> bool {
        self.first == NONE
    }

    /// With their places.
    pub(super) fn iter<T: Linked>(self, all: &[T]) -> impl Iterator<Item = (u32, &T)> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let item = all.get(next as usize)?;
            let index = std::mem::replace(&mut next, *item.next());
            Some((index, item))
        })
    }

    /// `index` is the place of what was just put behind `all`.
    fn push<T: Linked>(&mut self, all: &mut [T], index: u32) {
        match all.get_mut(self.last as usize) {
            Some(last) => *last.next_mut() = index,
            None => self.first = index,
        }
        self.last = index;
    }
}

pub(super) trait Linked {
    fn next(&self) -> &u32;
    fn next_mut(&mut self) -> &mut u32;
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) time: Tick,
    pub(super) name: &'static str,
    /// With the key's name, if it is not empty.
    pub(super) key: &'static str,
    pub(super) value: i64,
    /// The next one of its span.
    pub(super) next: u32,
}

impl Linked for Event {
    fn next(&self) -> &u32 {
        &self.next
    }

    fn next_mut(&mut self) -> &mut u32 {
        &mut self.next
    }
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) key: &'static str,
    pub(super) value: Held,
    next: u32,
}

impl Linked for Attribute {
    fn next(&self) -> &u32 {
        &self.next
    }

    fn next_mut(&mut self) -> &mut u32 {
        &mut self.next
    }
}

/// A value as an arena holds it.
#[derive(Debug)]
pub(super) enum Held {
    Static(&'static str),
    /// So much of the arena's text.
    Text {
        start: u32,
        end: u32,
    },
    Int(i64),
    Bool(bool),
}

/// What is counted here stays far below 2^32.
#[inline]
fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}

/// Another trace that a root has to do with.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) context: TraceContext,
    /// A span of another process.
    pub(super) is_remote: bool,
}

/// What is kept of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Nothing,
    /// How many spans it would have: there was no room for them when it began.
    Count,
    Spans,
}

pub(super) struct Arena {
    keep: Keep,
    /// So many spans were not recorded for want of room.
    pub(super) counted: u64,
    pub(super) trace_id: TraceId,
    pub(super) flags: Flags,
    /// What the ids of its spans are made of.
    seed: u64,
    /// Nothing is ever recorded here: what comes in goes out as it is.
    is_through: bool,
    pub(super) parent: Option<SpanId>,
    pub(super) state: Option<Arc<str>>,
    pub(super) baggage: Option<Arc<str>>,
    pub(super) spans: Vec<Record>,
    pub(super) events: Vec<Event>,
    pub(super) attributes: Vec<Attribute>,
    /// Of attributes, one after the other.
    pub(super) text: String,
    pub(super) link: Option<Link>,
    /// Those that its spans are of.
    pub(super) scopes: u8,
    /// Spans and events that found no room.
    pub(super) left_out: u32,
    pub(super) current: u32,
}

impl Arena {
    pub(super) fn new() -> Self {
        Self {
            keep: Keep::Nothing,
            counted: 0,
            trace_id: ids::trace(),
            flags: Flags::default(),
            seed: ids::seed(),
            is_through: false,
            parent: None,
            state: None,
            baggage: None,
            spans: Vec::new(),
            events: Vec::new(),
            attributes: Vec::new(),
            text: String::new(),
            link: None,
            scopes: 0,
            left_out: 0,
            current: 0,
        }
    }

    pub(super) fn reset(&mut self, trace_id: TraceId, flags: Flags, keep: Keep) {
        self.keep = keep;
        self.counted = 0;
        self.trace_id = trace_id;
        self.flags = flags;
        self.seed = ids::seed();
        self.is_through = false;
        self.scopes = 0;
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
        self.text.clear();
        self.link = None;
    }

    pub(super) fn keep(&self) -> Keep {
        self.keep
    }

    pub(super) fn is_recording(&self) -> bool {
        self.keep == Keep::Spans
    }

    /// Whether so little was ever recorded in it that it is worth keeping.
    pub(super) fn is_small(&self) -> bool {
        self.spans.capacity() <= 64
            && self.events.capacity() <= 256
            && self.attributes.capacity() <= 256
            && self.text.capacity() <= 4096
    }

    pub(super) fn open_root(&mut self, start: Tick, kind: Kind) {
        let mut root = Record::new("", 0, Scope::Own, Role::Server, start);
        root.kind = kind;
        self.scopes = Scope::Own.bit();
        self.spans.push(root);
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
            _ if self.is_recording() => self.span_id(self.current),
            _ => ids::span(),
        }
    }

    /// Its root, as others may link to it.
    pub(super) fn root(&self) -> TraceContext {
        TraceContext {
            trace_id: self.trace_id,
            span_id: self.span_id(0),
            flags: self.flags,
            state: self.state.clone(),
        }
    }

    /// What tells a span of this request from one of another: spans may end where another request is current.
    pub(super) fn serial(&self) -> u64 {
        self.seed
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
        self.scopes |= scope.bit();
        let record = Record::new(name, parent, scope, role, start);
        self.spans.push(record);
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
        let index = short(self.events.len());
        if let Some(record) = self.spans.get_mut(span as usize) {
            record.events.push(&mut self.events, index);
        }
        self.events.push(Event {
            time: now(),
            name,
            key,
            value,
            next: NONE,
        });
    }

    pub(super) fn attribute(&mut self, span: u32, key: &'static str, value: Value) {
        match value {
            Value::Static(text) => self.hold(span, key, |_| Held::Static(text)),
            Value::Text(text) => self.text_attribute(span, key, &text),
            Value::Int(number) => self.hold(span, key, |_| Held::Int(number)),
            Value::Bool(value) => self.hold(span, key, |_| Held::Bool(value)),
        }
    }

    pub(super) fn text_attribute(&mut self, span: u32, key: &'static str, value: &str) {
        self.hold(span, key, |text| {
            let start = short(text.len());
            text.push_str(cut(value));
            let end = short(text.len());
            Held::Text { start, end }
        });
    }

    #[inline]
    fn hold(&mut self, span: u32, key: &'static str, value: impl FnOnce(&mut String) -> Held) {
        if self.attributes.len() >= ATTRIBUTES {
            self.left_out += 1;
            return;
        }
        let value = value(&mut self.text);
        let index = short(self.attributes.len());
        if let Some(record) = self.spans.get_mut(span as usize) {
            record.attributes.push(&mut self.attributes, index);
        }
        self.attributes.push(Attribute {
            key,
            value,
            next: NONE,
        });
    }

    pub(super) fn record(&mut self, index: u32) -> Option<&mut Record> {
        self.spans.get_mut(index as usize)
    }

    /// Of the span at an index.
    #[inline]
    pub(super) fn span_id(&self, index: u32) -> SpanId {
        ids::derived(self.seed, index)
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
    pub(super) fn close(&mut self) -> Tick {
        let end = now();
        for span in self.spans.iter_mut().filter(|it| it.end.is_none()) {
            span.end = Some(end);
        }
        end
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, spans) = (self.trace_id, self.spans.len());
        write!(f, "Arena({trace}, {spans} spans)")
    }
}
