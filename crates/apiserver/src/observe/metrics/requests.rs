//! Hot path. Requests that reached a handler, sorted as upstream's `MonitorRequest` sorts them.
//!
//! The series of a request for a whole object are found by two numbers in the row of its resource; all others are
//! looked up by their labels.

mod labels;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use auth::User;
use flowcontrol::WorkEstimate;
use http::request::Parts;
use http::{Response, StatusCode};
use telemetry::Ids;
use telemetry::metrics::{Family, Gauge, Registry, Timer};

use super::body;
use crate::flow::EntryRef;
use crate::handler::context::RequestContext;
use crate::instruments::labels::Reported;
use crate::instruments::requests::{self as series, Deprecated, Families, Series};
use crate::request::NonResourceRequest;
use crate::request::RequestInfo;
use crate::transport::body::Body;
use crate::transport::delivery::DeliveryTerms;

#[derive(Debug)]
pub(crate) struct Requests {
    families: Families,
    deprecated: Family<Deprecated<'static>, Gauge>,
}

/// What is known of a request while it is served.
#[derive(Debug)]
pub(crate) struct RequestStats {
    pub started: Timer,
    /// When the last station was passed, in nanoseconds since the start.
    passed: u64,
    /// The API that was requested is deprecated.
    pub deprecated: bool,
    /// None if the request reached no handler.
    pub series: Option<Arc<Series>>,
    /// Of the time, what webhooks took, in nanoseconds.
    pub waited: u64,
    /// The server sent it to itself.
    pub is_internal: bool,
    /// By when the response must be delivered, if it has to be.
    pub deadline: Option<Instant>,
    /// Once it is known.
    pub user: Option<Arc<User>>,
    /// The `FlowSchema` and the priority level that it belongs to.
    pub flow: Option<EntryRef>,
    /// How long it waited in a queue, in nanoseconds.
    pub queued: u64,
    /// What it was estimated to cost, if it belongs to a priority level.
    pub work: Option<WorkEstimate>,
    /// When its execution began, in nanoseconds since the start. None for a rejected request.
    pub seated: Option<u64>,
    /// What admission said to the audit log.
    pub annotations: BTreeMap<String, String>,
}

impl RequestStats {
    pub(crate) fn start() -> Self {
        Self {
            started: Timer::start(),
            passed: 0,
            deprecated: false,
            series: None,
            waited: 0,
            is_internal: false,
            deadline: None,
            user: None,
            flow: None,
            queued: 0,
            work: None,
            seated: None,
            annotations: BTreeMap::new(),
        }
    }

    /// The request has its seat; [`Self::lap`] was called for it.
    pub(crate) fn seated(&mut self) {
        self.seated = Some(self.passed);
    }

    /// How the response is to be delivered.
    pub(crate) fn terms(&mut self) -> DeliveryTerms {
        DeliveryTerms {
            deadline: self.deadline,
            user: self.user.take(),
            series: self.series.clone(),
            request: None,
        }
    }

    /// Nanoseconds since the last station, or the start.
    pub(crate) fn lap(&mut self) -> u64 {
        let now = self.started.nanos();
        let took = now.saturating_sub(self.passed);
        self.passed = now;
        took
    }

    /// Counts the request when all of its answer is on its way.
    pub(crate) fn end(self, response: &mut Response<Body>, ids: Option<Ids>) {
        let Some(series) = self.series else {
            return;
        };
        let code = response.status();
        if self.is_internal {
            series.count_own();
        }
        let ending = Ending {
            series,
            code,
            started: self.started,
            waited: self.waited,
            ids,
        };
        match response.body_mut() {
            Body::Full(bytes) => ending.record(bytes.len()),
            Body::Chunks(_) | Body::Stream(_) => body::count(response.body_mut(), ending),
        }
    }
}

/// A request that waits for the end of its answer.
#[derive(Debug)]
pub(super) struct Ending {
    series: Arc<Series>,
    code: StatusCode,
    started: Timer,
    waited: u64,
    ids: Option<Ids>,
}

impl Ending {
    pub(super) fn record(&self, size: usize) {
        let took = self.started.nanos();
        self.series
            .record(self.code, took, self.waited, size, self.ids);
    }

    pub(super) fn series(&self) -> &Series {
        &self.series
    }
}

impl Requests {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            families: Families::new(registry),
            deprecated: series::deprecated(registry),
        }
    }

    /// Where a request for a resource is counted.
    pub(crate) fn resource(&self, ctx: &RequestContext<'_>) -> Option<Arc<Series>> {
        if !ctx.exists() {
            return None;
        }
        let reported = Reported::resource(ctx)?;
        match ctx.resource.series.slot(&reported) {
            Some(slot) => {
                let found = slot.get_or_init(|| Arc::new(self.families.of(&reported)));
                Some(found.clone())
            }
            None => Some(Arc::new(self.families.of(&reported))),
        }
    }

    /// Where a request for something else is counted; upstream does so for a few paths only.
    pub(crate) fn path(&self, request: &NonResourceRequest<'_>) -> Option<Arc<Series>> {
        let reported = Reported::path(request)?;
        Some(Arc::new(self.families.of(&reported)))
    }

    /// Counts a request that was turned away because there are too many. What is not `served` goes without a name.
    pub(crate) fn dropped(&self, info: &RequestInfo<'_>, parts: &Parts, served: bool) {
        let code = StatusCode::TOO_MANY_REQUESTS;
        let reported = Reported::unhandled(info, parts, served);
        self.families.total(&reported, code).inc();
        self.families.terminated(&reported, code);
    }

    /// The same for one whose handler was at work already. It is counted as answered when it is.
    pub(crate) fn dropped_late(&self, ctx: &RequestContext<'_>) {
        if let Some(reported) = Reported::resource(ctx) {
            self.families
                .terminated(&reported, StatusCode::TOO_MANY_REQUESTS);
        }
    }

    /// Records the use of a deprecated API. No built-in API has a release in which it will be removed.
    pub(crate) fn deprecated(&self, ctx: &RequestContext<'_>) {
        let row = &ctx.resource;
        let used = self.deprecated.with(&Deprecated {
            group: &row.group,
            removed_release: "",
            resource: &row.plural,
            subresource: &ctx.info.subresource,
            version: &row.version,
        });
        used.set(1);
    }

    /// Counts a request that took too long.
    pub(crate) fn timed_out(&self, ctx: &RequestContext<'_>) {
        if let Some(reported) = Reported::resource(ctx) {
            let code = StatusCode::GATEWAY_TIMEOUT;
            self.families.terminated(&reported, code);
        }
    }
}
