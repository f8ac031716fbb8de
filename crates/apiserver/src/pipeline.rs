//! One request from end to end, top-down.
//!
//! **Belongs here:** the filters of a request in their order, the choice of its verb, and calls from inside the
//! process.
//! **May use:** `access`, `catalog`, `flow`, `handler`, `nonresource`, `observe`, `read`, `request`, `runtime`,
//! `state`, `subresources`, `transport`, `write`.

pub(crate) mod gate;
mod host;
pub mod local;
pub(crate) mod verbs;

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use auth::{Attributes, User};
use flowcontrol::WorkEstimate;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use meta::Status;
use tokio::time::error::Elapsed;

use crate::access::impersonate;
use crate::catalog::Resource;
use crate::flow;
use crate::flow::seat_slot::SeatSlot;
use crate::handler::context::RequestContext;
use crate::handler::respond;
use crate::nonresource;
use crate::nonresource::debug_flags;
use crate::observe::metrics::RequestStats;
use crate::observe::request_log::{AUDIT_ID, LogEntry};
use crate::observe::traced::{self, RequestFacts, SERVER_TIMING};
use crate::request::warnings::Warnings;
use crate::request::{BadPath, NonResourceRequest, Query, RequestInfo, ResourceRequest, Verb};
use crate::runtime::cpu_slots::Offload;
use crate::runtime::random;
pub use crate::state::{Api, Config, Settings};
use crate::transport::body::Body;
pub use crate::transport::caller::Caller;
use crate::transport::delivery::{self, Answer, Described};
use crate::transport::gzip;
use crate::transport::incoming::RequestBody;

/// What a request of a controller of ours may take, however short clients' time is.
const OWN_DEADLINE: Duration = Duration::from_secs(60);

/// For a response that says that the request took too long.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Answers a request from inside the process.
pub async fn handle(
    api: &Arc<Api>,
    caller: &Caller,
    parts: Parts,
    body: RequestBody,
) -> Response<Body> {
    respond_to(api, caller, &parts, body).await.response
}

/// Answers a request that came over a connection.
pub(crate) async fn respond_to(
    api: &Arc<Api>,
    caller: &Caller,
    parts: &Parts,
    body: RequestBody,
) -> Answer {
    let mut stats = RequestStats::start();
    stats.is_internal = matches!(caller, Caller::Local(user) if user.name == "system:apiserver");
    let log = api.settings().request_log.filter(|it| (it.enabled)());
    let mut log_entry = log.map(LogEntry::new);
    let mut trace = api.tracer().request();
    let query = Query::parse(parts.uri.query());
    let info = RequestInfo::new(&parts.method, parts.uri.path(), &query);
    let answered = {
        let asked = (&query, &info);
        let run = run(
            api,
            caller,
            parts,
            asked,
            body,
            log_entry.as_mut(),
            &mut stats,
        );
        let mut run = pin!(run);
        poll_fn(|context| trace.enter(|| run.as_mut().poll(context))).await
    };
    let mut response = match answered {
        Ok(response) => response,
        Err(status) => respond::failed(&status, &parts.headers, &query),
    };
    let id = parts.headers.get(AUDIT_ID).cloned();
    let mut id = id.or_else(|| HeaderValue::from_str(&random::uid()).ok());
    if let Some(id) = &mut id {
        once(id);
        response.headers_mut().insert(AUDIT_ID, id.clone());
    }
    if let Some(mut timing) = traced::server_timing(&trace) {
        once(&mut timing);
        response.headers_mut().insert(SERVER_TIMING, timing);
    }
    if let Some(entry) = &stats.flow {
        entry.tell(response.headers_mut());
    }
    gzip::negotiate(&parts.headers, &mut response);
    if parts.method == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    if let Some(log_entry) = log_entry {
        log_entry.tell(caller, parts, &response, &stats, trace.ids());
    }
    let mut terms = stats.terms();
    if response.status() == StatusCode::GATEWAY_TIMEOUT {
        // It begins when its time is over.
        terms.deadline = terms.deadline.map(|it| it + LAST_WORDS);
    }
    stats.end(&mut response, trace.ids());
    trace.finish(|| {
        let info = info.as_ref().ok().and_then(|it| it.resource.as_ref());
        RequestFacts::new(caller, parts, (&query, info), &response, id.as_ref())
    });
    if terms.deadline.is_some() && delivery::is_large(response.body()) {
        terms.request = Some(Box::new(Described::new(parts, id.as_ref())));
    }
    Answer { response, terms }
}

