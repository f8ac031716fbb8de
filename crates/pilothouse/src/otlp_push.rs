//! Metrics and logs to the collector that traces go to, beside what can be read here.

use std::sync::Arc;
use std::time::Duration;

use apiserver::pipeline::Api;
use telemetry::export::{Exporter, Queue, Report, Resource, Settings, Signal, Transport};
use telemetry::logs;
use telemetry::metrics::{Collected, Desc, Registry, Stability, encode_otlp};

use crate::tracing;

/// Points, or lines, that may wait: some rounds of a large server's.
const MOST: usize = 200_000;

/// What is pushed, and which way.
#[derive(Clone, Debug, Default)]
pub struct PushOptions {
    /// With how often.
    pub metrics: Option<(Arc<Transport>, Duration)>,
    pub logs: Option<Arc<Transport>>,
}

/// What goes to a collector beside traces.
#[derive(Debug)]
pub struct OtlpPush {
    registry: Registry,
    metrics: Option<(Exporter, Arc<Transport>)>,
    logs: Option<(Exporter, Arc<Transport>)>,
}

impl OtlpPush {
    pub fn start(
        wanted: PushOptions,
        registry: &Registry,
        resource: &Resource,
    ) -> std::io::Result<Self> {
        let metrics = wanted.metrics.map(|(transport, interval)| {
            let queue = Arc::new(Queue::new(MOST));
            observe(registry, "metrics", &queue);
            let exporter = Exporter::start(
                Signal::Metrics,
                queue.clone(),
                transport.clone(),
                resource.clone(),
                Settings::default(),
                collect(registry.clone(), queue, interval),
            );
            exporter.map(|it| (it, transport))
        });
        let logs = wanted.logs.map(|transport| {
            let queue = Arc::new(Queue::new(MOST));
            observe(registry, "logs", &queue);
            logs::export(Some(queue.clone()));
            let exporter = Exporter::start(
                Signal::Logs,
                queue,
                transport.clone(),
                resource.clone(),
                Settings::default(),
                std::future::pending(),
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

    /// Sends the last metrics and log lines within the time, and reports what was sent and dropped, by signal.
    pub async fn stop(self, limit: Duration) -> Vec<(&'static str, Report)> {
        let Self {
            registry,
            metrics,
            logs,
        } = self;
        // Each waits for a thread, none for the other.
        let metrics = metrics.map(|(exporter, _)| {
            tokio::task::spawn_blocking(move || {
                gather(&registry, exporter.queue());
                ("metrics", exporter.shutdown(limit))
            })
        });
        let logs = logs.map(|(exporter, _)| {
            logs::export(None);
            tokio::task::spawn_blocking(move || ("logs", exporter.shutdown(limit)))
        });
        let mut all = Vec::new();
        for ended in metrics.into_iter().chain(logs) {
            all.extend(ended.await.ok());
        }
        all
    }
}

async fn collect(registry: Registry, queue: Arc<Queue>, interval: Duration) {
    loop {
        tokio::time::sleep(interval).await;
        gather(&registry, &queue);
    }
}

fn gather(registry: &Registry, queue: &Queue) {
    for batch in encode_otlp(registry) {
        // The queue counts what it has no room for.
        let _ = queue.try_push(batch);
    }
}

/// Shows what became of what was to be sent.
pub(crate) fn observe(registry: &Registry, signal: &'static str, queue: &Arc<Queue>) {
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
