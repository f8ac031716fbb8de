//! One request from end to end, top-down.
//!
//! **Room.** The order of the filters of a request, the choice of its verb, and calls from inside the process. Uses all
//! rooms but `server`.

pub mod local;
pub(crate) mod verbs;

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use auth::{Attributes, User};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use json::Value;
use meta::Status;
use tokio::time::error::Elapsed;

use crate::access::authenticate;
use crate::access::gate::{self, SeatSlot};
use crate::catalog::Resource;
use crate::flow::Unseated;
use crate::nonresource;
use crate::nonresource::debug_flags;
use crate::observe::metrics::Tally;
use crate::observe::request_log::{AUDIT_ID, Noted};
use crate::observe::traced::{self, RequestFacts, SERVER_TIMING};
use crate::request::respond;
use crate::request::warnings::Warnings;
use crate::request::{BadPath, Query, RequestInfo, ResourceRequest, Verb};
use crate::runtime::cpu_slots::{self, Offload};
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

/// All that is known about a request for a resource when its verb takes over.
#[derive(Debug)]
pub struct Ask<'a> {
    pub user: &'a User,
    pub info: &'a ResourceRequest<'a>,
    pub resource: Arc<Resource>,
    pub query: &'a Query,
    pub headers: &'a HeaderMap,
    pub method: &'a Method,
    pub warnings: &'a Warnings,
    /// When it is answered, with whatever there is. What streams has none.
    pub deadline: Option<Instant>,
    /// What it holds of the server's concurrency.
    pub seat: &'a SeatSlot,
}

impl Api {
    pub async fn handle(
        self: &Arc<Self>,
        caller: &Caller,
        parts: Parts,
        body: RequestBody,
    ) -> Response<Body> {
        self.respond(caller, &parts, body).await.response
    }