async fn run(
    api: &Arc<Api>,
    caller: &Caller,
    parts: &Parts,
    (query, info): (&Query, &Result<RequestInfo<'_>, BadPath>),
    body: RequestBody,
    mut log_entry: Option<&mut LogEntry>,
    stats: &mut RequestStats,
) -> Result<Response<Body>, Status> {
    let info = info.as_ref();
    let info = info.map_err(|error| Status::bad_request(error.to_string()))?;
    let most = deadline(query, info, longest(api, caller))?;
    stats.deadline = most.map(|it| Instant::now() + it);
    let known = gate::authenticate(api, caller, &parts.headers, stats).await;
    let sender = known.as_deref().ok();
    // A watch within the process is not traced: its spans would only fill a collector.
    let is_watch = info
        .resource
        .as_ref()
        .is_some_and(|it| it.verb == Verb::Watch);
    let is_quiet = is_watch && matches!(caller, Caller::Local(_));
    let started = (api.tracer().is_on() && !is_quiet).then(|| stats.started.tick());
    traced::begin(api.tracer(), &parts.headers, sender, started);
    let user = known?;
    if let Some(log_entry) = &mut log_entry {
        log_entry.sender(&user, info);
    }
    // Nothing is audited here, as with an upstream that has no policy for it.
    let _audit = traced::filter_span("audit");
    // The name that Kubernetes 1.37 uses, whichever user is impersonated.
    let _impersonation = traced::filter_span("constrainedimpersonation");
    let method = lowercase(&parts.method);
    let user = if impersonate::is_requested(&parts.headers) {
        let sender = attributes(&user, &method, info, query);
        match Box::pin(gate::impersonate(api, &sender, &parts.headers)).await {
            Ok(other) => {
                if let (Some(log_entry), Some(other)) = (&mut log_entry, &other) {
                    log_entry.impersonated = Some(other.name.clone());
                }
                other.map_or(user, Arc::new)
            }
            Err(status) => return Ok(forbidden(&status, &parts.headers, query)),
        }
    } else {
        user
    };
    stats.user = Some(user.clone());
    api.metrics().access.impersonated(stats.lap());
    check_unread(api, caller, &user, info.path)?;
    let asked = attributes(&user, &method, info, query);
    let _limit = traced::filter_span("priorityandfairness");
    let request = (parts, info, query);
    let most = most.unwrap_or_else(|| longest(api, caller));
    let seat =
        match gate::acquire_inflight_slot(api, caller, &asked, &user, request, most, stats).await {
            Ok(seat) => seat,
            Err(seconds) => return Ok(gate::too_many_requests(seconds)),
        };
    api.metrics().access.placed(stats.lap());
    stats.seated();
    let work = stats.work;
    let _authorization = traced::filter_span("authorization");
    if let Err(status) = gate::authorize(api, &asked, stats).await {
        return Ok(forbidden(&status, &parts.headers, query));
    }
    let list = || list(&seat, work, &user, info, parts);
    let Some(resource) = &info.resource else {
        if debug_flags::is_path(info.path) {
            drop(seat); // Its body may take its time.
            return Ok(Box::pin(debug_flags::answer(&parts.method, info.path, body)).await);
        }
        let ctx = NonResourceRequest {
            user: &user,
            path: info.path,
            query,
            headers: &parts.headers,
            method: &parts.method,
        };
        stats.series = api.metrics().requests.path(&ctx);
        list();
        let answered = Box::pin(in_time(stats.deadline, nonresource::answer(api, &ctx))).await;
        return Ok(answered.unwrap_or_else(|it| respond::refused(&it, &parts.headers, query)));
    };
    if info.path.starts_with("//") {
        // Authorized as what it reads like, and then nobody's, as upstream.
        return Ok(respond::page_not_found());
    }
    // A change must not be judged by a state that is older than what other servers have answered.
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        Box::pin(api.fresh_snapshot()).await?;
    }
    let Some(found) = served(api, resource).await else {
        return Ok(not_served(api, &resource.group, &parts.headers, query));
    };
    let warnings = Warnings::default();
    if found.custom.is_some() || resource.subresource.is_empty() {
        let deprecation = deprecation(&found).inspect(|_| stats.deprecated = true);
        warnings.add(deprecation);
    }
    let ctx = RequestContext {
        user: &user,
        info: resource,
        resource: found,
        query,
        headers: &parts.headers,
        method: &parts.method,
        warnings: &warnings,
        deadline: stats.deadline,
        seat: &seat,
        limiter: api.limiter(),
    };
    Ok(act(api, &ctx, body, stats, list).await)
}

