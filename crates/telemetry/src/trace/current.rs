//! Hot path. The request that this thread is at.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;

use super::arena::{Arena, Keep, Kind, Scope};
use super::attributes::Value;
use super::clock::{Tick, now};
use super::describe::Role;
use super::pool;
use crate::Ids;
use crate::context::{TraceContext, traceparent};

thread_local! {
    static CURRENT: RefCell<Option<Box<Arena>>> = const { RefCell::new(None) };
    /// What is kept of it: what is asked all the time is asked of this.
    static KEEP: Cell<Keep> = const { Cell::new(Keep::Nothing) };
}

/// Puts another in the place of the current one.
fn exchange(arena: Option<Box<Arena>>) -> Option<Box<Arena>> {
    KEEP.set(arena.as_ref().map_or(Keep::Nothing, |it| it.keep()));
    CURRENT.replace(arena)
}

/// Where an arena is while its request is not at work.
#[derive(Debug, Default)]
pub(super) struct Slot(Option<Box<Arena>>);

impl Slot {
    pub(super) fn enter<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let previous = exchange(self.0.take());
        let mut entered = Entered {
            slot: self,
            previous,
        };
        let done = run();
        entered.leave();
        done
    }

    pub(super) fn server_timing(&self) -> Option<[u8; SERVER_TIMING]> {
        let arena = self.0.as_ref().filter(|it| it.is_recording())?;
        let mut out = [0; SERVER_TIMING];
        let (name, value) = out.split_at_mut(TIMING_NAME.len());
        name.copy_from_slice(TIMING_NAME);
        let parent = traceparent(arena.trace_id, arena.span_id(0), arena.flags);
        value.copy_from_slice(&parent);
        Some(out)
    }

    /// Of the root, if it is recorded.
    pub(super) fn ids(&self) -> Option<Ids> {
        let arena = self.0.as_ref().filter(|it| it.is_recording())?;
        Some(Ids {
            trace_id: arena.trace_id.to_bytes(),
            span_id: arena.span_id(0).to_bytes(),
        })
    }

    pub(super) fn take(&mut self) -> Option<Box<Arena>> {
        self.0.take()
    }
}

const TIMING_NAME: &[u8; 11] = b"trace;desc=";
/// The length of a `Server-Timing`.
pub const SERVER_TIMING: usize = TIMING_NAME.len() + 55;

/// Leaves even if the request panics.
struct Entered<'a> {
    slot: &'a mut Slot,
    previous: Option<Box<Arena>>,
}

impl Entered<'_> {
    fn leave(&mut self) {
        self.slot.0 = exchange(self.previous.take());
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.leave();
        }
    }
}

/// The current request's trace begins.
pub(super) fn replace(arena: Box<Arena>) {
    if let Some(previous) = exchange(Some(arena)) {
        pool::give_back(previous);
    }
}

/// Does something with the arena of the current request, if that is recorded.
fn recording<T>(act: impl FnOnce(&mut Arena) -> T) -> Option<T> {
    if is_recording() { with(act) } else { None }
}

#[inline]
fn with<T>(act: impl FnOnce(&mut Arena) -> T) -> Option<T> {
    CURRENT.with(|current| current.try_borrow_mut().ok()?.as_deref_mut().map(act))
}

/// Whether what is said now is kept.
#[inline]
pub fn is_recording() -> bool {
    KEEP.get() == Keep::Spans
}

/// Something happened in the innermost span.
#[inline]
pub fn event(name: &'static str) {
    if is_recording() {
        record(name, "", 0);
    }
}

/// The same with a number.
#[inline]
pub fn event_with(name: &'static str, key: &'static str, value: usize) {
    if is_recording() {
        record(name, key, value);
    }
}

fn record(name: &'static str, key: &'static str, value: usize) {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    recording(|arena| arena.event(arena.current, name, key, value));
}

/// Something happened that the request's handler tells of, however deep it was found out.
pub fn handler_event(name: &'static str) {
    recording(|arena| arena.event(arena.handler(), name, "", 0));
}

/// Begins a span below the innermost one, and is the innermost one itself until it ends.
#[inline]
pub fn span(name: &'static str) -> Span {
    span_as(name, Scope::Component, Role::Plain)
}

#[inline]
pub fn span_as(name: &'static str, scope: Scope, role: Role) -> Span {
    match KEEP.get() {
        Keep::Nothing => Span::NONE,
        Keep::Count => {
            count();
            Span::NONE
        }
        Keep::Spans => span_from(name, scope, role, now()),
    }
}

/// A span that there is no room for.
fn count() {
    with(|arena| arena.counted += 1);
}

