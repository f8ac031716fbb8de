//! Metrics by the names of kube-apiserver: alerts and dashboards made for it work unchanged.

mod access;
mod body;
mod cel;
mod decisions;
mod desc;
pub(crate) mod features;
mod health;
mod objects;
mod queues;
mod requests;
mod storage;
mod watches;
mod write_errors;

use std::collections::HashSet;

use telemetry::metrics::{Counter, Desc, Gauge, Registry, Stability, register_process};

pub(crate) use access::{Access, Authenticated};
pub(crate) use cel::Cel;
pub use decisions::Decisions;
pub(crate) use desc::own_metric;
pub use features::FeatureSeries;
pub use queues::{QueueSeries, Queues};
pub(crate) use requests::RequestStats;

use crate::catalog::Catalog;
use crate::instruments::inflight::Inflight;
use health::Health;
use objects::Objects;
use queues::Name;
use requests::Requests;
use storage::Storage;
use watches::Watches;

/// All instruments of an API, and the registry that they and others' are in.
#[derive(Debug)]
pub struct Metrics {
    pub registry: Registry,
    /// What `/metrics/slis` shows: health checks, which upstream keeps apart.
    pub slis: Registry,
    pub(crate) requests: Requests,
    pub(crate) access: Access,
    pub(crate) storage: Storage,
    pub(crate) objects: Objects,
    pub(crate) watches: Watches,
    pub(crate) inflight: Inflight,
    pub(crate) cel: Cel,
    pub(crate) health: Health,
    pub(crate) handshake_errors: Counter,
    /// Of controllers.
    pub queues: Queues,
    pub(crate) features: FeatureSeries,
}

impl Metrics {
    pub fn new(registry: Registry) -> Self {
        register_process(&registry);
        let slis = Registry::default();
        let handshake_errors = registry.counter::<()>(Desc::new(
            "apiserver_tls_handshake_errors_total",
            Stability::Alpha,
            "Connections that ended before TLS was agreed on.",
        ));
        Self {
            requests: Requests::new(&registry),
            access: Access::new(&registry),
            storage: Storage::new(&registry),
            objects: Objects::new(&registry),
            watches: Watches::new(&registry),
            inflight: Inflight::default(),
            cel: Cel::new(&registry),
            health: Health::new(&slis, &registry),
            slis,
            handshake_errors: handshake_errors.with(&()),
            queues: Queues::new(&registry),
            features: FeatureSeries::new(&registry),
            registry,
        }
    }
}

impl Metrics {
    /// Series of custom resources that are served no more go soon.
    pub(crate) fn retire_missing(&self, old: &Catalog, new: &Catalog) {
        let of = |catalog: &Catalog| -> HashSet<(String, String)> {
            let custom = catalog.preferred().filter(|it| it.custom.is_some());
            let names = custom.map(|it| (it.group.to_string(), it.plural.to_string()));
            names.collect()
        };
        for (group, resource) in of(old).difference(&of(new)) {
            self.registry
                .retire(&[("group", group), ("resource", resource)]);
            let name = format!("{resource}.{group}");
            self.registry.retire(&[("crd_name", &name)]);
        }
    }

    /// The gauge of leader election for one Lease. To be called once.
    pub fn leads(&self, lease: &str) -> Gauge {
        let leads = self.registry.gauge::<Name<'_>>(Desc::new(
            "leader_election_master_status",
            Stability::Alpha,
            "Whether this server holds a Lease: 1 if it does.",
        ));
        leads.with(&Name { name: lease })
    }
}
