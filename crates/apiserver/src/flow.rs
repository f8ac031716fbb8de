//! Hot path. API Priority and Fairness: which priority level a request belongs to, a seat there or a place in a queue for
//! one, and the way back. The rules are in the crate `flowcontrol`; here are locks, tasks and the clock.
//!
//! **Belongs here:** limits on how many requests are served at a time.
//! **May use:** `catalog`, `instruments`, `request`, `runtime`, `transport`.

mod debug;
mod estimate;
pub(crate) mod inflight_limit;
mod level;
pub(crate) mod limiter;
mod objects;
mod seat;
pub(crate) mod seat_slot;
mod series;
mod stream;
#[cfg(test)]
mod tests;
mod watched;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use auth::{Attributes, User};
use flowcontrol::{BodyBudget, Nanos, Request, Resource, WatchTracker, WorkEstimate};
use http::Method;
use http::uri::PathAndQuery;
use telemetry::metrics::{Registry, Timer};

use crate::request::{RequestInfo, Verb};

pub(crate) use debug::dump;
pub(crate) use estimate::Stored;
pub(crate) use level::EntryRef;
pub(crate) use objects::Changed;
pub(crate) use seat::{Arriving, FlowSeat, Outcome};
pub(crate) use series::Meters;
pub(crate) use stream::StreamSeat;
pub(crate) use watched::Watched;

use estimate::ObjectSizes;
use level::EntryRefs;
use limiter::Limits;
use objects::State;
use series::Families;
use stream::Streams;

/// How often it is looked for clients that take nothing of a list that holds seats.
pub(crate) const SWEEP: Duration = Duration::from_millis(500);

/// The filter, and what configures it.
#[derive(Debug)]
pub(crate) struct FlowControl {
    pub(crate) shared: Arc<Shared>,
    /// Schemas in the order in which they are tried. Never empty: the last takes all.
    entries: ArcSwap<Vec<EntryRefs>>,
    state: Mutex<State>,
    /// Seats of the whole server.
    seats: u32,
    sizes: ObjectSizes,
}

/// What every level and every seat needs.
#[derive(Debug)]
pub(crate) struct Shared {
    clock: Timer,
    /// When the clock began, for people.
    began: SystemTime,
    families: Families,
    pub(crate) meters: Meters,
    pub(crate) watches: WatchTracker,
    pub(crate) bodies: BodyBudget,
    streams: Streams,
}

impl Shared {
    pub(crate) fn now(&self) -> Nanos {
        self.clock.nanos()
    }

    fn at(&self, time: Nanos) -> SystemTime {
        self.began + Duration::from_nanos(time)
    }
}

impl FlowControl {
    /// Seats are as many as requests might have been in flight without it. `None` if that is none.
    pub(crate) fn new(limits: &Limits, registry: &Registry) -> Option<Arc<Self>> {
        let most = limits.max_requests_inflight;
        let most = most.saturating_add(limits.max_mutating_requests_inflight);
        let seats = u32::try_from(most).unwrap_or(u32::MAX);
        if !limits.priority_and_fairness || seats == 0 {
            return None;
        }
        let shared = Arc::new(Shared {
            clock: Timer::start(),
            began: SystemTime::now(),
            families: Families::new(registry),
            meters: Meters::new(0),
            watches: WatchTracker::default(),
            bodies: BodyBudget::new(limits.max_slow_body_bytes),
            streams: Streams::default(),
        });
        let flow = Arc::new(Self {
            shared,
            entries: ArcSwap::default(),
            state: Mutex::default(),
            seats,
            sizes: ObjectSizes::default(),
        });
        // What is mandatory holds from the start.
        flow.configure(Changed::Nothing);
        series::observe(registry, &flow);
        Some(flow)
    }

    /// Takes seats back from clients that take nothing of their lists. To be called every [`SWEEP`].
    pub(crate) fn sweep(&self) {
        self.shared.streams.sweep(self.shared.now());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The schema that a request belongs to.
    pub(crate) fn classify(&self, asked: &Attributes<'_>) -> Option<EntryRef> {
        let request = Request {
            user: &asked.user.name,
            groups: &asked.user.groups,
            verb: asked.verb,
            resource: asked.is_resource_request.then_some(Resource {
                group: asked.api_group,
                resource: asked.resource,
                subresource: asked.subresource,
                namespace: asked.namespace,
            }),
            path: asked.path,
        };
        let entries = self.entries.load();
        let matches = |it: &&EntryRefs| it.entry().schema.matches(&request);
        let found = entries.iter().find(matches);
        // A user in none of the usual groups still gets a seat.
        found.or(entries.last()).map(EntryRefs::get)
    }
}

/// Takes seats for a request, or a place in a queue.
pub(crate) fn start(
    entry: &EntryRef,
    work: WorkEstimate,
    user: &Arc<User>,
    info: &RequestInfo<'_>,
    (method, target): (&Method, Option<&PathAndQuery>),
) -> Outcome {
    if entry.level.is_exempt {
        let seat = entry.start_exempt(work, reads(info, method), is_watch(info));
        return Outcome::Seated(seat);
    }
    let resource = info.resource.as_ref();
    let namespace = resource.map_or("", |it| &*it.namespace);
    entry.start(Arriving {
        hash: entry.hash(&user.name, namespace),
        ..arriving(work, user, info, (method, target))
    })
}

/// A request of no flow.
pub(crate) fn arriving(
    work: WorkEstimate,
    user: &Arc<User>,
    info: &RequestInfo<'_>,
    (method, target): (&Method, Option<&PathAndQuery>),
) -> Arriving {
    Arriving {
        work,
        hash: 0,
        reads: reads(info, method),
        is_watch: is_watch(info),
        user: user.clone(),
        method: method.clone(),
        target: target.cloned(),
    }
}

fn is_watch(info: &RequestInfo<'_>) -> bool {
    let resource = info.resource.as_ref();
    resource.is_some_and(|it| it.verb == Verb::Watch)
}

/// Whether a request changes nothing.
fn reads(info: &RequestInfo<'_>, method: &Method) -> bool {
    match &info.resource {
        Some(it) => matches!(it.verb, Verb::Get | Verb::List | Verb::Watch),
        None => *method == Method::GET,
    }
}
