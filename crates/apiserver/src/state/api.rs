//! The API over one store: what it is made of, and its life.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use admission::Chain;
use arc_swap::ArcSwap;
use auth::impersonation::LastModes;
use auth::serviceaccount::Issuer;
use auth::{Authorizer, Rbac, x509};
use store::{LeaseId, Store};
use telemetry::metrics::Registry;
use telemetry::recent::Recent;
use telemetry::trace::Tracer;
use tokio::sync::{Semaphore, watch};

use crate::access::authenticate::Authentication;
use crate::access::gate::Limiter;
use crate::access::used_tokens::UsedTokens;
use crate::catalog::Catalog;
use crate::discovery;
use crate::discovery::openapi::Cache;
use crate::nonresource;
use crate::observe::metrics::Metrics;
use crate::observe::request_log::RequestLog;
use crate::request::encoded::Encoded;
use crate::runtime::clock;
use crate::runtime::cpu_slots::CpuSlots;
use crate::runtime::random;
use crate::state::informers::Followers;
use crate::state::lookup::Remembered;
use crate::state::stamps::Stamps;
use crate::transport::caller::Caller;
use crate::transport::caller::Peer;
use crate::transport::unread::{ConnectionMemory, Unread, UnreadLimits};
use crate::write::allocate::ServiceRanges;

/// The API over one store.
#[derive(Debug)]
pub struct Api {
    pub store: Store,
    pub catalog: ArcSwap<Catalog>,
    catalog_changed: watch::Sender<()>,
    pub encoded: Encoded,
    pub(crate) openapi: Cache,
    pub(crate) discovery: discovery::Cache,
    pub(crate) followers: Followers,
    pub authentication: Authentication,
    pub authorizer: Arc<dyn Authorizer>,
    pub(crate) last_modes: LastModes,
    pub admission: Chain,
    pub documents: nonresource::Documents,
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
    pub(crate) stamps: Stamps,
    pub used_tokens: UsedTokens,
    ready: AtomicBool,
    leaving: AtomicBool,
    pub(crate) limiter: Limiter,
    /// Room for lists that are made as a whole until their clients have taken them, in KiB.
    pub(crate) held: Arc<Semaphore>,
    /// For requests that need much CPU.
    pub(crate) cpu_slots: Arc<CpuSlots>,
    /// Responses that clients have not read yet.
    pub(crate) unread: Arc<Unread>,
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
    pub documents: nonresource::Documents,
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
            accept_unchecked_rules: false,
        }
    }
}

impl Api {
    pub fn new(parts: Config, stop: watch::Receiver<bool>) -> Self {
        let settings = parts.settings;
        let metrics = Metrics::new(parts.metrics);
        let limiter = Limiter::new(&settings, &metrics.registry);
        Self {
            store: parts.store,
            catalog: ArcSwap::from_pointee(Catalog::new(crate::catalog::builtin(), &[])),
            catalog_changed: watch::Sender::new(()),
            encoded: Encoded::default(),
            openapi: Cache::default(),
            discovery: discovery::Cache::default(),
            followers: Followers::default(),
            authentication: parts.authentication,
            authorizer: parts.authorizer,
            last_modes: LastModes::default(),
            admission: parts.admission,
            documents: parts.documents,
            held: Arc::new(Semaphore::new(settings.max_held_list_bytes >> 10)),
            cpu_slots: CpuSlots::new(),
            unread: Arc::new(Unread::new(settings.unread)),
            settings,
            stop,
            metrics,
            limiter,
            rbac: parts.rbac,
            issuer: parts.issuer,
            tracer: parts.tracer,
            recent: parts.recent,
            event_lease: tokio::sync::Mutex::default(),
            remembered: Remembered::default(),
            stamps: Stamps::default(),
            used_tokens: UsedTokens::default(),
            ready: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
        }
    }

    /// Puts a new catalog in the place of the old.
    pub fn set_catalog(&self, catalog: Catalog) {
        let new = Arc::new(catalog);
        let old = self.catalog.swap(new.clone());
        self.metrics.retire_missing(&old, &new);
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
            memory: Arc::new(ConnectionMemory::new(self.unread.clone())),
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
