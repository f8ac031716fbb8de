//! Hot path. From an arena to OTLP, as soon as the request is over: what it recorded is at hand then, and its room is free for
//! the next.

use super::arena::{Arena, Event, Kind, Link, Record, Scope};
use super::attributes::{Attributes, Name};
use super::clock::{Calendar, Tick};
use super::describe::{Describe, Role};
use super::wire;

/// Fields of the messages of `opentelemetry/proto/trace/v1/trace.proto`.
mod field {
    pub(super) const SCOPE_SPANS: u32 = 2;
    pub(super) const SPAN: u32 = 2;
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

/// Tags that are written with what follows them: `bytes` of 16 and of 8, `fixed64`, `fixed32`, `varint`.
const TRACE_ID: [u8; 2] = [0x0a, 16];
const SPAN_ID: [u8; 2] = [0x12, 8];
const PARENT: [u8; 2] = [0x22, 8];
const KIND: u8 = 0x30;
const START: u8 = 0x39;
const END: u8 = 0x41;
const FLAGS: [u8; 2] = [0x85, 0x01];
const EVENT: u8 = 0x5a;
const EVENT_TIME: u8 = 0x09;
const EVENT_NAME: u8 = 0x12;

/// The message `InstrumentationScope` with its tag, its length and its name.
fn scope_field(scope: Scope) -> &'static [u8] {
    match scope {
        Scope::Own => b"\x0a\x0c\x0a\x0apilothouse",
        // Upstream's own spelling.
        Scope::Filter => b"\x0a\x2e\x0a\x2ck8s.op/apiserver/pkg/endpoints/filterlatency",
        Scope::Component => b"\x0a\x1f\x0a\x1dk8s.io/component-base/tracing",
    }
}

/// Appends `scope_spans`, one for each scope that there is, each with its tag and length.
pub(super) fn encode(arena: &Arena, end: Tick, describe: &dyn Describe, out: &mut Vec<u8>) {
    let encoding = Encoding::new(arena, end, describe);
    for scope in Scope::ALL {
        if arena.scopes & scope.bit() == 0 {
            continue;
        }
        wire::message(out, field::SCOPE_SPANS, 2, |out| {
            out.extend_from_slice(scope_field(scope));
            for (index, span) in (0..).zip(&arena.spans) {
                if span.scope == scope {
                    encoding.span(index, span, out);
                }
            }
        });
    }
}

/// Trace, span and parent: what most spans begin with.
const IDS: usize = 18 + 10 + 10;
/// Kind, times and flags: what all have behind their name.
const REST: usize = 2 + 9 + 9 + 6;

struct Encoding<'a> {
    arena: &'a Arena,
    describe: &'a dyn Describe,
    calendar: Calendar,
    ids: [u8; IDS],
    flags: u32,
}

impl<'a> Encoding<'a> {
    fn new(arena: &'a Arena, end: Tick, describe: &'a dyn Describe) -> Self {
        let mut ids = [0; IDS];
        ids[..2].copy_from_slice(&TRACE_ID);
        ids[2..18].copy_from_slice(&arena.trace_id.to_bytes());
        ids[18..20].copy_from_slice(&SPAN_ID);
        ids[28..30].copy_from_slice(&PARENT);
        Self {
            arena,
            describe,
            calendar: Calendar::at(end),
            ids,
            flags: u32::from(arena.flags.bits()) | HAS_REMOTE,
        }
    }

    fn span(&self, index: u32, span: &Record, out: &mut Vec<u8>) {
        let says_nothing = index != 0
            && span.role == Role::Plain
            && span.attributes.is_empty()
            && span.events.is_empty()
            && !span.failed
            && self.arena.state.is_none();
        let size = IDS + 2 + span.name.len() + REST;
        if says_nothing && size < 0x80 {
            // Its length is known before.
            wire::open(out, field::SPAN, size);
            return self.head(index, span, out);
        }
        wire::message(out, field::SPAN, 2, |out| {
            if index == 0 {
                self.root(span, out);
            } else {
                self.head(index, span, out);
            }
            self.body(span, out);
        });
    }

