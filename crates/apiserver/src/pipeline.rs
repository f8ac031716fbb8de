//! One request from end to end, top-down.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use admission::Chain;
use arc_swap::ArcSwap;
use auth::impersonation::LastModes;
use auth::serviceaccount::Issuer;
use auth::{Attributes, Authorizer, Rbac, User, x509};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use meta::Status;
use store::{LeaseId, Store};
use telemetry::metrics::Registry;
use telemetry::recent::Recent;
use telemetry::trace::Tracer;
use tokio::sync::watch;

use crate::allocate::ServiceRanges;
use crate::authenticate::Authentication;
use crate::body::Body;
use crate::catalog::{Catalog, Resource};
use crate::encoded::Encoded;
use crate::follow::Followers;
use crate::gate::Places;
use crate::incoming::RequestBody;
use crate::lookup::Remembered;
use crate::metrics::{Metrics, Tally};
use crate::openapi::Cache;
use crate::request::{Query, RequestInfo, ResourceRequest, Verb};
use crate::request_log::{Noted, RequestLog};
use crate::server::Peer;
use crate::traced::{self, SERVER_TIMING, Told};
use crate::warnings::Warnings;
use crate::{clock, debug_flags, documents, gzip, random, respond, verbs};

pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// What a request of a controller of ours may take, however short clients' time is.
const OWN_DEADLINE: Duration = Duration::from_secs(60);

/// The API over one store.
#[derive(Debug)]
pub struct Api {
    pub store: Store,
    pub catalog: ArcSwap<Catalog>,
    catalog_changed: watch::Sender<()>,
    pub encoded: Encoded,
    pub(crate) openapi: Cache,
    pub(crate) followers: Followers,
    pub authentication: Authentication,
    pub authorizer: Arc<dyn Authorizer>,
    pub(crate) last_modes: LastModes,
    pub admission: Chain,
    pub documents: documents::Documents,
    pub settings: Settings,
    pub stop: watch::Receiver<bool>,
    pub metrics: Metrics,
    pub rbac: Arc<Rbac>,
    /// Signs service account tokens.
    pub issuer: Option<Issuer>,
    pub tracer: Arc<Tracer>,
    /// Traces that can be read here, if any are kept.
    pub recent: Option<Arc<Recent>>,
    pub(crate) event_lease: tokio::sync::Mutex<Option<(LeaseId, Instant)>>,
    pub(crate) remembered: Remembered,
    ready: AtomicBool,
    leaving: AtomicBool,
    pub(crate) places: Places,
}

/// What an API is made of.
#[derive(Debug)]
pub struct Config {
    pub store: Store,
    pub authentication: Authentication,
    pub authorizer: Arc<dyn Authorizer>,
    pub rbac: Arc<Rbac>,
    pub issuer: Option<Issuer>,
    pub tracer: Arc<Tracer>,
    pub recent: Option<Arc<Recent>>,
    pub admission: Chain,
    pub documents: documents::Documents,
    pub settings: Settings,
    /// Takes in what this API counts.
    pub metrics: Registry,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub struct Settings {
    /// Of a request's body.
    pub max_body_bytes: usize,
    /// Zero for no limit.
    pub max_requests_inflight: usize,
    /// Zero for no limit.
    pub max_mutating_requests_inflight: usize,
    /// How long a client may take from its connection to the end of its first request's head.
    pub header_timeout: Duration,
    /// What a request may take, its body included, if it is not a watch.
    pub request_timeout: Duration,
    /// The shortest time that a watch without `timeoutSeconds` gets.
    pub min_request_timeout: Duration,
    pub services: ServiceRanges,
    /// How long a server that says nothing is believed to live.
    pub server_ttl: Duration,
    /// How long events are kept.
    pub event_ttl: Duration,
    /// The longest life of a token that is asked for, in seconds; zero for no limit.
    pub max_token_expiration: i64,
    /// Tokens that admission asks for on behalf of pods live for a year, and warn.
    pub extend_token_expiration: bool,
    /// The part of HTTP/2 requests after which a client is sent away to connect anew.
    pub goaway_chance: f64,
    /// Streams that a client may have on one HTTP/2 connection.
    pub max_streams: u32,
    /// Told of every request.
    pub request_log: Option<RequestLog>,
    /// Numbers can be read at `/metrics`.
    pub serve_metrics: bool,
    /// Nodes have rights that no rule tells.
    pub node_mode: bool,
    /// Take definitions whose rules in CEL nobody will check.
    pub accept_unchecked_rules: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_body_bytes: 3 << 20,
            max_requests_inflight: 400,
            max_mutating_requests_inflight: 200,
            header_timeout: Duration::from_secs(32),
            request_timeout: Duration::from_secs(60),
            min_request_timeout: Duration::from_secs(1800),
            services: ServiceRanges::default(),
            server_ttl: Duration::from_secs(15),
            event_ttl: Duration::from_secs(3600),
            max_token_expiration: 0,
            extend_token_expiration: true,
            goaway_chance: 0.0,
            // As Go's server offers.
            max_streams: 250,
            request_log: None,
            serve_metrics: true,
            node_mode: false,
            accept_unchecked_rules: false,
        }
    }
}

