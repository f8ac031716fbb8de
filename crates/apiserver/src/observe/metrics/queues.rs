//! The queues of controllers, as upstream's `workqueue` metrics show them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use telemetry::labels;
use telemetry::metrics::{
    Collected, Counter, Desc, Family, Gauge, Histogram, Registry, Stability, Unit,
};

labels!(pub(crate) Name { name });

const BOUNDS: &[f64] = &[
    1e-08,
    1e-07,
    1e-06,
    9.999_999_999_999_999e-6,
    9.999_999_999_999_999e-5,
    0.001,
    0.01,
    0.1,
    1.0,
    10.0,
];

/// Gives each queue its series.
#[derive(Debug)]
pub struct Queues {
    adds: Family<Name<'static>, Counter>,
    retries: Family<Name<'static>, Counter>,
    depth: Family<Name<'static>, Gauge>,
    waited: Family<Name<'static>, Histogram>,
    worked: Family<Name<'static>, Histogram>,
    all: Arc<Named>,
}

/// When each of those began that are worked on now.
type Running = Mutex<Vec<Instant>>;

/// All queues by their names.
type Named = Mutex<Vec<(String, Weak<Running>)>>;

/// The series of one queue.
#[derive(Debug)]
pub struct QueueSeries {
    adds: Counter,
    retries: Counter,
    depth: Gauge,
    waited: Histogram,
    worked: Histogram,
    running: Arc<Running>,
}

impl Queues {
    pub fn new(registry: &Registry) -> Self {
        let beta = |name, help| Desc::new(name, Stability::Beta, help);
        let all: Arc<Named> = Arc::default();
        let asked = |read: fn(&[f64]) -> f64| {
            let all = all.clone();
            move || observed(&all, read)
        };
        registry.observe_gauge(
            beta(
                "workqueue_unfinished_work_seconds",
                "Seconds spent so far on all keys that are worked on: what grows for long is stuck.",
            ),
            &["name"],
            asked(|all| all.iter().sum()),
        );
        registry.observe_gauge(
            beta(
                "workqueue_longest_running_processor_seconds",
                "Seconds spent so far on the key that is worked on for longest.",
            ),
            &["name"],
            asked(|all| all.iter().copied().fold(0.0, f64::max)),
        );
        Self {
            adds: registry.counter(beta(
                "workqueue_adds_total",
                "Keys that were added to a controller's queue.",
            )),
            retries: registry.counter(beta(
                "workqueue_retries_total",
                "Keys that are to be tried again.",
            )),
            depth: registry.gauge(beta(
                "workqueue_depth",
                "Keys that wait in a controller's queue.",
            )),
            waited: registry.histogram(
                beta(
                    "workqueue_queue_duration_seconds",
                    "Seconds that keys waited in a controller's queue.",
                ),
                Unit::Seconds,
                BOUNDS,
            ),
            worked: registry.histogram(
                beta(
                    "workqueue_work_duration_seconds",
                    "Seconds that a controller worked on a key.",
                ),
                Unit::Seconds,
                BOUNDS,
            ),
            all,
        }
    }

    /// For the queue of this name.
    pub fn of(&self, name: &str) -> QueueSeries {
        let label = Name { name };
        let running = Arc::new(Running::default());
        let mut all = lock(&self.all);
        all.retain(|(_, it)| it.strong_count() > 0);
        all.push((name.to_owned(), Arc::downgrade(&running)));
        QueueSeries {
            adds: self.adds.with(&label),
            retries: self.retries.with(&label),
            depth: self.depth.with(&label),
            waited: self.waited.with(&label),
            worked: self.worked.with(&label),
            running,
        }
    }
}

impl QueueSeries {
    pub fn added(&self, depth: usize) {
        self.adds.inc();
        self.set_depth(depth);
    }

    pub fn retried(&self) {
        self.retries.inc();
    }

    pub fn set_depth(&self, depth: usize) {
        self.depth.set(i64::try_from(depth).unwrap_or(i64::MAX));
    }

    /// Work begins on a key that was added at this moment.
    pub fn begun(&self, added: Instant) -> Instant {
        let now = Instant::now();
        self.waited.observe(now.duration_since(added));
        lock(&self.running).push(now);
        now
    }

    pub fn ended(&self, begun: Instant) {
        self.worked.observe(begun.elapsed());
        let mut running = lock(&self.running);
        if let Some(at) = running.iter().position(|it| *it == begun) {
            running.swap_remove(at);
        }
    }
}

fn observed(all: &Named, read: fn(&[f64]) -> f64) -> Collected {
    let all = lock(all);
    let all = all.iter().filter_map(|(name, running)| {
        let running = running.upgrade()?;
        let since: Vec<f64> = lock(&running)
            .iter()
            .map(|it| it.elapsed().as_secs_f64())
            .collect();
        Some((vec![name.clone()], read(&since)))
    });
    all.collect()
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
