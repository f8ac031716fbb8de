//! Hot path. The series that one kind of request is counted in.

use std::sync::OnceLock;

use http::StatusCode;
use telemetry::metrics::{Counter, Desc, Family, Gauge, Histogram, Registry, Stability, Unit};
use telemetry::{Ids, labels};

use super::LATENCIES;
use super::labels::{Reported, ReportedVerb, Scope};

labels!(pub(crate) Total {
    code, component, dry_run, group, resource, scope, subresource, verb, version
});
labels!(pub(crate) Taken {
    component, dry_run, group, resource, scope, subresource, verb, version
});
labels!(pub(crate) Which {
    component, group, resource, scope, subresource, verb, version
});
labels!(pub(crate) Terminated {
    code, component, group, resource, scope, subresource, verb, version
});
labels!(pub(crate) Aborted { group, resource, scope, subresource, verb, version });
labels!(pub(crate) Own { group, resource, subresource, verb });
labels!(pub(crate) Deprecated { group, removed_release, resource, subresource, version });

/// A big cluster with many custom resources has thousands.
const CAP: usize = 10_000;

/// Without the first, which says nothing about an objective of a second and more.
const SLI: &[f64] = &[
    0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0,
    30.0, 45.0, 60.0,
];
const SIZES: &[f64] = &[1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

#[derive(Clone, Debug)]
pub(crate) struct Families {
    total: Family<Total<'static>, Counter>,
    duration: Family<Taken<'static>, Histogram>,
    sli: Family<Which<'static>, Histogram>,
    sizes: Family<Which<'static>, Histogram>,
    long: Family<Which<'static>, Gauge>,
    own: Family<Own<'static>, Counter>,
    terminations: Family<Terminated<'static>, Counter>,
    aborts: Family<Aborted<'static>, Counter>,
}

pub(crate) fn deprecated(registry: &Registry) -> Family<Deprecated<'static>, Gauge> {
    registry.gauge(Desc::new(
        "apiserver_requested_deprecated_apis",
        Stability::Stable,
        "Always 1; APIs on their way out that somebody has used since the start.",
    ))
}

impl Families {
    pub(crate) fn new(registry: &Registry) -> Self {
        Self {
            total: registry.counter(
                Desc::new(
                    "apiserver_request_total",
                    Stability::Stable,
                    "Requests that were answered, by what was asked for and the code of the answer.",
                )
                .cap(CAP),
            ),
            duration: registry.histogram(
                Desc::new(
                    "apiserver_request_duration_seconds",
                    Stability::Stable,
                    "Seconds from a request's arrival to the end of its answer; of a watch, how long it lasted.",
                )
                .cap(CAP),
                Unit::Seconds,
                LATENCIES,
            ),
            sli: registry.histogram(
                Desc::new(
                    "apiserver_request_sli_duration_seconds",
                    Stability::Alpha,
                    "The same without the time that admission webhooks took and without dry runs: what the server itself answers for.",
                )
                .cap(CAP),
                Unit::Seconds,
                SLI,
            ),
            sizes: registry.histogram(
                Desc::new(
                    "apiserver_response_sizes",
                    Stability::Stable,
                    "Bytes in the answers to reads of objects and lists, as they are sent.",
                )
                .cap(CAP),
                Unit::One,
                SIZES,
            ),
            long: registry.gauge(
                Desc::new(
                    "apiserver_longrunning_requests",
                    Stability::Stable,
                    "Watches and other long answers under way.",
                )
                .cap(CAP),
            ),
            own: registry.counter(Desc::new(
                "apiserver_selfrequest_total",
                Stability::Alpha,
                "Requests that this server made to itself.",
            )),
            terminations: registry.counter(Desc::new(
                "apiserver_request_terminations_total",
                Stability::Alpha,
                "Requests that the server ended in self-defence: too many at a time, or too slow.",
            )),
            aborts: registry.counter(Desc::new(
                "apiserver_request_aborts_total",
                Stability::Alpha,
                "Responses that the server broke off because they were not read in time.",
            )),
        }
    }

    /// Counts a request that the server ended in self-defence.
    pub(crate) fn terminated(&self, reported: &Reported<'_>, code: StatusCode) {
        let which = which(reported);
        let terminated = self.terminations.with(&Terminated {
            code: code.as_str(),
            component: which.component,
            group: which.group,
            resource: which.resource,
            scope: which.scope,
            subresource: which.subresource,
            verb: which.verb,
            version: which.version,
        });
        terminated.inc();
    }