/// Who is at the other end of a connection, or inside of this process.
#[derive(Debug)]
pub enum Caller {
    Remote {
        peer: Peer,
        /// Its certificate leads to one of our authorities for clients.
        trusted: bool,
        /// Whom its certificate names, and from when to when it counts.
        known: Option<(Arc<User>, (i64, i64))>,
        /// From when to when it may speak for others.
        proxy: Option<(i64, i64)>,
    },
    /// A controller of ours.
    Local(Arc<User>),
}

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
}

impl Api {
    pub async fn answer(
        self: &Arc<Self>,
        caller: &Caller,
        request: Request<Incoming>,
    ) -> Response<Body> {
        let (parts, body) = request.into_parts();
        self.handle(caller, parts, RequestBody::Incoming(body))
            .await
    }

    pub async fn handle(
        self: &Arc<Self>,
        caller: &Caller,
        parts: Parts,
        body: RequestBody,
    ) -> Response<Body> {
        let mut tally = Tally::start();
        tally.own = matches!(caller, Caller::Local(user) if user.name == "system:apiserver");
        let log = self.settings.request_log.filter(|it| (it.enabled)());
        let mut noted = log.map(Noted::new);
        let mut trace = self.tracer.request();
        let answered = {
            let run = self.run(caller, &parts, body, noted.as_mut(), &mut tally);
            let mut run = pin!(run);
            poll_fn(|context| trace.enter(|| run.as_mut().poll(context))).await
        };
        let mut response = match answered {
            Ok(response) => response,
            Err(status) => {
                let query = Query::parse(parts.uri.query());
                respond::failed(&status, &parts.headers, &query)
            }
        };
        let id = parts.headers.get(AUDIT_ID).cloned();
        let mut id = id.or_else(|| HeaderValue::from_str(&random::uid()).ok());
        if let Some(id) = &mut id {
            once(id);
            response.headers_mut().insert(AUDIT_ID, id.clone());
        }
        if let Some(timing) = trace.server_timing()
            && let Ok(mut timing) = HeaderValue::from_bytes(&timing)
        {
            once(&mut timing);
            response.headers_mut().insert(SERVER_TIMING, timing);
        }
        gzip::negotiate(&parts.headers, &mut response);
        if parts.method == Method::HEAD {
            *response.body_mut() = Body::empty();
        }
        if let Some(noted) = noted {
            noted.tell(caller, &parts, &response, trace.ids());
        }
        tally.end(&mut response, trace.ids());
        trace.finish(|told: &mut Told| told.note(caller, &parts, &response, id.as_ref()));
        response
    }

