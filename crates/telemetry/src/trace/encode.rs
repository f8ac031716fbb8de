//! From an arena to OTLP, on the exporter's thread.

use std::cell::RefCell;
use std::sync::Arc;

use super::arena::{Arena, Event, Kind, Link, Record, Scope};
use super::attributes::Attributes;
use super::clock::Calendar;
use super::describe::Description;
use super::pool::Pool;
use super::wire;
use crate::export::Item;

/// What a request recorded, as it waits for its export.
#[derive(Debug)]
pub struct Finished {
    /// There until it is dropped.
    arena: Option<Box<Arena>>,
    pool: Arc<Pool>,
}

/// Fields of the messages of `opentelemetry/proto/trace/v1/trace.proto`.
mod field {
    pub(super) const SCOPE_SPANS: u32 = 2;
    pub(super) const SCOPE: u32 = 1;
    pub(super) const SCOPE_NAME: u32 = 1;
    pub(super) const SPAN: u32 = 2;
    pub(super) const TRACE_ID: u32 = 1;
    pub(super) const SPAN_ID: u32 = 2;
    pub(super) const TRACE_STATE: u32 = 3;
    pub(super) const PARENT: u32 = 4;
    pub(super) const NAME: u32 = 5;
    pub(super) const KIND: u32 = 6;
    pub(super) const START: u32 = 7;
    pub(super) const END: u32 = 8;
    pub(super) const EVENT: u32 = 11;
    pub(super) const DROPPED_EVENTS: u32 = 12;
    pub(super) const LINK: u32 = 13;
    pub(super) const STATUS: u32 = 15;
    pub(super) const FLAGS: u32 = 16;
    pub(super) const EVENT_TIME: u32 = 1;
    pub(super) const EVENT_NAME: u32 = 2;
    pub(super) const EVENT_ATTRIBUTE: u32 = 3;
    pub(super) const LINK_FLAGS: u32 = 6;
    pub(super) const STATUS_CODE: u32 = 3;
}

const STATUS_ERROR: i64 = 2;
/// It is known whether the parent is in another process, and it is.
const HAS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

impl Finished {
    pub(super) fn new(arena: Box<Arena>, pool: Arc<Pool>) -> Self {
        Self {
            arena: Some(arena),
            pool,
        }
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        if let Some(arena) = self.arena.take() {
            self.pool.give_back(arena);
        }
    }
}

impl Item for Finished {
    fn spans(&self) -> u64 {
        self.arena.as_ref().map_or(0, |it| it.spans.len() as u64)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let Some(arena) = &self.arena else {
            return;
        };
        DESCRIPTION.with_borrow_mut(|description| {
            description.clear();
            if let Some(describe) = &arena.describe {
                describe.describe(description);
            }
            let calendar = Calendar::new();
            let encoding = Encoding {
                arena,
                description,
                calendar,
            };
            encoding.write(out);
        });
    }
}

thread_local! {
    /// Of the trace that is just encoded.
    static DESCRIPTION: RefCell<Description> = RefCell::default();
}

struct Encoding<'a> {
    arena: &'a Arena,
    description: &'a Description,
    calendar: Calendar,
}

impl Encoding<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let spans = &self.arena.spans;
        for scope in Scope::ALL {
            if spans.iter().all(|it| it.scope != scope) {
                continue;
            }
            wire::message(out, field::SCOPE_SPANS, |out| {
                wire::message(out, field::SCOPE, |out| {
                    wire::text(out, field::SCOPE_NAME, scope.name());
                });
                for (index, span) in (0..).zip(spans) {
                    if span.scope == scope {
                        wire::message(out, field::SPAN, |out| self.span(index, span, out));
                    }
                }
            });
        }
    }

    fn span(&self, index: u32, span: &Record, out: &mut Vec<u8>) {
        let Self {
            arena,
            description,
            calendar,
        } = self;
        let is_root = index == 0;
        let parent = if is_root {
            arena.parent
        } else {
            Some(arena.span_id(span.parent))
        };
        wire::bytes(out, field::TRACE_ID, &arena.trace_id.to_bytes());
        wire::bytes(out, field::SPAN_ID, &span.id.to_bytes());
        if let Some(state) = &arena.state {
            wire::text(out, field::TRACE_STATE, state);
        }
        if let Some(parent) = parent {
            wire::bytes(out, field::PARENT, &parent.to_bytes());
        }
        let name = if is_root {
            &description.name
        } else {
            span.name
        };
        wire::text(out, field::NAME, name);
        wire::int(out, field::KIND, kind(span.kind));
        wire::fixed64(out, field::START, calendar.nanos(span.start));
        let end = span.end.unwrap_or(span.start).max(span.start);
        wire::fixed64(out, field::END, calendar.nanos(end));
        out.extend_from_slice(description.attributes(span.role));
        let mut attributes = Attributes::of_span(out);
        for it in arena.attributes.iter().filter(|it| it.span == index) {
            attributes.held(it.key, &it.value, &arena.text);
        }
        for it in arena.events.iter().filter(|it| it.span == index) {
            wire::message(out, field::EVENT, |out| event(it, calendar, out));
        }
        if is_root && arena.left_out > 0 {
            wire::int(out, field::DROPPED_EVENTS, arena.left_out.into());
        }
        if let Some(it) = arena.link.as_ref().filter(|_| is_root) {
            wire::message(out, field::LINK, |out| link(it, out));
        }
        if span.failed || is_root && description.is_error {
            wire::message(out, field::STATUS, |out| {
                wire::int(out, field::STATUS_CODE, STATUS_ERROR);
            });
        }
        let remote = if is_root && arena.parent.is_some() {
            IS_REMOTE
        } else {
            0
        };
        let flags = u32::from(arena.flags.bits()) | HAS_REMOTE | remote;
        wire::fixed32(out, field::FLAGS, flags);
    }
}

fn kind(kind: Kind) -> i64 {
    match kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
    }
}

fn event(event: &Event, calendar: &Calendar, out: &mut Vec<u8>) {
    wire::fixed64(out, field::EVENT_TIME, calendar.nanos(event.time));
    wire::text(out, field::EVENT_NAME, event.name);
    if !event.key.is_empty() {
        let mut attributes = Attributes {
            out,
            field: field::EVENT_ATTRIBUTE,
        };
        attributes.int(event.key, event.value);
    }
}

fn link(Link { context, is_remote }: &Link, out: &mut Vec<u8>) {
    wire::bytes(out, field::TRACE_ID, &context.trace_id.to_bytes());
    wire::bytes(out, field::SPAN_ID, &context.span_id.to_bytes());
    if let Some(state) = &context.state {
        wire::text(out, field::TRACE_STATE, state);
    }
    let remote = if *is_remote { IS_REMOTE } else { 0 };
    let flags = u32::from(context.flags.bits()) | HAS_REMOTE | remote;
    wire::fixed32(out, field::LINK_FLAGS, flags);
}
