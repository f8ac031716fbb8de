//! The spans and events of a request, with the names and attributes that kube-apiserver gives them: tools made for its
//! traces work on ours.

mod alike;
mod request_facts;

use std::cell::RefCell;

use auth::User;
use bytes::BytesMut;
use http::{HeaderMap, HeaderName, HeaderValue};
use meta::Status;
use telemetry::context::{TraceContext, baggage};
use telemetry::trace::{
    self, Incoming, RequestTrace, Role, SERVER_TIMING as SERVER_TIMING_LENGTH, Scope, Span, Tick,
    Tracer, Trust,
};

use crate::catalog::Resource;
use crate::handler::context::RequestContext;
use crate::request::Verb;

pub(crate) use self::request_facts::RequestFacts;

static TRACEPARENT: HeaderName = HeaderName::from_static(telemetry::context::TRACEPARENT);
static TRACESTATE: HeaderName = HeaderName::from_static(telemetry::context::TRACESTATE);
static BAGGAGE: HeaderName = HeaderName::from_static(baggage::HEADER);
pub(crate) const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Begins the trace of a request as soon as it is known who sent it, which nobody is if that failed: only then is it
/// known whose trace it may be a part of. `started` is when it came in, if anything is recorded at all.
pub(crate) fn begin(
    tracer: &Tracer,
    headers: &HeaderMap,
    user: Option<&User>,
    started: Option<Tick>,
) {
    let bytes = |name| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let is_told = headers.contains_key(&TRACEPARENT);
    if started.is_none() && !is_told {
        return;
    }
    let trust = user.map_or(Trust::Nobody, |it| Trust::of(&it.groups));
    let mut incoming = Incoming::default();
    if is_told && trust != Trust::Nobody {
        incoming.context = TraceContext::read(bytes(&TRACEPARENT), bytes(&TRACESTATE));
    }
    // It goes along with a parent only.
    if trust == Trust::Parent && incoming.context.is_some() {
        incoming.baggage = baggage::read(bytes(&BAGGAGE)).map(Into::into);
    }
    let now = trace::now();
    let who = user.map_or("", |it| &*it.name);
    tracer.begin(incoming, trust, who, started.unwrap_or(now));
    trace::past("authentication", Scope::Filter, started.unwrap_or(now), now);
}

/// Tells the client of its trace, if that is recorded.
pub(crate) fn server_timing(trace: &RequestTrace<'_>) -> Option<HeaderValue> {
    /// Of the memory that is taken at once: a value of its own would be allocated by the thread that answers and freed by the
    /// one that writes, for each answer, which is what allocators are slow at.
    const BLOCK: usize = 64 * SERVER_TIMING_LENGTH;
    thread_local! {
        static MEMORY: RefCell<BytesMut> = RefCell::default();
    }
    let timing = trace.server_timing()?;
    let bytes = MEMORY.with_borrow_mut(|memory| {
        if memory.capacity() < timing.len() {
            *memory = BytesMut::with_capacity(BLOCK);
        }
        memory.extend_from_slice(&timing);
        memory.split().freeze()
    });
    HeaderValue::from_maybe_shared(bytes).ok()
}

/// The span of a filter before the verb: it lasts as long as everything behind the filter.
pub(crate) fn filter_span(name: &'static str) -> Span {
    trace::span_as(name, Scope::Filter, Role::Plain)
}

/// The verb's own.
pub(crate) fn handler(ctx: &RequestContext<'_>) -> Option<Span> {
    let streams = matches!(
        &*ctx.info.subresource,
        "exec" | "attach" | "portforward" | "proxy"
    );
    let name = match ctx.info.verb {
        // Upstream hands them on without a span.
        _ if streams => return None,
        Verb::Get => "Get",
        Verb::List => "List",
        Verb::Watch if ctx.query.flag("sendInitialEvents") => "WatchList",
        // Upstream has none for it. It ends when the watch is open, as the whole trace does.
        Verb::Watch => "Watch",
        Verb::Create => "Create",
        Verb::Update => "Update",
        Verb::Patch => "Patch",
        Verb::Delete | Verb::DeleteCollection => "Delete",
        Verb::Proxy | Verb::None => return None,
    };
    Some(trace::span_as(name, Scope::Component, Role::Handler))
}

/// Something that the store does.
pub(crate) fn storage(name: &'static str) -> Span {
    trace::span_as(name, Scope::Component, Role::Stored)
}

/// What was found at a key, by its length.
pub(crate) fn record_get(span: &Span, key: &str, from_cache: bool, found: Option<usize>) {
    span.set_text("key", key);
    if from_cache {
        span.set("resource-version", || "0");
        trace::event("watchCache locked acquired");
        trace::event("watchCache fresh enough");
    } else {
        trace::event("Get call succeeded");
    }
    match found {
        Some(_) if from_cache => trace::event("GetByKey success"),
        Some(length) => {
            trace::event("TransformFromStorage succeeded");
            trace::event_with("Decode succeeded", "len", length);
        }
        None => {}
    }
}

/// A list, from the first look at it.
pub(crate) fn listing(resource: &Resource) -> Span {
    let span = storage("cacher.GetList");
    span.set("type", || resource.group_resource().to_string());
    trace::event("Ready");
    span
}

/// A state is there that is as new as it must be. Upstream takes a lock for it, we need none.
pub(crate) fn fresh(asked_for_latest: bool) {
    if asked_for_latest {
        trace::event("getCurrentRV success");
    }
    trace::event("watchCache locked acquired");
    trace::event("watchCache fresh enough");
}

/// How many there are is not known where they are taken as they are written.
pub(crate) fn listed(count: Option<usize>) {
    for name in ["Listed items from cache", "Filtered items"] {
        match count {
            Some(count) => trace::event_with(name, "count", count),
            None => trace::event(name),
        }
    }
}

/// What is done with an object that came in a body of so many bytes, whether or not something is stored.
pub(crate) async fn stored<T>(
    length: usize,
    store: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    trace::event("About to store object in database");
    let stored = store.await;
    let name = match &stored {
        Ok(_) => "Write to database call succeeded",
        Err(_) => "Write to database call failed",
    };
    trace::event_with(name, "len", length);
    stored
}