/// Has whoever debugs flow control see a request. One that is no resource is listed at once: it may be the one that asks.
fn list(
    seat: &SeatSlot,
    work: Option<WorkEstimate>,
    user: &Arc<User>,
    info: &RequestInfo<'_>,
    parts: &Parts,
) {
    if let Some(work) = work {
        let target = (&parts.method, parts.uri.path_and_query());
        seat.list(|| flow::arriving(work, user, info, target));
    }
}

/// Custom groups know only what they serve.
fn not_served(api: &Api, group: &str, headers: &HeaderMap, query: &Query) -> Response<Body> {
    let catalog = api.catalog().load();
    if catalog.group(group).is_none_or(|it| !it.is_builtin()) {
        return respond::page_not_found();
    }
    respond::refused(&respond::no_resource(), headers, query)
}

/// What a request may take.
fn longest(api: &Api, caller: &Caller) -> Duration {
    match caller {
        Caller::Remote { .. } => api.settings().request_timeout,
        Caller::Local(_) => OWN_DEADLINE,
    }
}

/// Has the verb answer, within its time. `on_wait` is called if that takes a wait.
async fn act(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
    stats: &mut RequestStats,
    on_wait: impl FnOnce(),
) -> Response<Body> {
    stats.series = api.metrics().requests.resource(ctx);
    if stats.deprecated && stats.series.is_some() {
        api.metrics().requests.deprecated(ctx);
    }
    let work = pin!(verbs::answer(api, ctx, body));
    let mut work = Offload::new(api.cpu_slots(), work);
    let answered = with_deadline(ctx.deadline, &mut work, on_wait).await;
    let mut response = answered.unwrap_or_else(|_| {
        api.metrics().requests.timed_out(ctx);
        respond::failed(&timed_out(), ctx.headers, ctx.query)
    });
    ctx.seat.follow(api.limiter().flow(), response.body_mut());
    let warnings = ctx.warnings.take();
    stats.annotations = ctx.warnings.take_annotations();
    stats.waited = ctx.warnings.waited() + stats.queued;
    let is_handled = response.status() != StatusCode::METHOD_NOT_ALLOWED;
    if !is_handled {
        stats.series = None;
    }
    if is_handled || ctx.resource.custom.is_some() {
        respond::warn(&mut response, &warnings);
    }
    response
}

/// Refuses a client that has requested much and read little of it.
fn check_unread(api: &Api, caller: &Caller, user: &User, path: &str) -> Result<(), Status> {
    match caller {
        Caller::Remote { memory, .. } if !gate::is_probe(path) => api.unread().check(memory, user),
        _ => Ok(()),
    }
}

/// The row of a resource. One that is not known may be so new that it is not learned yet.
async fn served(api: &Api, asked: &ResourceRequest<'_>) -> Option<Arc<Resource>> {
    let find = || {
        let catalog = api.catalog().load();
        let found = catalog.get(&asked.group, &asked.version, &asked.resource);
        found.cloned()
    };
    if let Some(found) = find() {
        return Some(found);
    }
    Box::pin(api.wait_until_caught_up()).await.ok()?;
    find()
}