    pub(crate) async fn respond(
        self: &Arc<Self>,
        caller: &Caller,
        parts: &Parts,
        body: RequestBody,
    ) -> Answer {
        let mut tally = Tally::start();
        tally.own = matches!(caller, Caller::Local(user) if user.name == "system:apiserver");
        let log = self.settings.request_log.filter(|it| (it.enabled)());
        let mut noted = log.map(Noted::new);
        let mut trace = self.tracer.request();
        let query = Query::parse(parts.uri.query());
        let info = RequestInfo::new(&parts.method, parts.uri.path(), &query);
        let answered = {
            let asked = (&query, &info);
            let run = self.run(caller, parts, asked, body, noted.as_mut(), &mut tally);
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
        if let Some(entry) = &tally.flow {
            entry.tell(response.headers_mut());
        }
        gzip::negotiate(&parts.headers, &mut response);
        if parts.method == Method::HEAD {
            *response.body_mut() = Body::empty();
        }
        if let Some(noted) = noted {
            noted.tell(caller, parts, &response, &tally, trace.ids());
        }
        let mut terms = tally.terms();
        if response.status() == StatusCode::GATEWAY_TIMEOUT {
            // It begins when its time is over.
            terms.deadline = terms.deadline.map(|it| it + LAST_WORDS);
        }
        tally.end(&mut response, trace.ids());
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
        self: &Arc<Self>,
        caller: &Caller,
        parts: &Parts,
        (query, info): (&Query, &Result<RequestInfo<'_>, BadPath>),
        body: RequestBody,
        mut noted: Option<&mut Noted>,
        tally: &mut Tally,
    ) -> Result<Response<Body>, Status> {
        let info = info.as_ref();
        let info = info.map_err(|error| Status::bad_request(error.to_string()))?;
        let most = deadline(query, info, self.longest(caller))?;
        tally.deadline = most.map(|it| Instant::now() + it);
        let known = self.who(caller, &parts.headers, tally).await;
        let sender = known.as_deref().ok();
        // Nobody waits for what a watch within the process sends: it would only fill a collector.
        let is_watch = info
            .resource
            .as_ref()
            .is_some_and(|it| it.verb == Verb::Watch);
        let is_quiet = is_watch && matches!(caller, Caller::Local(_));
        let is_told = self.tracer.is_on() && !is_quiet;
        let started = is_told.then(|| tally.started.tick());
        traced::begin(&self.tracer, &parts.headers, sender, started);
        let user = known?;
        if let Some(noted) = &mut noted {
            noted.sender(&user, info);
        }
        // Nothing is audited here, as with an upstream that has no policy for it.
        let _audit = traced::station("audit");
        // As Kubernetes 1.37 calls it, whoever may be impersonated.
        let _impersonation = traced::station("constrainedimpersonation");
        let method = lowercase(&parts.method);
        let user = if authenticate::impersonates(&parts.headers) {
            let sender = attributes(&user, &method, info, query);
            match Box::pin(self.impersonate(&sender, &parts.headers)).await {
                Ok(Some(other)) => {
                    if let Some(noted) = &mut noted {
                        noted.impersonated = Some(other.name.clone());
                    }
                    Arc::new(other)
                }
                Ok(None) => user,
                Err(status) => return Ok(forbidden(&status, &parts.headers, query)),
            }
        } else {
            user
        };
        tally.user = Some(user.clone());
        self.metrics.access.impersonated(tally.lap());
        self.check_unread(caller, &user, info.path)?;
        let asked = attributes(&user, &method, info, query);
        let _limit = traced::station("priorityandfairness");
        let request = (parts, info, query);
        let most = most.unwrap_or_else(|| self.longest(caller));
        let seat = match self
            .admit(caller, &asked, &user, request, most, tally)
            .await
        {
            Ok(seat) => seat,
            Err(seconds) => return Ok(gate::too_many_requests(seconds)),
        };
        self.metrics.access.placed(tally.lap());
        tally.seated();
        let _authorization = traced::station("authorization");
        if let Err(status) = self.allow_request(&asked, tally).await {
            return Ok(forbidden(&status, &parts.headers, query));
        }
        let Some(resource) = &info.resource else {
            if debug_flags::is_path(info.path) {
                drop(seat); // Its body may take its time.
                return Ok(Box::pin(debug_flags::answer(&parts.method, info.path, body)).await);
            }
            let ask = nonresource::Request {
                user: &user,
                path: info.path,
                query,
                headers: &parts.headers,
                method: &parts.method,
            };
            tally.series = self.metrics.requests.path(&ask);
            let answered = Box::pin(in_time(tally.deadline, nonresource::answer(self, &ask))).await;
            return Ok(answered.unwrap_or_else(|it| respond::refused(&it, &parts.headers, query)));
        };
        if info.path.starts_with("//") {
            // Authorized as what it reads like, and then nobody's, as upstream.
            return Ok(nonresource::page_not_found());
        }
        // A change must not be judged by a state that is older than what other servers have answered.
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            Box::pin(self.latest()).await?;
        }
        let Some(found) = self.served(resource).await else {
            return Ok(self.not_served(&resource.group, &parts.headers, query));
        };
        let warnings = Warnings::default();
        if found.custom.is_some() || resource.subresource.is_empty() {
            let deprecation = deprecation(&found);
            tally.deprecated = deprecation.is_some();
            warnings.add(deprecation);
        }
        let ask = Ask {
            user: &user,
            info: resource,
            resource: found,
            query,
            headers: &parts.headers,
            method: &parts.method,
            warnings: &warnings,
            deadline: tally.deadline,
            seat: &seat,
        };
        Ok(self.act(&ask, body, tally).await)
    }

    /// Custom groups know only what they serve.
    fn not_served(&self, group: &str, headers: &HeaderMap, query: &Query) -> Response<Body> {
        let catalog = self.catalog.load();
        if catalog.group(group).is_none_or(|it| !it.is_builtin()) {
            return nonresource::page_not_found();
        }
        respond::refused(&nonresource::no_resource(), headers, query)
    }

    /// What a request may take.
    fn longest(&self, caller: &Caller) -> Duration {
        match caller {
            Caller::Remote { .. } => self.settings.request_timeout,
            Caller::Local(_) => OWN_DEADLINE,
        }
    }

    /// Has the verb answer, within its time.
    async fn act(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        body: RequestBody,
        tally: &mut Tally,
    ) -> Response<Body> {
        tally.series = self.metrics.requests.resource(ask);
        if tally.deprecated && tally.series.is_some() {
            self.metrics.requests.deprecated(ask);
        }
        let work = pin!(verbs::answer(self, ask, body));
        let mut work = Offload::new(&self.cpu_slots, work);
        let answered = before(ask.deadline, &mut work).await;
        let mut response = answered.unwrap_or_else(|_| {
            self.metrics.requests.timed_out(ask);
            respond::failed(&timed_out(), ask.headers, ask.query)
        });
        ask.seat.follow(self.limiter.flow(), response.body_mut());
        let warnings = ask.warnings.take();
        tally.waited = ask.warnings.waited() + tally.queued;
        let is_handled = response.status() != StatusCode::METHOD_NOT_ALLOWED;
        if !is_handled {
            tally.series = None;
        }
        if is_handled || ask.resource.custom.is_some() {
            respond::warn(&mut response, &warnings);
        }
        response
    }

    /// Refuses who has asked for much and read little of it.
    fn check_unread(&self, caller: &Caller, user: &User, path: &str) -> Result<(), Status> {
        match caller {
            Caller::Remote { memory, .. } if !is_probe(path) => self.unread.check(memory, user),
            _ => Ok(()),
        }
    }

    /// The row of a resource.
    fn known(&self, asked: &ResourceRequest<'_>) -> Option<Arc<Resource>> {
        let catalog = self.catalog.load();
        let found = catalog.get(&asked.group, &asked.version, &asked.resource);
        found.cloned()
    }

    /// The same. One that is not known may be so new that it is not learned yet.
    async fn served(&self, asked: &ResourceRequest<'_>) -> Option<Arc<Resource>> {
        if let Some(known) = self.known(asked) {
            return Some(known);
        }
        Box::pin(self.learn()).await.ok()?;
        self.known(asked)
    }
}

/// Health checks are answered however busy the server is.
pub(crate) fn is_probe(path: &str) -> bool {
    let first = path.strip_prefix('/').and_then(|it| it.split('/').next());
    matches!(first, Some("healthz" | "livez" | "readyz"))
}

/// What comes of it before the deadline.
async fn in_time<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let mut work = pin!(work);
    let answered = before(deadline, &mut work).await;
    answered.unwrap_or_else(|_| Err(timed_out()))
}

