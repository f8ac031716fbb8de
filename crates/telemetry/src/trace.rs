//! The recorder: what one request did, and when.
//!
//! A request's spans, events and attributes gather in one pooled arena that its task carries with it: while the task is
//! polled the arena is the thread's current one ([`RequestTrace::enter`]), so that code at any depth says [`span`] or [`event`]
//! without a parameter, without a lock and without an atomic. Where nothing is recorded, that is one look at a
//! thread-local. When the request is over, all of it is written as OTLP straight into a message of the bounded queue, and the
//! arena is free for the next request of the same thread.

mod arena;
mod attributes;
mod clock;
mod current;
mod describe;
mod encode;
mod ids;
mod plan;
mod pool;
mod sampling;
mod wire;

use std::sync::Arc;

pub use self::arena::{Kind, Scope};
pub use self::attributes::{Attributes, Encoded, Name, Value};
pub use self::clock::{Tick, now};
pub use self::current::{
    Carried, Outgoing, SERVER_TIMING, Span, apart, event, event_with, handler_event, is_recording,
    outgoing, past, root, span, span_as, span_from,
};
pub use self::describe::{Describe, Role};
pub use self::sampling::{Sampling, Trust};

use self::arena::{Arena, Keep, Link};
use self::current::Slot;
use self::describe::Abandoned;
use self::sampling::Sampler;
use crate::Ids;
use crate::context::{Flags, TraceContext};
use crate::export::Queue;

/// Decides which requests are recorded, and takes in what they recorded.
#[derive(Debug)]
pub struct Tracer {
    sampler: Sampler,
    queue: Arc<Queue>,
}

/// What a request says of the trace that it belongs to.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    pub context: Option<TraceContext>,
    /// Read only from those who may be a parent.
    pub baggage: Option<Arc<str>>,
}

impl Tracer {
    /// Off, until [`Tracer::set`] says otherwise.
    pub fn new(queue: Arc<Queue>) -> Self {
        Self {
            sampler: Sampler::default(),
            queue,
        }
    }

    /// From now on; `None` records nothing.
    pub fn set(&self, sampling: Option<Sampling>) {
        self.sampler.set(sampling);
    }

    pub fn is_on(&self) -> bool {
        self.sampler.is_on()
    }

    /// What is recorded and finished waits here.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// What the task of a request that comes in carries with it.
    pub fn request(&self) -> RequestTrace<'_> {
        RequestTrace {
            tracer: self,
            slot: Slot::default(),
        }
    }

    /// Begins the current request's trace, whose root began at `started`. `who` is a client whose wishes count so often.
    pub fn begin(&self, incoming: Incoming, trust: Trust, who: &str, started: Tick) {
        let on = self.is_on();
        let parent = match trust {
            Trust::Parent => incoming.context.as_ref(),
            Trust::Link | Trust::Nobody => None,
        };
        if !on && parent.is_none() {
            return;
        }
        let (trace_id, flags) = match parent {
            Some(parent) => (parent.trace_id, parent.flags),
            None => (ids::trace(), Flags::minted(false)),
        };
        let keep = match on && self.sampler.decide(parent, trace_id, who) {
            true if self.queue.is_full() => Keep::Count,
            true => Keep::Spans,
            false => Keep::Nothing,
        };
        let recorded = keep == Keep::Spans;
        let flags = flags.with_sampled(recorded || !on && flags.sampled());
        let mut arena = pool::take();
        arena.reset(trace_id, flags, keep);
        match keep {
            Keep::Nothing => {}
            Keep::Count => arena.counted = 1,
            Keep::Spans => arena.open_root(started, Kind::Server),
        }
        match (trust, incoming.context) {
            (Trust::Parent, Some(parent)) => arena.set_parent(parent, incoming.baggage, on),
            (Trust::Link, Some(context)) if recorded => {
                let is_remote = true;
                arena.link = Some(Link { context, is_remote });
            }
            _ => {}
        }
        current::replace(arena);
    }

    fn finish<D: Describe>(&self, slot: &mut Slot, describe: impl FnOnce() -> D) {
        let Some(mut arena) = slot.take() else {
            return;
        };
        if arena.counted > 0 {
            self.queue.refuse(arena.counted);
        }
        if arena.is_recording() {
            let end = arena.close();
            self.keep(&arena, end, describe);
        }
        pool::give_back(arena);
    }

    /// A trace of one span, for what goes on after its request: linked to that, and recorded because that was.
    pub fn linked(&self, to: TraceContext, started: Tick, describe: impl Describe) {
        if !self.is_on() {
            return;
        }
        let mut arena = pool::take();
        arena.reset(ids::trace(), Flags::minted(true), Keep::Spans);
        arena.open_root(started, Kind::Internal);
        arena.link = Some(Link {
            context: to,
            is_remote: false,
        });
        let end = arena.close();
        self.keep(&arena, end, || describe);
        pool::give_back(arena);
    }

    /// Without room the whole trace is left out; the queue keeps the books.
    fn keep<D: Describe>(&self, arena: &Arena, end: Tick, describe: impl FnOnce() -> D) {
        let spans = arena.spans.len() as u64;
        self.queue.push(spans, |out| {
            encode::encode(arena, end, &describe(), out);
        });
    }
}

/// A request's trace, between the polls of its task. Empty until [`Tracer::begin`] was called within it.
#[derive(Debug)]
pub struct RequestTrace<'a> {
    tracer: &'a Tracer,
    slot: Slot,
}

impl RequestTrace<'_> {
    /// Runs a part of the request, typically one poll, as what this thread is at.
    pub fn enter<T>(&mut self, run: impl FnOnce() -> T) -> T {
        self.slot.enter(run)
    }

    /// The value of `Server-Timing` that tells the client of its trace, if it is recorded.
    pub fn server_timing(&self) -> Option<[u8; SERVER_TIMING]> {
        self.slot.server_timing()
    }

    /// Of its root, if it is recorded.
    pub fn ids(&self) -> Option<Ids> {
        self.slot.ids()
    }

    /// Ends it. What `describe` makes says the rest, and is asked only if it was recorded.
    pub fn finish<D: Describe>(mut self, describe: impl FnOnce() -> D) {
        self.tracer.finish(&mut self.slot, describe);
    }
}

impl Drop for RequestTrace<'_> {
    /// The client went away, and its request with it: what was done until then is told.
    fn drop(&mut self) {
        self.tracer.finish(&mut self.slot, || Abandoned);
    }
}
