//! The filters before every request: authentication, the inflight limit, authorization.

use std::sync::Arc;
use std::time::Duration;

use auth::{Answer, Attributes, User};
use http::header::{AUTHORIZATION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use meta::Status;
use telemetry::trace;

use crate::access::authorize::judged;
use crate::access::impersonate;
use crate::flow::limiter::Limiter;
use crate::flow::seat_slot::SeatSlot;
use crate::flow::{self, Outcome, Stored};
use crate::handler::respond;
use crate::observe::metrics::{Authenticated, RequestStats};
use crate::request::{Query, RequestInfo, Verb};
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::caller::Caller;

/// The longest that a request waits in a queue, whatever its deadline.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Nor for more than one of so many parts of that time.
const WAIT_PART: u32 = 4;

/// Authenticates the request.
pub(crate) async fn authenticate(
    api: &Api,
    caller: &Caller,
    headers: &HeaderMap,
    stats: &mut RequestStats,
) -> Result<Arc<User>, Status> {
    let user = match known(api, caller, headers) {
        // Another server may just have made the account that a token stands for.
        Err(_) if api.store().is_shared() => {
            Box::pin(api.fresh_snapshot()).await?;
            known(api, caller, headers)
        }
        known => known,
    };
    let outcome = match &user {
        Ok(user) => Authenticated::As(user),
        Err(_) if headers.contains_key(AUTHORIZATION) => Authenticated::Error,
        Err(_) => Authenticated::Not,
    };
    api.metrics().access.authenticated(outcome, stats.lap());
    user
}

fn known(api: &Api, caller: &Caller, headers: &HeaderMap) -> Result<Arc<User>, Status> {
    let metrics = &api.metrics().access;
    api.authentication()
        .authenticate(caller, headers, api, metrics)
}

/// Whom the request is to be taken for, if its sender may.
pub(crate) async fn impersonate(
    api: &Api,
    attributes: &Attributes<'_>,
    headers: &HeaderMap,
) -> Result<Option<User>, Status> {
    let authorizer = api.authorizer();
    impersonate::impersonate(authorizer, api.last_modes(), attributes, headers).await
}

/// A seat, now or after a wait in a queue. An error is for how many seconds the client is asked to stay away. `most` is
/// what the request may take.
pub(crate) async fn acquire_inflight_slot(
    api: &Api,
    caller: &Caller,
    asked: &Attributes<'_>,
    user: &Arc<User>,
    (parts, info, query): (&Parts, &RequestInfo<'_>, &Query),
    most: Duration,
    stats: &mut RequestStats,
) -> Result<SeatSlot, i64> {
    // What controllers do must not wait for what clients do: they clean up after them.
    if matches!(caller, Caller::Local(_)) || is_long_running(info) {
        return Ok(SeatSlot::empty());
    }
    let flow = match api.limiter() {
        Limiter::Flow(flow) => flow,
        // With priority and fairness, the FlowSchema `probes` exempts them.
        Limiter::InFlight(_) if is_probe(info.path) => return Ok(SeatSlot::empty()),
        Limiter::InFlight(places) => {
            let is_watch = asked.verb == "watch";
            let taken = places.take(asked, &api.metrics().inflight, is_watch);
            return taken.inspect_err(|_| note_dropped(api, info, parts));
        }
    };
    let Some(entry) = flow.classify(asked) else {
        return Ok(SeatSlot::empty());
    };
    stats.flow = Some(entry.clone());
    let objects = Stored {
        catalog: api.catalog(),
        store: api.store(),
    };
    let work = flow.estimate(objects, &entry, info, query);
    stats.work = Some(work);
    let target = (&parts.method, parts.uri.path_and_query());
    let seat = match flow::start(&entry, work, user, info, target) {
        Outcome::Seated(seat) => Some(seat),
        Outcome::Waits(mut waiting) => {
            let limit = (most / WAIT_PART).min(LONGEST_WAIT);
            let limit = limit.saturating_sub(Duration::from_nanos(stats.started.nanos()));
            let seated = Box::pin(tokio::time::timeout(limit, &mut waiting))
                .await
                .ok();
            stats.queued = waiting.waited();
            trace::event_with(
                "Left the queue of its priority level",
                "waitedMicroseconds",
                usize::try_from(stats.queued / 1000).unwrap_or(usize::MAX),
            );
            if seated.is_none() {
                waiting.give_up();
            }
            seated
        }
        Outcome::Rejected => None,
    };
    let Some(seat) = seat else {
        note_dropped(api, info, parts);
        return Err(entry.level.turned_away());
    };
    Ok(SeatSlot::of(seat))
}

/// Counts a request that there is no place for, under its own names if we know them.
fn note_dropped(api: &Api, info: &RequestInfo<'_>, parts: &Parts) {
    let catalog = api.catalog().load();
    let known = info.resource.as_ref().and_then(|it| {
        let row = catalog.get(&it.group, &it.version, &it.resource)?;
        Some(it.subresource.is_empty() || row.subresource(&it.subresource).is_some())
    });
    let requests = &api.metrics().requests;
    requests.dropped(info, parts, known == Some(true));
}

/// Whether the request itself may go on, which is counted.
pub(crate) async fn authorize(
    api: &Api,
    attributes: &Attributes<'_>,
    stats: &mut RequestStats,
) -> Result<(), Status> {
    let decision = match api.authorizer().authorize(*attributes) {
        // The usual case, without the future of the others.
        Answer::Now(Some(decision)) if decision.allowed() => decision,
        first => Box::pin(api.authorize_again(attributes, first)).await,
    };
    api.metrics().access.authorized(&decision, stats.lap());
    judged(attributes, &decision)
}

/// Health checks are answered however busy the server is.
pub(super) fn is_probe(path: &str) -> bool {
    let first = path.strip_prefix('/').and_then(|it| it.split('/').next());
    matches!(first, Some("healthz" | "livez" | "readyz"))
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

/// The response to a rejected request, as upstream sends it: plain text, no Status.
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