    fn ids(&self, index: u32, parent: Option<[u8; 8]>, out: &mut Vec<u8>) {
        let mut ids = self.ids;
        ids[20..28].copy_from_slice(&self.arena.span_id(index).to_bytes());
        let Some(parent) = parent else {
            return out.extend_from_slice(&ids[..28]);
        };
        ids[30..].copy_from_slice(&parent);
        out.extend_from_slice(&ids);
    }

    #[inline]
    fn head(&self, index: u32, span: &Record, out: &mut Vec<u8>) {
        let parent = self.arena.span_id(span.parent).to_bytes();
        self.ids(index, Some(parent), out);
        wire::text(out, field::NAME, span.name);
        self.rest(span, self.flags, out);
    }

    fn root(&self, span: &Record, out: &mut Vec<u8>) {
        let arena = self.arena;
        let parent = arena.parent.map(crate::context::SpanId::to_bytes);
        self.ids(0, parent, out);
        wire::message(out, field::NAME, 1, |out| {
            self.describe.name(&mut Name { out });
        });
        let remote = if parent.is_some() { IS_REMOTE } else { 0 };
        self.rest(span, self.flags | remote, out);
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

    #[inline]
    fn rest(&self, span: &Record, flags: u32, out: &mut Vec<u8>) {
        let end = span.end.unwrap_or(span.start).max(span.start);
        let mut rest = [0; REST];
        rest[..2].copy_from_slice(&[KIND, kind(span.kind)]);
        rest[2] = START;
        rest[3..11].copy_from_slice(&self.calendar.nanos(span.start).to_le_bytes());
        rest[11] = END;
        rest[12..20].copy_from_slice(&self.calendar.nanos(end).to_le_bytes());
        rest[20..22].copy_from_slice(&FLAGS);
        rest[22..].copy_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&rest);
    }

    fn body(&self, span: &Record, out: &mut Vec<u8>) {
        let arena = self.arena;
        if let Some(state) = &arena.state {
            wire::text(out, field::TRACE_STATE, state);
        }
        let mut attributes = Attributes::of_span(out);
        if span.role != Role::Plain {
            self.describe.attributes(span.role, &mut attributes);
        }
        for it in span.attributes.iter(&arena.attributes) {
            attributes.held(it.key, &it.value, &arena.text);
        }
        for it in span.events.iter(&arena.events) {
            self.event(it, out);
        }
        if span.failed {
            status_error(out);
        }
    }

    fn event(&self, event: &Event, out: &mut Vec<u8>) {
        let time = self.calendar.nanos(event.time).to_le_bytes();
        let has_value = !event.key.is_empty();
        let size = 9 + 2 + event.name.len();
        let more = if has_value {
            wire::int_attribute_size(event.key, event.value)
        } else {
            0
        };
        if size + more >= 0x80 {
            return Self::long_event(event, time, out);
        }
        // Its length is known before.
        let [size, name] = [size + more, event.name.len()].map(|it| it.to_le_bytes()[0]);
        let mut head = [0; 13];
        head[..3].copy_from_slice(&[EVENT, size, EVENT_TIME]);
        head[3..11].copy_from_slice(&time);
        head[11..].copy_from_slice(&[EVENT_NAME, name]);
        out.extend_from_slice(&head);
        out.extend_from_slice(event.name.as_bytes());
        if has_value {
            wire::int_attribute(out, field::EVENT_ATTRIBUTE, event.key, event.value);
        }
    }

    #[cold]
    fn long_event(event: &Event, at: [u8; 8], out: &mut Vec<u8>) {
        wire::message(out, field::EVENT, 1, |out| {
            let mut time = [EVENT_TIME; 9];
            time[1..].copy_from_slice(&at);
            out.extend_from_slice(&time);
            wire::text(out, field::EVENT_NAME, event.name);
            if !event.key.is_empty() {
                wire::int_attribute(out, field::EVENT_ATTRIBUTE, event.key, event.value);
            }
        });
    }
}

fn kind(kind: Kind) -> u8 {
    match kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf;

    #[test]
    fn scopes_are_messages() {
        for (scope, name) in [
            (Scope::Own, "pilothouse"),
            (
                Scope::Filter,
                "k8s.op/apiserver/pkg/endpoints/filterlatency",
            ),
            (Scope::Component, "k8s.io/component-base/tracing"),
        ] {
            let mut want = protobuf::Message::default();
            want.message(1, |it| it.text(1, name));
            assert_eq!(scope_field(scope), want.0);
        }
    }
}
