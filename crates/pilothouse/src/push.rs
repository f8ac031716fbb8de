//! Metrics and logs to the collector that traces go to, beside what can be read here.

use std::sync::Arc;
use std::time::Duration;

use apiserver::pipeline::Api;
use telemetry::export::{Exporter, Item, Queue, Report, Resource, Settings, Signal, Transport};
use telemetry::logs::{self, Entry};
use telemetry::metrics::{Batch, Collected, Desc, Registry, Stability, encode_otlp};

use crate::tracing::{self, LAST};

/// Points, or lines, that may wait: some rounds of a large server's.
const MOST: usize = 200_000;
/// How often it is looked whether there is another collector.
const FOLLOW: Duration = Duration::from_secs(2);

/// What is pushed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// How often, if at all.
    pub metrics: Option<Duration>,
    pub logs: bool,
}

/// What goes to a collector beside traces.
#[derive(Debug)]
pub struct Push {
    registry: Registry,
    metrics: Option<(Exporter<Batch>, Arc<Transport>)>,
    logs: Option<(Exporter<Entry>, Arc<Transport>)>,
}

impl Push {
    /// To wherever `shared` leads, from now on.
    pub(crate) fn start(
        wanted: Wanted,
        registry: &Registry,
        shared: &Arc<Transport>,
        resource: &Resource,
    ) -> std::io::Result<Self> {
        // Connections of their own: a slow signal does not hold up the others.
        let own = || Arc::new(Transport::new((*shared.target()).clone()));
        let metrics = wanted.metrics.map(|interval| {
            let (queue, transport) = (Arc::new(Queue::new(MOST)), own());
            observe(registry, "metrics", &queue);
            let beside = {
                let (registry, queue) = (registry.clone(), queue.clone());
                let follow = follow(shared.clone(), transport.clone());
                async move {
                    tokio::join!(follow, collect(registry, queue, interval));
                }
            };
            let exporter = Exporter::start(
                Signal::Metrics,
                queue,
                transport.clone(),
                resource.clone(),
                Settings::default(),
                beside,
            );
            exporter.map(|it| (it, transport))
        });
        let logs = wanted.logs.then(|| {
            let (queue, transport) = (Arc::new(Queue::new(MOST)), own());
            observe(registry, "logs", &queue);
            logs::export(Some(queue.clone()));
            let exporter = Exporter::start(
                Signal::Logs,
                queue,
                transport.clone(),
                resource.clone(),
                Settings::default(),
                follow(shared.clone(), transport.clone()),
            );
            exporter.map(|it| (it, transport))
        });
        Ok(Self {
            registry: registry.clone(),
            metrics: metrics.transpose()?,
            logs: logs.transpose()?,
        })
    }

    pub fn resolve_services(&self, api: &Arc<Api>) {
        let metrics = self.metrics.as_ref().map(|(_, it)| it);
        let logs = self.logs.as_ref().map(|(_, it)| it);
        for transport in metrics.into_iter().chain(logs) {
            transport.resolve_services(tracing::resolver(api));
        }
    }

    /// Sends the last numbers and lines, and tells what became of all, by signal.
    pub async fn stop(self) -> Vec<(&'static str, Report)> {
        // Waits for threads.
        let ended = tokio::task::spawn_blocking(move || {
            let metrics = self.metrics.map(|(exporter, _)| {
                gather(&self.registry, exporter.queue());
                ("metrics", exporter.shutdown(LAST))
            });
            let logs = self.logs.map(|(exporter, _)| {
                logs::export(None);
                ("logs", exporter.shutdown(LAST))
            });
            metrics.into_iter().chain(logs).collect()
        });
        ended.await.unwrap_or_default()
    }
}

async fn collect(registry: Registry, queue: Arc<Queue<Batch>>, interval: Duration) {
    loop {
        tokio::time::sleep(interval).await;
        gather(&registry, &queue);
    }
}

fn gather(registry: &Registry, queue: &Queue<Batch>) {
    for batch in encode_otlp(registry) {
        // The queue counts what it has no room for.
        let _ = queue.try_push(batch);
    }
}

/// A configuration that is read again may name another collector.
async fn follow(shared: Arc<Transport>, own: Arc<Transport>) {
    let mut last = shared.target();
    loop {
        tokio::time::sleep(FOLLOW).await;
        let now = shared.target();
        if !Arc::ptr_eq(&last, &now) {
            own.replace((*now).clone());
            last = now;
        }
    }
}

/// Shows what became of what was to be sent.
pub(crate) fn observe<T: Item>(registry: &Registry, signal: &'static str, queue: &Arc<Queue<T>>) {
    let queue = queue.clone();
    let (items, waiting) = match signal {
        "traces" => (
            "pilothouse_export_spans_total",
            "pilothouse_export_spans_waiting",
        ),
        "metrics" => (
            "pilothouse_export_points_total",
            "pilothouse_export_points_waiting",
        ),
        _ => (
            "pilothouse_export_lines_total",
            "pilothouse_export_lines_waiting",
        ),
    };
    let desc = |name| {
        let help = "What became of what was to be sent to the collector.";
        Desc::new(name, Stability::Unmarked, help)
    };
    let seen = queue.clone();
    registry.observe_counter(desc(items), &["outcome"], move || {
        let numbers = seen.numbers();
        let all = [
            ("dropped", numbers.dropped),
            ("exported", numbers.exported),
            ("failed", numbers.failed),
        ];
        all.map(|(outcome, count)| (vec![outcome.to_owned()], float(count)))
            .into()
    });
    registry.observe_gauge(desc(waiting), &[], move || -> Collected {
        vec![(Vec::new(), float(queue.numbers().waiting()))]
    });
}

#[expect(clippy::cast_precision_loss, reason = "it is shown as a float")]
fn float(value: u64) -> f64 {
    value as f64
}
