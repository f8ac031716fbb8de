//! Hot path. What traces of one shape have in common, encoded once.
//!
//! Requests for the same thing leave traces that differ in ids, times and a few texts: the same spans below each other, with the same
//! events. A [`Plan`] has all bytes that such traces share, the places of ids and times among them, and the points at which
//! something of another length follows. Each thread keeps the plans of the shapes that it met of late.

use std::cell::RefCell;
use std::rc::Rc;

use super::arena::{Arena, Event, Kind, List, Record, Scope};
use super::describe::Role;
use super::wire;

/// Fields of the messages of `opentelemetry/proto/trace/v1/trace.proto`.
mod field {
    pub(super) const SCOPE_SPANS: u32 = 2;
    pub(super) const SPAN: u32 = 2;
    pub(super) const NAME: u32 = 5;
    pub(super) const EVENT: u32 = 11;
    pub(super) const EVENT_NAME: u32 = 2;
}

/// Trace, span and parent, each with its tag and length: what a span begins with. Its root may have no parent.
pub(super) const IDS: usize = 18 + 10 + 10;
pub(super) const ROOT_IDS: usize = 18 + 10;
/// Kind, times and flags, each with its tag: what all have behind their name.
pub(super) const REST: usize = 2 + 9 + 9 + 6;
/// The time of an event with its tag.
pub(super) const TIME: usize = 9;

/// `bytes` of 16 and of 8, `varint`, `fixed64`, `fixed32`, and the time of an event.
const TRACE_ID: [u8; 2] = [0x0a, 16];
const SPAN_ID: [u8; 2] = [0x12, 8];
const PARENT: [u8; 2] = [0x22, 8];
const KIND: u8 = 0x30;
const START: u8 = 0x39;
const END: u8 = 0x41;
const FLAGS: [u8; 2] = [0x85, 0x01];
const EVENT_TIME: u8 = 0x09;

/// What is done, in order, to write a trace.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Copy bytes up to here, and put in the ids and times that lie among them: as many marks as this.
    Copy {
        to: usize,
        marks: usize,
    },
    /// The two bytes before this are a length, which is written by `Close`.
    Open,
    Close,
    /// The root's name.
    Name,
    /// What a span says besides: attributes, links, a state, a failure.
    Body(u32),
    /// An event with a number.
    Event(u32),
}

/// Where something lies that differs from one trace to the next, from the begin of all bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// [`ROOT_IDS`], or [`IDS`] of a root with a parent.
    Root { at: usize },
    /// [`REST`] of the root: its name stands between.
    RootRest { at: usize },
    /// [`IDS`], and [`REST`] so many bytes behind their begin.
    Span { at: usize, rest: usize, span: u32 },
    /// [`TIME`].
    Time { at: usize, event: u32 },
}

impl Mark {
    fn shift(&mut self, by: usize) {
        match self {
            Self::Root { at }
            | Self::RootRest { at }
            | Self::Span { at, .. }
            | Self::Time { at, .. } => *at += by,
        }
    }
}

#[derive(Debug)]
pub(super) struct Plan {
    shape: Shape,
    pub(super) bytes: Vec<u8>,
    pub(super) marks: Vec<Mark>,
    pub(super) steps: Vec<Step>,
}

/// All that the bytes of a plan were made of.
#[derive(Debug, Default)]
struct Shape {
    has_parent: bool,
    has_state: bool,
    spans: Vec<SpanShape>,
    events: Vec<EventShape>,
}

#[derive(Debug, PartialEq, Eq)]
struct SpanShape {
    name: Static,
    parent: u32,
    kind: Kind,
    scope: Scope,
    has_body: bool,
    events: List,
}

#[derive(Debug, PartialEq, Eq)]
struct EventShape {
    name: Static,
    has_value: bool,
    next: u32,
}

/// A text by its place: those that are at one place are the same, and that others are told apart is of no harm.
#[derive(Debug, PartialEq, Eq)]
struct Static(usize, usize);

impl Static {
    #[inline]
    fn new(text: &'static str) -> Self {
        Self(text.as_ptr().addr(), text.len())
    }
}

