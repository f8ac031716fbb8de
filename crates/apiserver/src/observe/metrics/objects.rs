//! Hot path. How many objects lists read and return, and the sizes of request bodies.

use std::sync::Arc;

use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Family, Histogram, Registry, Stability, Unit};

use super::desc::Kind;
use crate::catalog::Resource;
use crate::handler::context::RequestContext;
use crate::instruments::row::{Listing, Lists};
use crate::request::Verb;

labels!(pub(crate) Indexed { group, index, resource });
labels!(pub(crate) Received { group, resource, verb });

/// Every 100,000 bytes, up to what no body may exceed.
const BODIES: &[f64] = &[
    5e4, 1.5e5, 2.5e5, 3.5e5, 4.5e5, 5.5e5, 6.5e5, 7.5e5, 8.5e5, 9.5e5, 1.05e6, 1.15e6, 1.25e6,
    1.35e6, 1.45e6, 1.55e6, 1.65e6, 1.75e6, 1.85e6, 1.95e6, 2.05e6, 2.15e6, 2.25e6, 2.35e6, 2.45e6,
    2.55e6, 2.65e6, 2.75e6, 2.85e6, 2.95e6, 3.05e6,
];

#[derive(Debug)]
pub(crate) struct Objects {
    lists: Family<Indexed<'static>, Counter>,
    fetched: Family<Indexed<'static>, Counter>,
    returned: Family<Kind<'static>, Counter>,
    bodies: Family<Received<'static>, Histogram>,
}

impl Objects {
    pub(super) fn new(registry: &Registry) -> Self {
        let alpha = |name, help| Desc::new(name, Stability::Alpha, help).cap(5000);
        let cached = |name, help| alpha(name, help).deprecated("1.37.0");
        Self {
            lists: registry.counter(cached(
                "apiserver_cache_list_total",
                "Lists that were answered from memory, as all are.",
            )),
            fetched: registry.counter(cached(
                "apiserver_cache_list_fetched_objects_total",
                "Objects that lists looked at.",
            )),
            returned: registry.counter(cached(
                "apiserver_cache_list_returned_objects_total",
                "Objects that lists answered with.",
            )),
            bodies: registry.histogram(
                alpha(
                    "apiserver_request_body_size_bytes",
                    "Bytes in the bodies of requests.",
                ),
                Unit::One,
                BODIES,
            ),
        }
    }
}

impl Objects {
    pub(crate) fn listing(&self, resource: &Resource) -> Listing {
        let lists = resource.series.objects.lists.get_or_init(|| {
            let (group, resource) = (&*resource.group, &*resource.plural);
            // No list is found by an index.
            let indexed = Indexed {
                group,
                index: "",
                resource,
            };
            Arc::new(Lists {
                total: self.lists.with(&indexed),
                fetched: self.fetched.with(&indexed),
                returned: self.returned.with(&Kind { group, resource }),
            })
        });
        Listing::new(lists.clone())
    }

    /// A body was read whole.
    pub(crate) fn body_read(&self, ctx: &RequestContext<'_>, size: usize) {
        let (at, verb) = match ctx.info.verb {
            Verb::Create => (0, "create"),
            Verb::Update => (1, "update"),
            Verb::Patch => (2, "patch"),
            Verb::Delete => (3, "delete"),
            Verb::DeleteCollection => (4, "delete_collection"),
            _ => return,
        };
        let row = &ctx.resource;
        let histogram = row.series.objects.bodies[at].get_or_init(|| {
            self.bodies.with(&Received {
                group: &row.group,
                resource: &row.plural,
                verb,
            })
        });
        histogram.observe_value(size as u64);
    }
}
