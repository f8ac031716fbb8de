//! What is asked of the store, under the names that upstream has for etcd: whatever the store is.

use store::{Committed, Txn};
use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Family, Histogram, Registry, Stability, Timer, Unit};

use super::write_errors::WriteErrors;
use crate::catalog::Resource;
use crate::instruments::LATENCIES;
use crate::instruments::row::Operation;
use crate::state::Api;

labels!(pub(crate) Asked { group, operation, resource });

#[derive(Debug)]
pub(crate) struct Storage {
    duration: Family<Asked<'static>, Histogram>,
    total: Family<Asked<'static>, Counter>,
    errors: Family<Asked<'static>, Counter>,
    write_errors: WriteErrors,
}

impl Storage {
    pub(super) fn new(registry: &Registry) -> Self {
        let alpha = |name, help| Desc::new(name, Stability::Alpha, help).cap(5000);
        Self {
            duration: registry.histogram(
                alpha(
                    "etcd_request_duration_seconds",
                    "Seconds until the store, whichever it is, had made a change durable.",
                ),
                Unit::Seconds,
                LATENCIES,
            ),
            total: registry.counter(alpha(
                "etcd_requests_total",
                "Changes that the store, whichever it is, was asked for.",
            )),
            errors: registry.counter(alpha(
                "etcd_request_errors_total",
                "Changes that the store failed to make; that somebody else was faster is no failure.",
            )),
            write_errors: WriteErrors::new(registry),
        }
    }
}

impl Api {
    /// Has the store make a change to an object, and counts it.
    pub(crate) async fn commit(
        &self,
        operation: Operation,
        resource: &Resource,
        txn: Txn,
    ) -> Result<Committed, store::Error> {
        let storage = &self.metrics.storage;
        let asked = Asked {
            group: &resource.group,
            operation: operation.as_str(),
            resource: &resource.plural,
        };
        let (duration, total) = resource.series.storage[operation as usize]
            .get_or_init(|| (storage.duration.with(&asked), storage.total.with(&asked)));
        let started = Timer::start();
        let done = self.store.txn(txn).await;
        duration.observe_value(started.nanos());
        total.inc();
        match &done {
            Ok(_) => storage.write_errors.succeeded(&self.store),
            Err(store::Error::Conflict { .. }) => {}
            Err(error) => {
                storage.errors.with(&asked).inc();
                storage.write_errors.failed(error);
            }
        }
        done
    }
}