impl SpanShape {
    #[inline]
    fn new(span: &Record, is_root: bool) -> Self {
        Self {
            name: Static::new(span.name),
            parent: span.parent,
            kind: span.kind,
            scope: span.scope,
            has_body: is_root
                || span.role != Role::Plain
                || span.failed
                || !span.attributes.is_empty(),
            events: span.events,
        }
    }
}

impl EventShape {
    #[inline]
    fn new(event: &Event) -> Self {
        Self {
            name: Static::new(event.name),
            has_value: !event.key.is_empty(),
            next: event.next,
        }
    }
}

impl Shape {
    fn new(arena: &Arena) -> Self {
        let spans = (0..).zip(&arena.spans);
        Self {
            has_parent: arena.parent.is_some(),
            has_state: arena.state.is_some(),
            spans: spans.map(|(at, it)| SpanShape::new(it, at == 0)).collect(),
            events: arena.events.iter().map(EventShape::new).collect(),
        }
    }

    fn is_of(&self, arena: &Arena) -> bool {
        let has = [arena.parent.is_some(), arena.state.is_some()];
        if has != [self.has_parent, self.has_state]
            || self.spans.len() != arena.spans.len()
            || self.events.len() != arena.events.len()
        {
            return false;
        }
        let mut spans = (0..).zip(self.spans.iter().zip(&arena.spans));
        let mut events = self.events.iter().zip(&arena.events);
        spans.all(|(at, (own, it))| *own == SpanShape::new(it, at == 0))
            && events.all(|(own, it)| *own == EventShape::new(it))
    }
}

/// So many are known to a thread.
const KNOWN: usize = 32;
/// What is larger is made anew each time.
const LARGEST: usize = 8 << 10;

/// One of them, and the shape that was asked for last and not found, by its hash.
#[derive(Default)]
struct Place {
    plan: Option<Rc<Plan>>,
    missed: u64,
}

thread_local! {
    static PLACES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
}

impl Plan {
    /// The one that fits. A shape that is met for the second time is worth knowing.
    pub(super) fn of(arena: &Arena) -> Rc<Self> {
        let hash = hash(arena);
        PLACES.with_borrow_mut(|places| {
            if places.is_empty() {
                places.resize_with(KNOWN, Place::default);
            }
            let index = usize::try_from(hash >> 32).unwrap_or_default() % KNOWN;
            let place = &mut places[index];
            if let Some(plan) = &place.plan
                && plan.shape.is_of(arena)
            {
                return plan.clone();
            }
            let plan = Rc::new(Self::new(arena));
            let is_again = std::mem::replace(&mut place.missed, hash) == hash;
            if is_again && plan.bytes.len() <= LARGEST {
                place.plan = Some(plan.clone());
            }
            plan
        })
    }

    pub(super) fn new(arena: &Arena) -> Self {
        let mut plan = Self {
            shape: Shape::new(arena),
            bytes: Vec::new(),
            marks: Vec::new(),
            steps: Vec::new(),
        };
        for scope in Scope::ALL {
            if arena.scopes & scope.bit() != 0 {
                plan.scope(scope, arena);
            }
        }
        plan.end_copy();
        plan
    }

    /// The message `ScopeSpans`. Its length is known if that of each of its spans is.
    fn scope(&mut self, scope: Scope, arena: &Arena) {
        let of_scope = |(_, it): &(u32, &Record)| it.scope == scope;
        let spans = || (0..).zip(&arena.spans).filter(of_scope);
        let is_open = spans().any(|(at, it)| self.is_open(at, it, arena));
        self.message(field::SCOPE_SPANS, is_open, |plan| {
            plan.bytes.extend_from_slice(scope_field(scope));
            for (at, span) in spans() {
                let is_open = plan.is_open(at, span, arena);
                plan.message(field::SPAN, is_open, |plan| plan.span(at, span, arena));
            }
        });
    }

    /// Whether something of another length is part of a span.
    fn is_open(&self, at: u32, span: &Record, arena: &Arena) -> bool {
        self.has_body(at)
            || (span.events.iter(&arena.events)).any(|(_, event)| !event.key.is_empty())
    }

    fn has_body(&self, at: u32) -> bool {
        let span = self.shape.spans.get(at as usize);
        self.shape.has_state || span.is_some_and(|it| it.has_body)
    }