/// The work's outcome, or an error if there is none at the deadline.
async fn before<F: Future + Unpin>(
    deadline: Option<Instant>,
    work: &mut F,
) -> Result<F::Output, Elapsed> {
    // Most work ends without a wait: then there is no need for a timer.
    let first = poll_fn(|context| Poll::Ready(Pin::new(&mut *work).poll(context))).await;
    match (first, deadline) {
        (Poll::Ready(output), _) => Ok(output),
        (Poll::Pending, None) => Ok(work.await),
        (Poll::Pending, Some(deadline)) => {
            Box::pin(tokio::time::timeout_at(deadline.into(), work)).await
        }
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
    let text = if resource.is("", "endpoints") {
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    } else if resource.is("", "componentstatuses") {
        "v1 ComponentStatus is deprecated in v1.19+"
    } else {
        return None;
    };
    Some(text.to_owned())
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

impl Ask<'_> {
    pub fn list_options(&self) -> Result<meta::options::ListOptions, Status> {
        meta::options::ListOptions::from_query(&meta::options::Query(self.query.pairs()), true)
    }

    /// The prefix of the keys that a watch is about. One object's key begins those of others too: which of them are
    /// shown is for the filter to say.
    pub fn watch_range(&self) -> String {
        let (info, resource) = (self.info, &self.resource);
        let has_key = !resource.namespaced || !info.namespace.is_empty();
        if info.by_prefix && !info.name.is_empty() && has_key {
            return resource.key(&info.namespace, &info.name);
        }
        resource.range(&info.namespace)
    }

    /// Called before a step that reads `bytes` bytes: many wait for a CPU slot, so that others are not held up.
    pub(crate) async fn heavy(&self, api: &Api, bytes: usize) -> Result<(), Status> {
        if !cpu_slots::is_heavy(bytes) {
            return Ok(());
        }
        Box::pin(async { Unseated::new(api, self).heavy(0).await }).await
    }

    /// The same request, to be changed.
    pub fn again(&self) -> Ask<'_> {
        Ask {
            user: self.user,
            info: self.info,
            resource: self.resource.clone(),
            query: self.query,
            headers: self.headers,
            method: self.method,
            warnings: self.warnings,
            deadline: self.deadline,
            seat: self.seat,
        }
    }

    /// An object that names the uid it is about must name the one that is there.
    pub(crate) fn check_uid(&self, object: &Value, live: &Value) -> Result<(), Status> {
        let (asked, found) = (meta::object::uid(object), meta::object::uid(live));
        if asked.is_empty() || asked == found {
            return Ok(());
        }
        let key = self.resource.key(&self.info.namespace, &self.info.name);
        let text = format!(
            "StorageError: invalid object, Code: 4, Key: /registry{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition \
             failed: UID in precondition: {asked}, UID in object meta: {found}"
        );
        Err(Status::conflict(
            &self.resource.group_resource(),
            &self.info.name,
            text,
        ))
    }

    pub fn not_found(&self) -> Status {
        Status::not_found(&self.resource.group_resource(), &self.info.name)
    }
}

/// No answer has this value again: HTTP/2 is not to remember it, which is what this mark is for.
fn once(value: &mut HeaderValue) {
    value.set_sensitive(true);
}