    async fn run(
        self: &Arc<Self>,
        caller: &Caller,
        parts: &Parts,
        body: RequestBody,
        mut noted: Option<&mut Noted>,
        tally: &mut Tally,
    ) -> Result<Response<Body>, Status> {
        let query = Query::parse(parts.uri.query());
        let info = RequestInfo::new(&parts.method, parts.uri.path(), &query)
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let most = match caller {
            Caller::Remote { .. } => self.settings.request_timeout,
            Caller::Local(_) => OWN_DEADLINE,
        };
        let deadline = deadline(&query, &info, most)?;
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
            noted.sender(&user, &info);
        }
        // Nothing is audited here, as with an upstream that has no policy for it.
        let _audit = traced::station("audit");
        // As Kubernetes 1.37 calls it, whoever may be impersonated.
        let _impersonation = traced::station("constrainedimpersonation");
        let method = lowercase(&parts.method);
        let sender = attributes(&user, &method, &info, &query);
        let user = match Box::pin(self.impersonate(&sender, &parts.headers)).await {
            Ok(Some(other)) => {
                if let Some(noted) = &mut noted {
                    noted.impersonated = Some(other.name.clone());
                }
                Arc::new(other)
            }
            Ok(None) => user,
            Err(status) => return Ok(forbidden(&status, &parts.headers, &query)),
        };
        self.metrics.access.impersonated(tally.lap());
        let _limit = traced::station("priorityandfairness");
        // What controllers do must not wait for what clients do: they clean up after them.
        let _slot = match caller {
            Caller::Remote { .. } => self.place(parts, &info)?,
            Caller::Local(_) => None,
        };
        self.metrics.access.placed(tally.lap());
        let _authorization = traced::station("authorization");
        let asked = attributes(&user, &method, &info, &query);
        if let Err(status) = self.allow_request(asked, tally).await {
            return Ok(forbidden(&status, &parts.headers, &query));
        }
        let Some(resource) = &info.resource else {
            if debug_flags::is_path(info.path) {
                return Ok(debug_flags::answer(&parts.method, info.path, body).await);
            }
            let ask = documents::Request {
                user: &user,
                path: info.path,
                query: &query,
                headers: &parts.headers,
                method: &parts.method,
            };
            tally.series = self.metrics.requests.path(&ask);
            let answered = Box::pin(documents::answer(self, &ask)).await;
            let refused = |it: Status| respond::refused(&it, &parts.headers, &query);
            return Ok(answered.unwrap_or_else(refused));
        };
        if info.path.starts_with("//") {
            // Authorized as what it reads like, and then nobody's, as upstream.
            return Ok(documents::page_not_found());
        }
        // A change must not be judged by a state that is older than what other servers have answered.
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            self.latest().await?;
        }
        let Some(found) = self.served(resource).await else {
            // Custom groups know only what they serve.
            let catalog = self.catalog.load();
            let group = catalog.group(&resource.group);
            if group.is_none_or(|it| !it.is_builtin()) {
                return Ok(documents::page_not_found());
            }
            let status = documents::no_resource();
            return Ok(respond::refused(&status, &parts.headers, &query));
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
            query: &query,
            headers: &parts.headers,
            method: &parts.method,
            warnings: &warnings,
        };
        Ok(self.act(&ask, body, deadline, tally).await)
    }

    /// Has the verb answer, within its time.
    async fn act(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        body: RequestBody,
        deadline: Duration,
        tally: &mut Tally,
    ) -> Response<Body> {
        tally.series = self.metrics.requests.resource(ask);
        if tally.deprecated && tally.series.is_some() {
            self.metrics.requests.deprecated(ask);
        }
        let mut response = if ask.info.verb == Verb::Watch {
            verbs::answer(self, ask, body).await
        } else {
            let answered = tokio::time::timeout(deadline, verbs::answer(self, ask, body));
            answered.await.unwrap_or_else(|_| {
                self.metrics.requests.timed_out(ask);
                let text = "request did not complete within the allotted timeout";
                respond::failed(&Status::timeout(text, 0), ask.headers, ask.query)
            })
        };
        respond::warn(&mut response, &ask.warnings.take());
        tally.waited = ask.warnings.waited();
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            // Nobody handled it.
            tally.series = None;
        }
        response
    }

    /// The row of a resource. One that is not known may be so new that it is not learned yet.
    async fn served(&self, asked: &ResourceRequest<'_>) -> Option<Arc<Resource>> {
        let find = || {
            let catalog = self.catalog.load();
            let found = catalog.get(&asked.group, &asked.version, &asked.resource);
            found.cloned()
        };
        if let Some(found) = find() {
            return Some(found);
        }
        self.learn().await.ok()?;
        find()
    }

    pub fn new(parts: Config, stop: watch::Receiver<bool>) -> Self {
        let settings = parts.settings;
        Self {
            store: parts.store,
            catalog: ArcSwap::from_pointee(Catalog::new(crate::catalog::builtin(), &[])),
            catalog_changed: watch::Sender::new(()),
            encoded: Encoded::default(),
            openapi: Cache::default(),
            followers: Followers::default(),
            authentication: parts.authentication,
            authorizer: parts.authorizer,
            last_modes: LastModes::default(),
            admission: parts.admission,
            documents: parts.documents,
            places: Places::new(&settings),
            settings,
            stop,
            metrics: Metrics::new(parts.metrics),
            rbac: parts.rbac,
            issuer: parts.issuer,
            tracer: parts.tracer,
            recent: parts.recent,
            event_lease: tokio::sync::Mutex::default(),
            remembered: Remembered::default(),
            ready: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
        }
    }

    /// Puts a new catalog in the place of the old.
    pub fn set_catalog(&self, catalog: Catalog) {
        self.catalog.store(Arc::new(catalog));
        self.catalog_changed.send_replace(());
    }

    /// Tells of each new catalog.
    pub fn catalog_changes(&self) -> watch::Receiver<()> {
        self.catalog_changed.subscribe()
    }

    /// All that must be there before the first client is served is there.
    pub fn set_ready(&self) {
        self.ready.store(true, Ordering::Release);
    }

    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Says by `/readyz` that the server is about to stop, and goes on.
    pub fn set_leaving(&self) {
        self.leaving.store(true, Ordering::Release);
    }

    pub fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Acquire) || *self.stop.borrow()
    }

    /// What is known of a connection before its first request.
    pub fn caller(&self, peer: Peer) -> Caller {
        let clients = self.authentication.clients.as_ref();
        let trusted = clients.is_some_and(|it| it.trusts(&peer.certificates));
        let known = peer.certificates.first().filter(|_| trusted);
        let known = known.and_then(|certificate| {
            let mut user = x509::user(certificate, clock::unix()).ok()??;
            user.add_authenticated();
            Some((Arc::new(user), x509::validity(certificate)?))
        });
        let proxies = self.authentication.proxies.as_ref();
        Caller::Remote {
            proxy: proxies.and_then(|it| it.includes(&peer.certificates)),
            peer,
            trusted,
            known,
        }
    }

    /// Comes back when the server is told to stop.
    pub async fn stopping(&self) {
        let mut stop = self.stop.clone();
        // The other end is gone only when the process is about to end.
        let _ = stop.wait_for(|stop| *stop).await;
    }

    /// How long a watch may last.
    pub fn watch_time(&self, asked: Option<i64>) -> Duration {
        match asked.and_then(|seconds| u64::try_from(seconds).ok()) {
            Some(seconds) if seconds > 0 => Duration::from_secs(seconds.min(86_400 * 365)),
            _ => {
                // Up to twice the least, so that the watches of a restart do not all end together.
                let least = self.settings.min_request_timeout;
                least + least.mul_f64(random::fraction())
            }
        }
    }
}

