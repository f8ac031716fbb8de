//! Hot path. From an arena to OTLP, as soon as the request is over: what it recorded is at hand then, and its room is free for
//! the next.

use super::arena::{Arena, Event, Link, Record};
use super::attributes::{Attributes, Name};
use super::clock::{Calendar, Tick};
use super::describe::{Describe, Role};
use super::plan::{IDS, Mark, Plan, REST, ROOT_IDS, Step, TIME};
use super::wire;

/// Fields of the messages of `opentelemetry/proto/trace/v1/trace.proto`.
mod field {
    pub(super) const TRACE_ID: u32 = 1;
    pub(super) const SPAN_ID: u32 = 2;
    pub(super) const TRACE_STATE: u32 = 3;
    pub(super) const NAME: u32 = 5;
    pub(super) const EVENT: u32 = 11;
    pub(super) const EVENT_NAME: u32 = 2;
    pub(super) const EVENT_ATTRIBUTE: u32 = 3;
    pub(super) const DROPPED_EVENTS: u32 = 12;
    pub(super) const LINK: u32 = 13;
    pub(super) const STATUS: u32 = 15;
    pub(super) const STATUS_CODE: u32 = 3;
}

const STATUS_ERROR: i64 = 2;
/// It is known whether the parent is in another process, and it is.
const HAS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

/// Tags that are written with what follows them.
const EVENT: u8 = 0x5a;
const EVENT_TIME: u8 = 0x09;
const EVENT_NAME: u8 = 0x12;

/// Appends `scope_spans`, one for each scope that there is, each with its tag and length.
pub(super) fn encode(arena: &Arena, end: Tick, describe: &dyn Describe, out: &mut Vec<u8>) {
    at(arena, Calendar::at(end), describe, out);
}

/// The same by a calendar.
pub(super) fn at(arena: &Arena, calendar: Calendar, describe: &dyn Describe, out: &mut Vec<u8>) {
    Encoding::new(arena, calendar, describe).write(&Plan::of(arena), out);
}

struct Encoding<'a> {
    arena: &'a Arena,
    describe: &'a dyn Describe,
    calendar: Calendar,
    trace_id: [u8; 16],
    flags: u32,
}

impl<'a> Encoding<'a> {
    fn new(arena: &'a Arena, calendar: Calendar, describe: &'a dyn Describe) -> Self {
        Self {
            arena,
            describe,
            calendar,
            trace_id: arena.trace_id.to_bytes(),
            flags: u32::from(arena.flags.bits()) | HAS_REMOTE,
        }
    }

    fn write(&self, plan: &Plan, out: &mut Vec<u8>) {
        // A scope, and a span of it.
        let (mut open, mut depth) = ([0; 2], 0);
        let (mut from, mut marked) = (0, 0);
        for step in &plan.steps {
            match *step {
                Step::Copy { to, marks } => {
                    let start = out.len();
                    out.extend_from_slice(&plan.bytes[from..to]);
                    let copied = &mut out[start..];
                    for mark in &plan.marks[marked..marks] {
                        self.fill_in(mark, from, copied);
                    }
                    (from, marked) = (to, marks);
                }
                Step::Open => {
                    open[depth] = out.len() - 2;
                    depth += 1;
                }
                Step::Close => {
                    depth -= 1;
                    wire::close(out, open[depth], 2);
                }
                Step::Name => wire::message(out, field::NAME, 1, |out| {
                    self.describe.name(&mut Name { out });
                }),
                Step::Body(span) => {
                    if let Some(record) = self.arena.spans.get(span as usize) {
                        self.body(span == 0, record, out);
                    }
                }
                Step::Event(event) => {
                    if let Some(event) = self.arena.events.get(event as usize) {
                        self.event(event, out);
                    }
                }
            }
        }
    }

    /// Ids and times in what was copied from `from` on.
    #[inline]
    fn fill_in(&self, mark: &Mark, from: usize, copied: &mut [u8]) {
        match *mark {
            Mark::Root { at } => self.root_ids(&mut copied[at - from..]),
            Mark::RootRest { at } => {
                let remote = if self.arena.parent.is_some() {
                    IS_REMOTE
                } else {
                    0
                };
                if let Some(record) = self.arena.spans.first() {
                    self.rest(record, self.flags | remote, &mut copied[at - from..]);
                }
            }
            Mark::Span { at, rest, span } => {
                let Some(record) = self.arena.spans.get(span as usize) else {
                    return;
                };
                let place = &mut copied[at - from..];
                if let Some(ids) = place.first_chunk_mut::<IDS>() {
                    ids[2..18].copy_from_slice(&self.trace_id);
                    ids[20..28].copy_from_slice(&self.arena.span_id(span).to_bytes());
                    ids[30..].copy_from_slice(&self.arena.span_id(record.parent).to_bytes());
                }
                self.rest(record, self.flags, &mut place[rest..]);
            }
            Mark::Time { at, event } => {
                let time = copied[at - from..].first_chunk_mut::<TIME>();
                let event = self.arena.events.get(event as usize);
                if let (Some(time), Some(event)) = (time, event) {
                    time[1..].copy_from_slice(&self.calendar.nanos(event.time).to_le_bytes());
                }
            }
        }
    }

