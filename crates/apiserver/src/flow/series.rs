//! What is counted of priority and fairness, by upstream's names.

mod observed;

use flowcontrol::{Meter, Nanos, Rejection};
use telemetry::labels;
use telemetry::metrics::{
    CollectedHistograms, Counter, Desc, Family, Histogram, Registry, Stability, Unit,
};

use super::FlowControl;

pub(super) use observed::observe;

labels!(pub(crate) Flow { flow_schema, priority_level });
labels!(pub(crate) Rejected { flow_schema, priority_level, reason });
labels!(pub(crate) Waited { execute, flow_schema, priority_level });
labels!(pub(crate) Executed { flow_schema, priority_level, r#type });

const SECONDS: &[f64] = &[
    0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0,
];
const LENGTHS: &[f64] = &[0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
const WATCHES: &[f64] = &[0.0, 1.0, 10.0, 100.0, 1000.0, 10_000.0];
const SEATS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0];
/// Requests of a kind to the most that there may be.
const READ_VS_WRITE: &[f64] = &[
    0.0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0,
];

const fn alpha(name: &'static str, help: &'static str) -> Desc {
    Desc::new(name, Stability::Alpha, help)
}

const fn beta(name: &'static str, help: &'static str) -> Desc {
    Desc::new(name, Stability::Beta, help)
}

#[derive(Debug)]
pub(super) struct Families {
    rejected: Family<Rejected<'static>, Counter>,
    dispatched: Family<Flow<'static>, Counter>,
    queue_length: Family<Flow<'static>, Histogram>,
    waited: Family<Waited<'static>, Histogram>,
    executed: Family<Executed<'static>, Histogram>,
    watch_count: Family<Flow<'static>, Histogram>,
    seats: Family<Flow<'static>, Histogram>,
    pub(super) refused_bodies: Counter,
}

/// Handles of one schema and its level.
#[derive(Debug)]
pub(super) struct EntrySeries {
    pub(super) dispatched: Counter,
    pub(super) queue_length: Histogram,
    /// Until they were dispatched, or gave up.
    pub(super) waited: Histogram,
    /// Of those that did not get into a queue.
    pub(super) refused: Histogram,
    pub(super) executed: Histogram,
    pub(super) watched: Histogram,
    pub(super) watch_count: Histogram,
    pub(super) seats: Histogram,
}

impl Families {
    pub(super) fn new(registry: &Registry) -> Self {
        let refused_bodies = registry.counter::<()>(Desc::new(
            "pilothouse_request_bodies_refused_total",
            Stability::Unmarked,
            "Requests that were turned away because too much of their user's bodies was being received.",
        ));
        Self {
            rejected: registry.counter(beta(
                "apiserver_flowcontrol_rejected_requests_total",
                "Requests that got no seat, by reason: queue-full, concurrency-limit, time-out.",
            )),
            dispatched: registry.counter(beta(
                "apiserver_flowcontrol_dispatched_requests_total",
                "Requests that got a seat.",
            )),
            queue_length: registry.histogram(
                alpha(
                    "apiserver_flowcontrol_request_queue_length_after_enqueue",
                    "How long the queue of a request was when it joined it.",
                ),
                Unit::One,
                LENGTHS,
            ),
            waited: registry.histogram(
                beta(
                    "apiserver_flowcontrol_request_wait_duration_seconds",
                    "Seconds that a request waited in its queue.",
                ),
                Unit::Seconds,
                SECONDS,
            ),
            executed: registry.histogram(
                alpha(
                    "apiserver_flowcontrol_request_execution_seconds",
                    "Seconds that a request held its seat; of a watch, until the state was sent.",
                ),
                Unit::Seconds,
                SECONDS,
            ),
            watch_count: registry.histogram(
                alpha(
                    "apiserver_flowcontrol_watch_count_samples",
                    "Watches that see what a request changes.",
                ),
                Unit::One,
                WATCHES,
            ),
            seats: registry.histogram(
                alpha(
                    "apiserver_flowcontrol_work_estimated_seats",
                    "Seats that a request is estimated to take.",
                ),
                Unit::One,
                SEATS,
            ),
            refused_bodies: refused_bodies.with(&()),
        }
    }

    pub(super) fn of(&self, level: &str, schema: &str) -> EntrySeries {
        let flow = Flow {
            flow_schema: schema,
            priority_level: level,
        };
        let waited = |execute| {
            self.waited.with(&Waited {
                execute,
                flow_schema: schema,
                priority_level: level,
            })
        };
        let executed = |kind| {
            self.executed.with(&Executed {
                flow_schema: schema,
                priority_level: level,
                r#type: kind,
            })
        };
        EntrySeries {
            dispatched: self.dispatched.with(&flow),
            queue_length: self.queue_length.with(&flow),
            waited: waited("true"),
            refused: waited("false"),
            executed: executed("regular"),
            watched: executed("watch"),
            watch_count: self.watch_count.with(&flow),
            seats: self.seats.with(&flow),
        }
    }

    pub(super) fn rejected(&self, level: &str, schema: &str, reason: Rejection) {
        let rejected = self.rejected.with(&Rejected {
            flow_schema: schema,
            priority_level: level,
            reason: reason.as_str(),
        });
        rejected.inc();
    }
}

/// Requests that execute and that wait, by whether they change anything.
#[derive(Debug)]
pub(crate) struct Meters {
    executing: [Meter; 2],
    waiting: [Meter; 2],
}

impl Meters {
    pub(super) fn new(now: Nanos) -> Self {
        let meter = |_| Meter::new(READ_VS_WRITE, now);
        Self {
            executing: [0, 1].map(meter),
            waiting: [0, 1].map(meter),
        }
    }

    pub(crate) fn executing(&self, reads: bool) -> &Meter {
        &self.executing[usize::from(reads)]
    }

    pub(crate) fn waiting(&self, reads: bool) -> &Meter {
        &self.waiting[usize::from(reads)]
    }

    pub(super) fn set_limits(&self, waiting: f64, executing: f64, now: Nanos) {
        for reads in [false, true] {
            self.waiting(reads).set_denominator(waiting, now);
            self.executing(reads).set_denominator(executing, now);
        }
    }

    fn read(&self, now: Nanos) -> CollectedHistograms {
        let phases = [("executing", &self.executing), ("waiting", &self.waiting)];
        let kinds = ["mutating", "readOnly"];
        let each = phases.into_iter().flat_map(|(phase, meters)| {
            kinds.into_iter().zip(meters).map(move |(kind, meter)| {
                let (counts, sum) = meter.read(now);
                (vec![phase.to_owned(), kind.to_owned()], counts, sum)
            })
        });
        each.collect()
    }
}

impl FlowControl {
    pub(crate) fn count_refused_body(&self) {
        self.shared.families.refused_bodies.inc();
    }
}
