//! The request log: one line per request. [`RequestLog`] is the seam at which a log is plugged in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use auth::User;
use http::header::USER_AGENT;
use http::request::Parts;
use http::{HeaderName, Response, Uri};
use telemetry::Ids;

use crate::handler::respond::text;
use crate::observe::metrics::RequestStats;
use crate::request::RequestInfo;
use crate::transport::body::Body;
use crate::transport::caller::Caller;

pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Receives a record of each request. It is called while the request is served: it must not block.
#[derive(Clone, Copy, Debug)]
pub struct RequestLog {
    /// Whether anybody wants to know now; asked at the beginning of each request.
    pub enabled: fn() -> bool,
    pub tell: fn(&AnsweredRequest<'_>),
}

/// The record of a request when its response begins: no body, no credentials.
#[derive(Clone, Debug)]
pub struct AnsweredRequest<'a> {
    /// As authorization rules have it, or the method where there is no resource.
    pub verb: &'a str,
    pub uri: String,
    pub code: u16,
    /// Until the answer began; a list or a watch may go on.
    pub latency: Duration,
    pub user_agent: &'a str,
    /// Empty if authentication failed.
    pub user: &'a str,
    pub impersonated: Option<&'a str>,
    pub audit_id: &'a str,
    /// Of the request's own span, if it is traced.
    pub ids: Option<Ids>,
    /// None for what controllers of this process ask.
    pub source: Option<SocketAddr>,
    /// None for requests that API Priority and Fairness does not concern.
    pub flow: Option<FlowFacts<'a>>,
    /// What admission said to the audit log: audit annotations of policies and webhooks.
    pub annotations: &'a BTreeMap<String, String>,
}

/// What API Priority and Fairness made of a request: the `apf_*` fields of upstream's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowFacts<'a> {
    pub priority_level: &'a str,
    pub flow_schema: &'a str,
    pub initial_seats: u32,
    pub final_seats: u32,
    pub additional_latency: Duration,
    /// From its seat until the answer began; of a watch, its `apf_init_latency` as well. None if it was rejected.
    pub execution_time: Option<Duration>,
    pub is_watch: bool,
}

impl<'a> FlowFacts<'a> {
    fn of(stats: &'a RequestStats, verb: Option<&str>) -> Option<Self> {
        let (entry, work) = (stats.flow.as_deref()?, stats.work?);
        let executed = |since| stats.started.nanos().saturating_sub(since);
        Some(Self {
            priority_level: truncated(&entry.level.name),
            flow_schema: truncated(&entry.schema.name),
            initial_seats: work.initial_seats,
            final_seats: work.final_seats,
            additional_latency: Duration::from_nanos(work.additional_latency),
            execution_time: stats.seated.map(executed).map(Duration::from_nanos),
            is_watch: verb == Some("watch"),
        })
    }
}

/// Upstream logs 64 bytes of a name at most.
fn truncated(name: &str) -> &str {
    name.get(..64).unwrap_or(name)
}

/// Collects the record of a request while it is served.
#[derive(Debug)]
pub(crate) struct LogEntry {
    log: RequestLog,
    started: Instant,
    verb: Option<&'static str>,
    user: String,
    pub(crate) impersonated: Option<String>,
}

impl LogEntry {
    pub(crate) fn new(log: RequestLog) -> Self {
        Self {
            log,
            started: Instant::now(),
            verb: None,
            user: String::new(),
            impersonated: None,
        }
    }

    pub(crate) fn sender(&mut self, user: &User, info: &RequestInfo<'_>) {
        self.user.clone_from(&user.name);
        self.verb = info.resource.as_ref().map(|it| it.verb.as_str());
    }

    pub(crate) fn tell(
        self,
        caller: &Caller,
        parts: &Parts,
        response: &Response<Body>,
        stats: &RequestStats,
        ids: Option<Ids>,
    ) {
        let verb = self.verb.filter(|it| !it.is_empty());
        (self.log.tell)(&AnsweredRequest {
            verb: verb.unwrap_or(parts.method.as_str()),
            uri: shown(&parts.uri),
            code: response.status().as_u16(),
            latency: self.started.elapsed(),
            user_agent: text(&parts.headers, &USER_AGENT).unwrap_or_default(),
            user: &self.user,
            impersonated: self.impersonated.as_deref(),
            audit_id: text(response.headers(), &AUDIT_ID).unwrap_or_default(),
            ids,
            source: match caller {
                Caller::Remote { peer, .. } => Some(peer.address),
                Caller::Local(_) => None,
            },
            flow: FlowFacts::of(stats, verb),
            annotations: &stats.annotations,
        });
    }
}

/// Parameters of the API itself. What others mean, as those that go on to a pod or the command of an exec, nobody here
/// knows: it may be a secret.
const HARMLESS: &[&str] = &[
    "allowWatchBookmarks",
    "container",
    "continue",
    "dryRun",
    "exclude",
    "fieldManager",
    "fieldSelector",
    "fieldValidation",
    "follow",
    "force",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "labelSelector",
    "limit",
    "orphanDependents",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "tailLines",
    "timeout",
    "timeoutSeconds",
    "verbose",
    "watch",
];

/// The path and the query, without the values of parameters that are not the API's own.
pub(crate) fn shown(uri: &Uri) -> String {
    match uri.query() {
        Some(query) => path_with_query(uri.path(), query),
        None => uri.path().to_owned(),
    }
}

pub(crate) fn path_with_query(path: &str, query: &str) -> String {
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if HARMLESS.contains(&key) => pair.to_owned(),
        Some((key, _)) => format!("{key}=***"),
        None if HARMLESS.contains(&pair) => pair.to_owned(),
        None => "***".to_owned(),
    });
    let pairs: Vec<_> = pairs.collect();
    format!("{path}?{}", pairs.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_truncated_as_upstream_does() {
        let name = "a".repeat(65);
        assert_eq!(truncated(&name), &name[..64]);
        assert_eq!(truncated("system"), "system");
    }

    #[test]
    fn what_a_log_shows_of_a_uri() {
        let cases = [
            ("/api/v1/pods", "/api/v1/pods"),
            (
                "/api/v1/pods?limit=5&watch=true",
                "/api/v1/pods?limit=5&watch=true",
            ),
            ("/api/v1/pods?watch", "/api/v1/pods?watch"),
            (
                "/x?access_token=s3cret&limit=5",
                "/x?access_token=***&limit=5",
            ),
            (
                "/x?command=login&command=-p&command=hunter2",
                "/x?command=***&command=***&command=***",
            ),
            ("/x?a=b=c", "/x?a=***"),
            ("/x?s3cret", "/x?***"),
        ];
        for (uri, expected) in cases {
            assert_eq!(shown(&uri.parse().unwrap()), expected);
        }
    }
}
