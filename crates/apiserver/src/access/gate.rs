//! What stands before every request: who asks, a place among those that are served, and whether they may.

use std::sync::Arc;
use std::time::Duration;

use auth::{Answer, Attributes, Decision, User};
use http::header::{AUTHORIZATION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use meta::Status;
use meta::gvk::GroupResource;
use telemetry::metrics::Registry;
use telemetry::trace;

use crate::flow::{self, FlowControl, Outcome};
use crate::observe::metrics::{Authenticated, Tally};
use crate::pipeline::{Ask, is_probe};
use crate::request::respond;
use crate::request::{Query, RequestInfo, Verb};
use crate::state::{Api, Settings};
use crate::transport::body::Body;
use crate::transport::caller::Caller;

use crate::flow::places::Places;
pub(crate) use crate::flow::seat_slot::SeatSlot;

/// Who is served when there are many.
#[derive(Debug)]
pub(crate) enum Limiter {
    /// By priority and fairly.
    Flow(Arc<FlowControl>),
    /// By number alone (`--enable-priority-and-fairness=false`).
    InFlight(Places),
}

impl Limiter {
    pub(crate) fn new(settings: &Settings, registry: &Registry) -> Self {
        match FlowControl::new(settings, registry) {
            Some(flow) => Self::Flow(flow),
            None => Self::InFlight(Places::new(settings)),
        }
    }

    pub(crate) fn flow(&self) -> Option<&Arc<FlowControl>> {
        match self {
            Self::Flow(flow) => Some(flow),
            Self::InFlight(_) => None,
        }
    }
}

/// Nobody waits in a queue for longer, whatever time a request has.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Nor for more than one of so many parts of that time.
const WAIT_PART: u32 = 4;

impl Api {
    pub(crate) async fn who(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        tally: &mut Tally,
    ) -> Result<Arc<User>, Status> {
        let user = match self.authenticate(caller, headers) {
            // Another server may just have made the account that a token stands for.
            Err(_) if self.store.is_shared() => {
                Box::pin(self.latest()).await?;
                self.authenticate(caller, headers)
            }
            known => known,
        };
        let outcome = match &user {
            Ok(user) => Authenticated::As(user),
            Err(_) if headers.contains_key(AUTHORIZATION) => Authenticated::Error,
            Err(_) => Authenticated::Not,
        };
        self.metrics.access.authenticated(outcome, tally.lap());
        user
    }

    /// A seat, now or after a wait in a queue. An error is for how many seconds the client is asked to stay away. `most` is
    /// what the request may take.
    pub(crate) async fn admit(
        &self,
        caller: &Caller,
        asked: &Attributes<'_>,
        user: &Arc<User>,
        (parts, info, query): (&Parts, &RequestInfo<'_>, &Query),
        most: Duration,
        tally: &mut Tally,
    ) -> Result<SeatSlot, i64> {
        // What controllers do must not wait for what clients do: they clean up after them.
        if matches!(caller, Caller::Local(_)) || is_long_running(info) {
            return Ok(SeatSlot::empty());
        }
        let flow = match &self.limiter {
            Limiter::Flow(flow) => flow,
            // With priority and fairness, the FlowSchema `probes` exempts them.
            Limiter::InFlight(_) if is_probe(info.path) => return Ok(SeatSlot::empty()),
            Limiter::InFlight(places) => {
                let is_watch = asked.verb == "watch";
                let taken = places.take(asked, &self.metrics.inflight, is_watch);
                return taken.inspect_err(|_| self.note_dropped(info, parts));
            }
        };
        let Some(entry) = flow.classify(asked) else {
            return Ok(SeatSlot::empty());
        };
        tally.flow = Some(entry.clone());
        let work = flow.estimate(self, &entry, info, query);
        tally.work = Some(work);
        let target = (&parts.method, parts.uri.path_and_query());
        let seat = match flow::start(&entry, work, user, info, target) {
            Outcome::Seated(seat) => Some(seat),
            Outcome::Waits(mut waiting) => {
                let limit = (most / WAIT_PART).min(LONGEST_WAIT);
                let limit = limit.saturating_sub(Duration::from_nanos(tally.started.nanos()));
                let seated = Box::pin(tokio::time::timeout(limit, &mut waiting))
                    .await
                    .ok();
                tally.queued = waiting.waited();
                trace::event_with(
                    "Left the queue of its priority level",
                    "waitedMicroseconds",
                    usize::try_from(tally.queued / 1000).unwrap_or(usize::MAX),
                );
                if seated.is_none() {
                    waiting.give_up();
                }
                seated
            }
            Outcome::Rejected => None,
        };
        let Some(seat) = seat else {
            self.note_dropped(info, parts);
            return Err(entry.level.turned_away());
        };
        Ok(SeatSlot::of(seat))
    }

    /// The same of a request whose handler is at work already.
    pub(crate) fn count_dropped(&self, ask: &Ask<'_>) {
        self.metrics.requests.dropped_late(ask);
    }

    /// Counts a request that there is no place for, under its own names if we know them.
    fn note_dropped(&self, info: &RequestInfo<'_>, parts: &Parts) {
        let catalog = self.catalog.load();
        let known = info.resource.as_ref().and_then(|it| {
            let row = catalog.get(&it.group, &it.version, &it.resource)?;
            Some(it.subresource.is_empty() || row.subresource(&it.subresource).is_some())
        });
        let requests = &self.metrics.requests;
        requests.dropped(info, parts, known == Some(true));
    }

    /// Whether the request itself may go on, which is counted.
    pub(crate) async fn allow_request(
        &self,
        attributes: &Attributes<'_>,
        tally: &mut Tally,
    ) -> Result<(), Status> {
        let decision = match self.authorizer.authorize(*attributes) {
            // The usual case, without the future of the others.
            Answer::Now(Some(decision)) if decision.allowed() => decision,
            first => Box::pin(self.authorize_again(attributes, first)).await,
        };
        self.metrics.access.authorized(&decision, tally.lap());
        judged(attributes, &decision)
    }

    /// Errs with the refusal that upstream would send.
    pub async fn allow(&self, attributes: Attributes<'_>) -> Result<(), Status> {
        judged(&attributes, &self.authorize(attributes).await)
    }

    pub async fn authorize(&self, attributes: Attributes<'_>) -> Decision {
        let first = self.authorizer.authorize(attributes);
        self.authorize_again(&attributes, first).await
    }

    /// Asks again before it says no: the right may be so new that it is not learned yet.
    async fn authorize_again(&self, attributes: &Attributes<'_>, first: Answer<'_>) -> Decision {
        let decision = first.await;
        if decision.allowed() || self.learn().await.is_err() {
            return decision;
        }
        self.authorizer.authorize(*attributes).await
    }
}

/// The same done by another verb.
pub(crate) fn by<'a>(ask: &'a Ask<'_>, verb: Verb) -> Attributes<'a> {
    let info = ask.info;
    Attributes::resource(ask.user, verb.as_str(), &info.group, &info.resource)
        .version(&info.version)
        .subresource(&info.subresource)
        .namespace(&info.namespace)
        .name(&info.name)
}

fn judged(attributes: &Attributes<'_>, decision: &Decision) -> Result<(), Status> {
    if decision.allowed() {
        return Ok(());
    }
    let resource = GroupResource::new(attributes.api_group, attributes.resource);
    let mut status = Status::forbidden(&resource, attributes.name, "");
    status.message = auth::forbidden::message(attributes, &decision.reason);
    Err(status)
}

/// What goes on for as long as its client wants it to takes no seat, but for a watch, which takes one while it begins.
fn is_long_running(info: &RequestInfo<'_>) -> bool {
    match &info.resource {
        Some(it) => {
            let streams = ["attach", "exec", "proxy", "log", "portforward"];
            it.verb == Verb::Proxy || streams.contains(&&*it.subresource)
        }
        None => info.path.starts_with("/debug/pprof/"),
    }
}

/// What upstream tells whoever is turned away: no Status.
pub(crate) fn too_many_requests(seconds: i64) -> Response<Body> {
    let mut response = respond::with_code(
        StatusCode::TOO_MANY_REQUESTS,
        "text/plain; charset=utf-8",
        "Too many requests, please try again later.\n",
    );
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, seconds.into());
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert("x-content-type-options", nosniff);
    response
}