    fn span(&mut self, at: u32, span: &Record, arena: &Arena) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&TRACE_ID);
        self.bytes.extend_from_slice(&[0; 16]);
        self.bytes.extend_from_slice(&SPAN_ID);
        self.bytes.extend_from_slice(&[0; 8]);
        if at != 0 || self.shape.has_parent {
            self.bytes.extend_from_slice(&PARENT);
            self.bytes.extend_from_slice(&[0; 8]);
        }
        if at == 0 {
            self.marks.push(Mark::Root { at: start });
            self.end_copy();
            self.steps.push(Step::Name);
            let at = self.bytes.len();
            self.marks.push(Mark::RootRest { at });
        } else {
            wire::text(&mut self.bytes, field::NAME, span.name);
            self.marks.push(Mark::Span {
                at: start,
                rest: self.bytes.len() - start,
                span: at,
            });
        }
        self.bytes
            .extend_from_slice(&[KIND, kind(span.kind), START]);
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.push(END);
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.extend_from_slice(&FLAGS);
        self.bytes.extend_from_slice(&[0; 4]);
        if self.has_body(at) {
            self.end_copy();
            self.steps.push(Step::Body(at));
        }
        for (at, event) in span.events.iter(&arena.events) {
            if event.key.is_empty() {
                self.message(field::EVENT, false, |plan| plan.event(at, event));
            } else {
                self.end_copy();
                self.steps.push(Step::Event(at));
            }
        }
    }

    fn event(&mut self, at: u32, event: &Event) {
        let mark = Mark::Time {
            at: self.bytes.len(),
            event: at,
        };
        self.marks.push(mark);
        self.bytes.push(EVENT_TIME);
        self.bytes.extend_from_slice(&[0; 8]);
        wire::text(&mut self.bytes, field::EVENT_NAME, event.name);
    }

    /// A message, whose length is known later if it is open.
    fn message(&mut self, field: u32, is_open: bool, write: impl FnOnce(&mut Self)) {
        if is_open {
            wire::open_later(&mut self.bytes, field);
            self.end_copy();
            self.steps.push(Step::Open);
            write(self);
            self.end_copy();
            self.steps.push(Step::Close);
            return;
        }
        // Nothing in it ends a copy: it is written behind all others, and moved once its length is known.
        let (start, marks) = (self.bytes.len(), self.marks.len());
        write(self);
        let size = self.bytes.len() - start;
        let mut head = Vec::new();
        wire::open(&mut head, field, size);
        let shift = head.len();
        self.bytes.splice(start..start, head);
        for mark in &mut self.marks[marks..] {
            mark.shift(shift);
        }
    }

    /// What was written since the last copy ended is copied in one piece.
    fn end_copy(&mut self) {
        let done = |step: &Step| match *step {
            Step::Copy { to, marks } => Some((to, marks)),
            _ => None,
        };
        let before = self.steps.iter().rev().find_map(done);
        let (from, counted) = before.unwrap_or_default();
        let (to, marks) = (self.bytes.len(), self.marks.len());
        if to > from || marks > counted {
            self.steps.push(Step::Copy { to, marks });
        }
    }
}

/// By what tells most shapes apart: what is found is compared.
fn hash(arena: &Arena) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let name = |it: Option<&Record>| it.map_or(0, |it| it.name.as_ptr().addr());
    let middle = arena.spans.get(arena.spans.len() / 2);
    let names = name(arena.spans.last()) ^ name(middle).rotate_left(20);
    let counts = arena.spans.len() << 48 ^ arena.events.len() << 40;
    // Zero is what nobody asked for.
    ((names ^ counts) as u64).wrapping_mul(MIX) | 1
}

/// The message `InstrumentationScope` with its tag, its length and its name.
pub(super) fn scope_field(scope: Scope) -> &'static [u8] {
    match scope {
        Scope::Own => b"\x0a\x0c\x0a\x0apilothouse",
        // Upstream's own spelling.
        Scope::Filter => b"\x0a\x2e\x0a\x2ck8s.op/apiserver/pkg/endpoints/filterlatency",
        Scope::Component => b"\x0a\x1f\x0a\x1dk8s.io/component-base/tracing",
    }
}

fn kind(kind: Kind) -> u8 {
    match kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
    }
}

#[cfg(test)]
mod tests;
