//! What stands before every request: who asks, a place among those that are served, and whether they may.

use std::sync::Arc;

use auth::{Attributes, Decision, User};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method};
use meta::Status;
use meta::gvk::GroupResource;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::metrics::{Authenticated, Tally};
use crate::pipeline::{Api, Ask, Caller, Settings};
use crate::request::{RequestInfo, Verb};

/// Places for requests that are served at the same time.
#[derive(Debug)]
pub(crate) struct Places {
    reading: Semaphore,
    writing: Semaphore,
}

impl Places {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            reading: Semaphore::new(limit(settings.max_requests_inflight)),
            writing: Semaphore::new(limit(settings.max_mutating_requests_inflight)),
        }
    }
}

/// Zero is no limit.
fn limit(most: usize) -> usize {
    match most {
        0 => Semaphore::MAX_PERMITS,
        most => most.min(Semaphore::MAX_PERMITS),
    }
}

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
                self.latest().await?;
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

    /// A place among those that are served now; watches take none.
    pub(crate) fn place(
        &self,
        parts: &Parts,
        info: &RequestInfo<'_>,
    ) -> Result<Option<SemaphorePermit<'_>>, Status> {
        let resource = info.resource.as_ref();
        if resource.is_some_and(|it| it.verb == Verb::Watch) {
            return Ok(None);
        }
        let reads = matches!(parts.method, Method::GET | Method::HEAD);
        let (settings, inflight) = (&self.settings, &self.metrics.inflight);
        let (room, most, used) = if reads {
            let most = settings.max_requests_inflight;
            (&self.places.reading, most, &inflight.reading)
        } else {
            let most = settings.max_mutating_requests_inflight;
            (&self.places.writing, most, &inflight.writing)
        };
        let Ok(slot) = room.try_acquire() else {
            self.note_dropped(info, parts);
            let why = "Too many requests, please try again later.";
            return Err(Status::too_many_requests(why, 1));
        };
        used.note(limit(most).saturating_sub(room.available_permits()));
        Ok(Some(slot))
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
        attributes: Attributes<'_>,
        tally: &mut Tally,
    ) -> Result<(), Status> {
        let decision = self.authorize(attributes).await;
        self.metrics.access.authorized(&decision, tally.lap());
        judged(&attributes, &decision)
    }

    /// Errs with the refusal that upstream would send.
    pub async fn allow(&self, attributes: Attributes<'_>) -> Result<(), Status> {
        judged(&attributes, &self.authorize(attributes).await)
    }

    /// Asks again before it says no: the right may be so new that it is not learned yet.
    pub async fn authorize(&self, attributes: Attributes<'_>) -> Decision {
        let decision = self.authorizer.authorize(attributes).await;
        if decision.allowed() || self.learn().await.is_err() {
            return decision;
        }
        self.authorizer.authorize(attributes).await
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
