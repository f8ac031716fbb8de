//! One request from end to end, top-down.

mod api;

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use auth::{Attributes, User};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use meta::Status;

use crate::body::Body;
use crate::catalog::Resource;
use crate::incoming::RequestBody;
use crate::metrics::Tally;
use crate::request::{Query, RequestInfo, ResourceRequest, Verb};
use crate::request_log::Noted;
use crate::server::Peer;
use crate::traced::{self, SERVER_TIMING, Told};
use crate::warnings::Warnings;
use crate::{debug_flags, documents, gzip, random, respond, verbs};
pub use api::{Api, Config, Settings};

pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// What a request of a controller of ours may take, however short clients' time is.
const OWN_DEADLINE: Duration = Duration::from_secs(60);

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
    /// When it is answered, with whatever there is. What streams has none.
    pub deadline: Option<Instant>,
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
            return Ok(answered.unwrap_or_else(|it| respond::refused(&it, &parts.headers, &query)));
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
            deadline: (resource.verb != Verb::Watch).then(|| Instant::now() + deadline),
        };
        Ok(self.act(&ask, body, tally).await)
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
        let mut response = match ask.deadline {
            None => verbs::answer(self, ask, body).await,
            Some(deadline) => {
                let work = verbs::answer(self, ask, body);
                let answered = tokio::time::timeout_at(deadline.into(), work);
                answered.await.unwrap_or_else(|_| {
                    self.metrics.requests.timed_out(ask);
                    let text = "request did not complete within the allotted timeout";
                    respond::failed(&Status::timeout(text, 0), ask.headers, ask.query)
                })
            }
        };
        let warnings = ask.warnings.take();
        tally.waited = ask.warnings.waited();
        let is_handled = response.status() != StatusCode::METHOD_NOT_ALLOWED;
        if !is_handled {
            tally.series = None;
        }
        if is_handled || ask.resource.custom.is_some() {
            respond::warn(&mut response, &warnings);
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
            deadline: self.deadline,
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
