//! What a server is made of, and its settings.

use std::sync::Arc;
use std::time::Duration;

use admission::Chain;
use auth::serviceaccount::Issuer;
use auth::{Authorizer, Rbac};
use store::Store;
use telemetry::metrics::Registry;
use telemetry::recent::Recent;
use telemetry::trace::Tracer;

use super::service_ranges::ServiceRanges;
use crate::access::authenticate::Authentication;
use crate::discovery::documents::Documents;
use crate::flow::limiter::Limits;
use crate::observe::request_log::RequestLog;
use crate::transport::unread::UnreadLimits;

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
    pub documents: Documents,
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
    /// Seats and queues by `FlowSchema` and `PriorityLevelConfiguration`. Without it, only the numbers above count.
    pub priority_and_fairness: bool,
    /// What bodies may have in memory together whose requests hold no seat, because their clients take their time.
    pub max_slow_body_bytes: usize,
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
    /// What lists in protobuf that clients are slow to take may have in memory together; more are made twice.
    pub max_held_list_bytes: usize,
    /// Of responses that clients have not read yet.
    pub unread: UnreadLimits,
    /// Streams that a client may have on one HTTP/2 connection.
    pub max_streams: u32,
    /// Told of every request.
    pub request_log: Option<RequestLog>,
    /// Numbers can be read at `/metrics`.
    pub serve_metrics: bool,
    /// Nodes have permissions that no RBAC rule lists.
    pub node_mode: bool,
    /// Feature gates, and the versions to emulate.
    pub features: features::Settings<'static>,
    /// Features that may be set by the API.
    pub dynamic_features: features::Selection,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_body_bytes: 3 << 20,
            max_requests_inflight: 400,
            max_mutating_requests_inflight: 200,
            priority_and_fairness: true,
            max_slow_body_bytes: 256 << 20,
            header_timeout: Duration::from_secs(32),
            request_timeout: Duration::from_secs(60),
            min_request_timeout: Duration::from_secs(1800),
            services: ServiceRanges::default(),
            server_ttl: Duration::from_secs(15),
            event_ttl: Duration::from_secs(3600),
            max_token_expiration: 0,
            extend_token_expiration: true,
            goaway_chance: 0.0,
            max_held_list_bytes: 64 << 20,
            unread: UnreadLimits::default(),
            // As Go's server offers.
            max_streams: 250,
            request_log: None,
            serve_metrics: true,
            node_mode: false,
            features: features::Settings::kubernetes(),
            dynamic_features: features::Selection::default(),
        }
    }
}

impl Settings {
    pub(super) fn limits(&self) -> Limits {
        Limits {
            max_requests_inflight: self.max_requests_inflight,
            max_mutating_requests_inflight: self.max_mutating_requests_inflight,
            priority_and_fairness: self.priority_and_fairness,
            max_slow_body_bytes: self.max_slow_body_bytes,
        }
    }
}