    pub(crate) fn total(&self, reported: &Reported<'_>, code: StatusCode) -> Counter {
        let which = which(reported);
        self.total.with(&Total {
            code: code.as_str(),
            component: which.component,
            dry_run: reported.dry_run,
            group: which.group,
            resource: which.resource,
            scope: which.scope,
            subresource: which.subresource,
            verb: which.verb,
            version: which.version,
        })
    }

    pub(crate) fn of(&self, reported: &Reported<'_>) -> Series {
        let which = which(reported);
        let reads = matches!(reported.verb, ReportedVerb::Get | ReportedVerb::List);
        Series {
            duration: self.duration.with(&Taken {
                component: which.component,
                dry_run: reported.dry_run,
                group: which.group,
                resource: which.resource,
                scope: which.scope,
                subresource: which.subresource,
                verb: which.verb,
                version: which.version,
            }),
            sli: reported.dry_run.is_empty().then(|| self.sli.with(&which)),
            sizes: reads.then(|| self.sizes.with(&which)),
            codes: Default::default(),
            families: self.clone(),
            labels: Labels {
                verb: reported.verb,
                scope: reported.scope,
                dry_run: reported.dry_run,
                component: reported.component,
                group: reported.group.into(),
                version: reported.version.into(),
                resource: reported.resource.into(),
                subresource: reported.subresource.into(),
            },
        }
    }
}

fn which<'a>(reported: &Reported<'a>) -> Which<'a> {
    Which {
        component: reported.component,
        group: reported.group,
        resource: reported.resource,
        scope: reported.scope.as_str(),
        subresource: reported.subresource,
        verb: reported.verb.as_str(),
        version: reported.version,
    }
}

/// Held handles of one kind of request.
#[derive(Debug)]
pub(crate) struct Series {
    duration: Histogram,
    sli: Option<Histogram>,
    /// Of reads.
    sizes: Option<Histogram>,
    /// Of each code that is common.
    codes: [OnceLock<Counter>; COMMON.len()],
    families: Families,
    labels: Labels,
}

const COMMON: [u16; 8] = [200, 201, 404, 409, 422, 403, 202, 410];

/// For what is not held.
#[derive(Debug)]
struct Labels {
    verb: ReportedVerb,
    scope: Scope,
    dry_run: &'static str,
    component: &'static str,
    group: Box<str>,
    version: Box<str>,
    resource: Box<str>,
    subresource: Box<str>,
}

impl Labels {
    fn reported(&self) -> Reported<'_> {
        Reported {
            verb: self.verb,
            scope: self.scope,
            dry_run: self.dry_run,
            group: &self.group,
            version: &self.version,
            resource: &self.resource,
            subresource: &self.subresource,
            component: self.component,
        }
    }
}

impl Series {
    /// Times are in nanoseconds.
    pub(crate) fn record(
        &self,
        code: StatusCode,
        took: u64,
        waited: u64,
        size: usize,
        ids: Option<Ids>,
    ) {
        self.count(code);
        self.duration.observe_traced(took, ids);
        if let Some(sli) = &self.sli {
            sli.observe_traced(took.saturating_sub(waited), ids);
        }
        if let Some(sizes) = &self.sizes {
            sizes.observe_value(size as u64);
        }
    }

    pub(crate) fn count(&self, code: StatusCode) {
        match COMMON.iter().position(|it| *it == code.as_u16()) {
            Some(at) => self.codes[at].get_or_init(|| self.counter(code)).inc(),
            None => self.counter(code).inc(),
        }
    }

    fn counter(&self, code: StatusCode) -> Counter {
        self.families.total(&self.labels.reported(), code)
    }

    pub(crate) fn count_own(&self) {
        let which = which(&self.labels.reported());
        let own = self.families.own.with(&Own {
            group: which.group,
            resource: which.resource,
            subresource: which.subresource,
            verb: which.verb,
        });
        own.inc();
    }

    /// Counts a response that was broken off at its deadline.
    pub(crate) fn aborted(&self) {
        let reported = self.labels.reported();
        let code = StatusCode::GATEWAY_TIMEOUT;
        self.families.terminated(&reported, code);
        let which = which(&reported);
        let aborted = self.families.aborts.with(&Aborted {
            group: which.group,
            resource: which.resource,
            scope: which.scope,
            subresource: which.subresource,
            verb: which.verb,
            version: which.version,
        });
        aborted.inc();
    }

    /// Of watches and streams under way.
    pub(crate) fn long(&self) -> Option<Gauge> {
        let streams = matches!(
            self.labels.verb,
            ReportedVerb::Watch | ReportedVerb::Connect
        );
        streams.then(|| self.families.long.with(&which(&self.labels.reported())))
    }
}