/// Clients may want their answer earlier. What streams has no deadline.
fn deadline(query: &Query, info: &RequestInfo<'_>, most: Duration) -> Result<Duration, Status> {
    let streams = info.resource.as_ref().is_some_and(|it| {
        let sub = &*it.subresource;
        matches!(it.verb, Verb::Watch | Verb::Proxy)
            || ["attach", "exec", "proxy", "log", "portforward"].contains(&sub)
    });
    let Some(asked) = query.get("timeout").filter(|it| !it.is_empty() && !streams) else {
        return Ok(most);
    };
    match meta::time::parse_duration(asked) {
        Ok(Duration::ZERO) => Ok(most),
        Ok(asked) => Ok(asked.min(most)),
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
    attributes.field_selector = query.get("fieldSelector").unwrap_or_default();
    attributes.label_selector = query.get("labelSelector").unwrap_or_default();
    attributes
}

impl Ask<'_> {
    pub fn list_options(&self) -> Result<meta::options::ListOptions, Status> {
        meta::options::ListOptions::from_query(&meta::options::Query(self.query.pairs()), true)
    }

    /// The keys that a watch is about: a namespace's, or one object's.
    pub fn watch_range(&self) -> String {
        if self.info.by_prefix && !self.info.name.is_empty() {
            return self.resource.key(&self.info.namespace, &self.info.name);
        }
        self.resource.range(&self.info.namespace)
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
        }
    }

    pub fn not_found(&self) -> Status {
        Status::not_found(&self.resource.group_resource(), &self.info.name)
    }
}

/// No answer has this value again: HTTP/2 is not to remember it, which is what this mark is for.
fn once(value: &mut HeaderValue) {
    value.set_sensitive(true);
}
