//! Transactions of the store, whichever it is, under the names that upstream has for etcd.

use store::{Committed, Store};
use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Family, Histogram, Registry, Stability, Timer, Unit};

use super::write_errors::WriteErrors;
use crate::catalog::Resource;
use crate::instruments::LATENCIES;
use crate::instruments::row::Operation;

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

impl Storage {
    /// A change of an object is about to be made.
    pub(crate) fn begin<'a>(&'a self, operation: Operation, resource: &'a Resource) -> Counted<'a> {
        let asked = Asked {
            group: &resource.group,
            operation: operation.as_str(),
            resource: &resource.plural,
        };
        let series = resource.series.storage[operation as usize]
            .get_or_init(|| (self.duration.with(&asked), self.total.with(&asked)));
        Counted {
            storage: self,
            asked,
            series,
            started: Timer::start(),
        }
    }
}

/// A change under way.
pub(crate) struct Counted<'a> {
    storage: &'a Storage,
    asked: Asked<'a>,
    series: &'a (Histogram, Counter),
    started: Timer,
}

impl Counted<'_> {
    pub(crate) fn end(self, done: &Result<Committed, store::Error>, store: &Store) {
        let (duration, total) = self.series;
        duration.observe_value(self.started.nanos());
        total.inc();
        match done {
            Ok(_) => self.storage.write_errors.succeeded(store),
            Err(store::Error::Conflict { .. }) => {}
            Err(error) => {
                self.storage.errors.with(&self.asked).inc();
                self.storage.write_errors.failed(error);
            }
        }
    }
}
