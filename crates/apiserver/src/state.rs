//! The state of one server: [`Api`], its settings, access to the store, informers and leases.
//!
//! **Belongs here:** what lives as long as the server, and access to the store that is not one verb's own.
//! **May use:** `access`, `catalog`, `discovery`, `flow`, `handler`, `instruments`, `observe`, `runtime`, `transport`.

mod authorize;
pub mod compact;
pub(crate) mod failure;
pub mod features;
pub mod gauges;
pub mod informers;
pub(crate) mod kinds;
pub(crate) mod lookup;
pub mod master_leases;
mod parts;
pub(crate) mod service_ranges;
mod settings;
mod stamps;
mod storage;

use std::sync::Arc;
use std::time::{Duration, Instant};

use admission::Chain;
use auth::impersonation::LastModes;
use auth::serviceaccount::Issuer;
use auth::{Authorizer, Rbac};
use store::{LeaseId, Store};
use telemetry::recent::Recent;
use telemetry::trace::Tracer;
use tokio::sync::{Semaphore, watch};

use crate::access::authenticate::Authentication;
use crate::access::used_tokens::UsedTokens;
use crate::catalog::{Catalog, ServedCatalog};
use crate::discovery;
use crate::discovery::documents::Documents;
use crate::discovery::openapi::{self, Builds};
use crate::flow::limiter::Limiter;
use crate::handler::encoded::Encoded;
use crate::observe::metrics::{self, Metrics};
use crate::runtime::cpu_slots::CpuSlots;
use crate::runtime::lifecycle::Lifecycle;
use crate::runtime::random;
use crate::transport::caller::{Caller, Peer};
use crate::transport::unread::{ConnectionMemory, Unread};
use features::FeatureAdmission;
use informers::Informers;
use lookup::Remembered;
use stamps::Stamps;

pub use settings::{Config, Settings};

/// The API over one store.
#[derive(Debug)]
pub struct Api {
    store: Store,
    catalog: Arc<ServedCatalog>,
    encoded: Encoded,
    openapi: Arc<openapi::Cache>,
    discovery: discovery::Cache,
    informers: Informers,
    authentication: Authentication,
    authorizer: Arc<dyn Authorizer>,
    last_modes: LastModes,
    admission: Chain,
    documents: Documents,
    settings: Settings,
    lifecycle: Arc<Lifecycle>,
    metrics: Metrics,
    rbac: Arc<Rbac>,
    /// Signs service account tokens.
    issuer: Option<Issuer>,
    tracer: Arc<Tracer>,
    /// Traces that can be read here, if any are kept.
    recent: Option<Arc<Recent>>,
    event_lease: tokio::sync::Mutex<Option<(LeaseId, Instant)>>,
    remembered: Remembered,
    stamps: Stamps,
    used_tokens: UsedTokens,
    limiter: Limiter,
    /// Room for lists that are made as a whole until their clients have taken them, in KiB.
    held: Arc<Semaphore>,
    /// For requests that need much CPU.
    cpu_slots: Arc<CpuSlots>,
    /// Responses that clients have not read yet.
    unread: Arc<Unread>,
    /// Which features new uses are admitted of.
    features: Arc<FeatureAdmission>,
}

impl Api {
    pub fn new(parts: Config, stop: watch::Receiver<bool>) -> Self {
        let settings = parts.settings;
        let metrics = Metrics::new(parts.metrics);
        let (own, dynamic) = (&settings.features, &settings.dynamic_features);
        let features = Arc::new(FeatureAdmission::new(own.clone(), dynamic.clone()));
        let in_effect = features.clone();
        metrics::features::register(&metrics.registry, own, move || {
            Arc::new(in_effect.effective())
        });
        let limiter = Limiter::new(&settings.limits(), &metrics.registry);
        let catalog = Catalog::new(crate::catalog::builtin(&settings.features), &[]);
        let catalog = Arc::new(ServedCatalog::new(catalog));
        let lifecycle = Arc::new(Lifecycle::new(stop));
        let openapi = openapi::Cache::new(catalog.clone(), lifecycle.clone());
        Self {
            store: parts.store,
            catalog,
            encoded: Encoded::default(),
            openapi: Arc::new(openapi),
            discovery: discovery::Cache::default(),
            informers: Informers::default(),
            authentication: parts.authentication,
            authorizer: parts.authorizer,
            last_modes: LastModes::default(),
            admission: parts.admission,
            documents: parts.documents,
            held: Arc::new(Semaphore::new(settings.max_held_list_bytes >> 10)),
            cpu_slots: CpuSlots::new(),
            unread: Arc::new(Unread::new(settings.unread)),
            features,
            settings,
            lifecycle,
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
        }
    }

    /// Puts a new catalog in the place of the old.
    pub fn set_catalog(&self, catalog: Catalog) {
        let new = Arc::new(catalog);
        let old = self.catalog.replace(new.clone());
        self.metrics.retire_missing(&old, &new);
        self.catalog.announce();
    }

    /// Tells of each new catalog.
    pub fn catalog_changes(&self) -> watch::Receiver<()> {
        self.catalog.changes()
    }

    /// All that must be there before the first client is served is there.
    pub fn set_ready(&self) {
        self.lifecycle.set_ready();
    }

    pub fn is_ready(&self) -> bool {
        self.lifecycle.is_ready()
    }

    /// Says by `/readyz` that the server is about to stop, and goes on.
    pub fn set_leaving(&self) {
        self.lifecycle.set_leaving();
    }

    pub fn is_leaving(&self) -> bool {
        self.lifecycle.is_leaving()
    }

    /// What is known of a connection before its first request.
    pub fn caller(&self, peer: Peer) -> Caller {
        let memory = Arc::new(ConnectionMemory::new(self.unread.clone()));
        self.authentication.caller(peer, memory)
    }

    /// Returns when the server is told to stop.
    pub async fn stopping(&self) {
        self.lifecycle.stopping().await;
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

    /// How often `OpenAPI` documents were made.
    pub fn openapi_builds(&self) -> Builds {
        self.openapi.builds()
    }
}
