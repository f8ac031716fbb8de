//! Hot path. What watches send.

use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Family, Histogram, Registry, Stability, Unit};

use super::desc::Kind;
use crate::catalog::Resource;
use crate::instruments::row::WatchSeries;

labels!(pub(crate) Served { group, resource, version });
labels!(pub(crate) Scoped { group, resource, scope, version });

const SIZES: &[f64] = &[
    1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0, 131_072.0,
];
const INITIAL: &[f64] = &[
    0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0,
    30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 300.0,
];

#[derive(Debug)]
pub(crate) struct Watches {
    total: Family<Served<'static>, Counter>,
    sizes: Family<Served<'static>, Histogram>,
    initial: Family<Kind<'static>, Counter>,
    list: Family<Scoped<'static>, Histogram>,
    terminated: Family<Kind<'static>, Counter>,
}

impl Watches {
    pub(super) fn new(registry: &Registry) -> Self {
        let beta = |name, help| Desc::new(name, Stability::Beta, help).cap(5000);
        let alpha = |name, help| Desc::new(name, Stability::Alpha, help).cap(5000);
        Self {
            total: registry.counter(beta(
                "apiserver_watch_events_total",
                "Events that were sent to clients that watch.",
            )),
            sizes: registry.histogram(
                beta(
                    "apiserver_watch_events_sizes",
                    "Bytes of the events that were sent to clients that watch.",
                ),
                Unit::One,
                SIZES,
            ),
            initial: registry.counter(alpha(
                "apiserver_init_events_total",
                "Objects that were sent as the beginning of watches.",
            )),
            list: registry.histogram(
                beta(
                    "apiserver_watch_list_duration_seconds",
                    "Seconds until a watch that asked for the state first had sent all of it.",
                ),
                Unit::Seconds,
                INITIAL,
            ),
            terminated: registry.counter(alpha(
                "apiserver_terminated_watchers_total",
                "Watches that ended because their client was too slow.",
            )),
        }
    }

    /// The handles of a row, made at its first watch.
    pub(crate) fn of<'a>(&self, resource: &'a Resource) -> &'a WatchSeries {
        resource.series.watches.get_or_init(|| {
            let version = Served {
                group: &resource.group,
                resource: &resource.plural,
                version: &resource.version,
            };
            WatchSeries {
                total: self.total.with(&version),
                sizes: self.sizes.with(&version),
                initial: self.initial.with(&kind(resource)),
            }
        })
    }

    pub(crate) fn too_slow(&self, resource: &Resource) {
        self.terminated.with(&kind(resource)).inc();
    }

    /// `took` is in nanoseconds.
    pub(crate) fn state_sent(&self, resource: &Resource, scope: &str, took: u64) {
        let list = self.list.with(&Scoped {
            group: &resource.group,
            resource: &resource.plural,
            scope,
            version: &resource.version,
        });
        list.observe_value(took);
    }
}

fn kind(resource: &Resource) -> Kind<'_> {
    Kind {
        group: &resource.group,
        resource: &resource.plural,
    }
}