/// The same for what began a little earlier.
pub fn span_from(name: &'static str, scope: Scope, role: Role, begun: Tick) -> Span {
    if KEEP.get() == Keep::Count {
        count();
    }
    let started = recording(|arena| {
        let index = arena.start(name, arena.current, scope, role, begun)?;
        arena.current = index;
        let serial = arena.serial();
        Some(Span { serial, index })
    });
    started.flatten().unwrap_or(Span::NONE)
}

/// A future that goes on beside others of the same request: it has an innermost span of its own.
pub async fn apart<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut own = recording(|arena| arena.current);
    poll_fn(move |context| {
        let swap = |own: &mut Option<u32>| {
            if let Some(own) = own {
                recording(|arena| std::mem::swap(&mut arena.current, own));
            }
        };
        swap(&mut own);
        let polled = future.as_mut().poll(context);
        swap(&mut own);
        polled
    })
    .await
}

/// The current request's trace, taken off this thread to go on on another while this one waits.
#[derive(Debug)]
#[must_use = "what is not put back is lost"]
pub struct Carried(Slot);

impl Carried {
    pub fn take() -> Self {
        Self(Slot(exchange(None)))
    }

    /// Wherever it is polled, it is a part of the request.
    pub async fn along<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| self.0.enter(|| future.as_mut().poll(context))).await
    }

    pub fn put_back(mut self) {
        exchange(self.0.take());
    }
}

/// A span that is over already, below the innermost one.
pub fn past(name: &'static str, scope: Scope, start: Tick, end: Tick) {
    if KEEP.get() == Keep::Count {
        count();
    }
    recording(|arena| {
        let index = arena.start(name, arena.current, scope, Role::Plain, start);
        if let Some(record) = index.and_then(|it| arena.record(it)) {
            record.end = Some(end);
        }
    });
}

/// The headers that a call of somebody else takes along from the innermost span.
pub fn outgoing() -> Option<Outgoing> {
    with(|arena| Outgoing {
        traceparent: traceparent(arena.trace_id, arena.caller(), arena.flags),
        tracestate: arena.state.as_deref().map(str::to_owned),
        baggage: arena.baggage.as_deref().map(str::to_owned),
    })
}

/// The root of the current request, if it is recorded: what goes on after the request can link to it.
pub fn root() -> Option<TraceContext> {
    recording(|arena| arena.root())
}

/// What goes along with a call.
#[derive(Clone, Debug)]
pub struct Outgoing {
    pub traceparent: [u8; 55],
    pub tracestate: Option<String>,
    pub baggage: Option<String>,
}

impl Outgoing {
    /// By their names.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        use crate::context::{TRACEPARENT, TRACESTATE, baggage};
        let parent = (TRACEPARENT, &self.traceparent[..]);
        let state = self.tracestate.as_ref();
        let state = state.map(|it| (TRACESTATE, it.as_bytes()));
        let baggage = self
            .baggage
            .as_ref()
            .map(|it| (baggage::HEADER, it.as_bytes()));
        [Some(parent), state, baggage].into_iter().flatten()
    }
}

/// A part of a request; ends when it is dropped, or with its request. Says nothing where nothing is recorded.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Span {
    serial: u64,
    index: u32,
}

/// Of a span that is not recorded.
const NOWHERE: u32 = u32::MAX;

impl Span {
    const NONE: Self = Self {
        serial: 0,
        index: NOWHERE,
    };

    /// Nothing if the request is not at work on this thread now.
    fn with<T>(&self, act: impl FnOnce(&mut Arena, u32) -> T) -> Option<T> {
        if self.index == NOWHERE {
            return None;
        }
        let done =
            recording(|arena| (arena.serial() == self.serial).then(|| act(arena, self.index)));
        done.flatten()
    }

    /// The value is made only if it is kept.
    #[inline]
    pub fn set<V: Into<Value>>(&self, key: &'static str, value: impl FnOnce() -> V) {
        if self.index == NOWHERE {
            return;
        }
        let value = value().into();
        self.with(|arena, index| arena.attribute(index, key, value));
    }

    /// The same for a text that is there already: it is copied only where it is kept.
    #[inline]
    pub fn set_text(&self, key: &'static str, value: &str) {
        if self.index != NOWHERE {
            self.with(|arena, index| arena.text_attribute(index, key, value));
        }
    }

    /// A call of somebody else.
    #[inline]
    pub fn client(self) -> Self {
        self.with(|arena, index| {
            if let Some(record) = arena.record(index) {
                record.kind = Kind::Client;
                record.scope = Scope::Own;
            }
        });
        self
    }

    /// It did not go well.
    pub fn fail(&self) {
        self.with(|arena, index| {
            if let Some(record) = arena.record(index) {
                record.failed = true;
            }
        });
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if self.index != NOWHERE {
            self.with(Arena::end);
        }
    }
}