/// What comes of it before the deadline.
async fn in_time<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let mut work = pin!(work);
    let answered = with_deadline(deadline, &mut work, || ()).await;
    answered.unwrap_or_else(|_| Err(timed_out()))
}

/// The work's outcome, or an error if there is none at the deadline.
async fn with_deadline<F: Future + Unpin>(
    deadline: Option<Instant>,
    work: &mut F,
    on_wait: impl FnOnce(),
) -> Result<F::Output, Elapsed> {
    // Most work ends without a wait: then there is no need for a timer.
    let first = poll_fn(|context| Poll::Ready(Pin::new(&mut *work).poll(context))).await;
    if let Poll::Ready(output) = first {
        return Ok(output);
    }
    on_wait();
    match deadline {
        None => Ok(work.await),
        Some(deadline) => Box::pin(tokio::time::timeout_at(deadline.into(), work)).await,
    }
}

fn timed_out() -> Status {
    let text = "request did not complete within the allotted timeout";
    Status::timeout(text, 0)
}

/// How long a request may take, its response included; clients may ask for less. Long-running requests, as upstream
/// calls them, have no deadline.
fn deadline(
    query: &Query,
    info: &RequestInfo<'_>,
    most: Duration,
) -> Result<Option<Duration>, Status> {
    let is_long_running = info.resource.as_ref().is_some_and(|it| {
        let sub = &*it.subresource;
        matches!(it.verb, Verb::Watch | Verb::Proxy)
            || ["attach", "exec", "proxy", "log", "portforward"].contains(&sub)
    });
    if is_long_running {
        return Ok(None);
    }
    let Some(asked) = query.get("timeout").filter(|it| !it.is_empty()) else {
        return Ok(Some(most));
    };
    match meta::time::parse_duration(asked) {
        Ok(Duration::ZERO) => Ok(Some(most)),
        Ok(asked) => Ok(Some(asked.min(most))),
        Err(error) => Err(Status::bad_request(format!(
            "invalid timeout specified in the request URL - {error}"
        ))),
    }
}

fn forbidden(status: &Status, headers: &HeaderMap, query: &Query) -> Response<Body> {
    let mut response = respond::failed(status, headers, query);
    let nosniff = HeaderValue::from_static("nosniff");
    response
        .headers_mut()
        .insert("x-content-type-options", nosniff);
    response
}

/// What every answer about a kind that is on its way out says.
fn deprecation(resource: &Resource) -> Option<String> {
    if let Some(custom) = &resource.custom {
        return custom.deprecation.clone();
    }
    resource.strategy.deprecation.map(str::to_owned)
}

fn lowercase(method: &Method) -> Cow<'static, str> {
    match *method {
        Method::GET => Cow::Borrowed("get"),
        Method::POST => Cow::Borrowed("post"),
        Method::PUT => Cow::Borrowed("put"),
        Method::PATCH => Cow::Borrowed("patch"),
        Method::DELETE => Cow::Borrowed("delete"),
        _ => Cow::Owned(method.as_str().to_ascii_lowercase()),
    }
}

fn attributes<'a>(
    user: &'a User,
    method: &'a str,
    info: &'a RequestInfo<'a>,
    query: &'a Query,
) -> Attributes<'a> {
    let Some(resource) = &info.resource else {
        return Attributes::path(user, method, info.path);
    };
    let mut attributes = Attributes::resource(
        user,
        resource.verb.as_str(),
        &resource.group,
        &resource.resource,
    )
    .version(&resource.version)
    .subresource(&resource.subresource)
    .namespace(&resource.namespace)
    .name(&resource.name);
    attributes.path = info.path;
    // As upstream: only where they select, and not where the verb stands in the path.
    let selects = matches!(
        resource.verb,
        Verb::List | Verb::Watch | Verb::DeleteCollection
    );
    if selects && !resource.by_prefix {
        attributes.field_selector = query.get("fieldSelector").unwrap_or_default();
        attributes.label_selector = query.get("labelSelector").unwrap_or_default();
    }
    attributes
}

/// No answer has this value again: HTTP/2 is not to remember it, which is what this mark is for.
fn once(value: &mut HeaderValue) {
    value.set_sensitive(true);
}