    #[inline]
    fn rest(&self, record: &Record, flags: u32, place: &mut [u8]) {
        let end = record.end.unwrap_or(record.start).max(record.start);
        if let Some(rest) = place.first_chunk_mut::<REST>() {
            rest[3..11].copy_from_slice(&self.calendar.nanos(record.start).to_le_bytes());
            rest[12..20].copy_from_slice(&self.calendar.nanos(end).to_le_bytes());
            rest[22..].copy_from_slice(&flags.to_le_bytes());
        }
    }

    fn root_ids(&self, place: &mut [u8]) {
        if let Some(ids) = place.first_chunk_mut::<ROOT_IDS>() {
            ids[2..18].copy_from_slice(&self.trace_id);
            ids[20..].copy_from_slice(&self.arena.span_id(0).to_bytes());
        }
        if let Some(parent) = self.arena.parent
            && let Some(ids) = place.first_chunk_mut::<IDS>()
        {
            ids[30..].copy_from_slice(&parent.to_bytes());
        }
    }

    fn body(&self, is_root: bool, span: &Record, out: &mut Vec<u8>) {
        let arena = self.arena;
        if is_root {
            self.root(span, out);
        }
        if let Some(state) = &arena.state {
            wire::text(out, field::TRACE_STATE, state);
        }
        let mut attributes = Attributes::of_span(out);
        if span.role != Role::Plain {
            self.describe.attributes(span.role, &mut attributes);
        }
        for (_, it) in span.attributes.iter(&arena.attributes) {
            attributes.held(it.key, &it.value, &arena.text);
        }
        if span.failed {
            status_error(out);
        }
    }

    fn root(&self, span: &Record, out: &mut Vec<u8>) {
        let arena = self.arena;
        if arena.left_out > 0 {
            wire::int(out, field::DROPPED_EVENTS, arena.left_out.into());
        }
        if let Some(it) = &arena.link {
            wire::message(out, field::LINK, 1, |out| link(it, out));
        }
        if self.describe.is_error() && !span.failed {
            status_error(out);
        }
    }

    /// One with a number.
    fn event(&self, event: &Event, out: &mut Vec<u8>) {
        let time = self.calendar.nanos(event.time).to_le_bytes();
        let more = wire::int_attribute_size(event.key, event.value);
        let size = TIME + 2 + event.name.len() + more;
        if size >= 0x80 {
            return Self::long_event(event, time, out);
        }
        // Its length is known before.
        let [size, name] = [size, event.name.len()].map(|it| it.to_le_bytes()[0]);
        let mut head = [0; 13];
        head[..3].copy_from_slice(&[EVENT, size, EVENT_TIME]);
        head[3..11].copy_from_slice(&time);
        head[11..].copy_from_slice(&[EVENT_NAME, name]);
        out.extend_from_slice(&head);
        out.extend_from_slice(event.name.as_bytes());
        wire::int_attribute(out, field::EVENT_ATTRIBUTE, event.key, event.value);
    }

    #[cold]
    fn long_event(event: &Event, at: [u8; 8], out: &mut Vec<u8>) {
        wire::message(out, field::EVENT, 1, |out| {
            let mut time = [EVENT_TIME; TIME];
            time[1..].copy_from_slice(&at);
            out.extend_from_slice(&time);
            wire::text(out, field::EVENT_NAME, event.name);
            wire::int_attribute(out, field::EVENT_ATTRIBUTE, event.key, event.value);
        });
    }
}

fn status_error(out: &mut Vec<u8>) {
    wire::message(out, field::STATUS, 1, |out| {
        wire::int(out, field::STATUS_CODE, STATUS_ERROR);
    });
}

fn link(Link { context, is_remote }: &Link, out: &mut Vec<u8>) {
    wire::bytes(out, field::TRACE_ID, &context.trace_id.to_bytes());
    wire::bytes(out, field::SPAN_ID, &context.span_id.to_bytes());
    if let Some(state) = &context.state {
        wire::text(out, field::TRACE_STATE, state);
    }
    let remote = if *is_remote { IS_REMOTE } else { 0 };
    let flags = u32::from(context.flags.bits()) | HAS_REMOTE | remote;
    // A field of four bytes, the sixth of a link.
    out.push(0x35);
    out.extend_from_slice(&flags.to_le_bytes());
}
