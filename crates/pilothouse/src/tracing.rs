//! Traces from the recorder to a collector, as a configuration file has it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use apiserver::pipeline::Api;
use egress::Selector;
use telemetry::config::{self, Environment, Follow};
use telemetry::export::{Exporter, Queue, Report, Resolve, Resource, Settings, Signal, Transport};
use telemetry::metrics::Registry;
use telemetry::recent::{Keeper, Recent, Source};
use telemetry::trace::{Sampling, Tracer};

use crate::otlp_push;

/// Tracing at work.
#[derive(Debug)]
pub struct Tracing {
    /// What the server records with.
    pub tracer: Arc<Tracer>,
    fate: FinishedTraces,
    /// To the collector, if there is one.
    pub transports: Option<Transports>,
}

/// Where finished traces go.
#[derive(Debug)]
enum FinishedTraces {
    Sent(Exporter),
    /// They are kept first, and then may be sent.
    Kept(Arc<Recent>, Keeper, Option<Exporter>),
}

/// The ways to a collector, each with a connection of its own: a slow signal does not hold up the others.
#[derive(Clone, Debug)]
pub struct Transports {
    pub traces: Arc<Transport>,
    pub metrics: Arc<Transport>,
    pub logs: Arc<Transport>,
}

impl Transports {
    fn new(to: config::Tracing) -> Self {
        let transport = |target| Arc::new(Transport::new(target));
        Self {
            traces: transport(to.target),
            metrics: transport(to.metrics),
            logs: transport(to.logs),
        }
    }

    fn replace(&self, to: config::Tracing) {
        self.traces.replace(to.target);
        self.metrics.replace(to.metrics);
        self.logs.replace(to.logs);
    }
}

impl Tracing {
    /// Reads the configuration, and follows it from then on. Does not wait for the collector, which may come later or never.
    /// What is sent is kept in `recent`, too.
    pub fn start(
        file: &Path,
        environment: Environment,
        egress: Selector,
        instance: &str,
        recent: Option<&Arc<Recent>>,
    ) -> anyhow::Result<Self> {
        let way = ExportOptions::new(&environment, instance)?;
        let (follow, configured) = Follow::open(file, environment, egress)?;
        Self::run(configured, way, recent, |tracer, transports| {
            follow.run(move |changed| {
                sample(&tracer, changed.sampling_rate_per_million);
                transports.replace(changed);
            })
        })
    }

    /// To a collector that no file names.
    pub fn to(
        collector: config::Tracing,
        environment: &Environment,
        instance: &str,
        recent: Option<&Arc<Recent>>,
    ) -> anyhow::Result<Self> {
        let never = |_, _| std::future::pending();
        Self::run(
            collector,
            ExportOptions::new(environment, instance)?,
            recent,
            never,
        )
    }

    /// Without a collector: so many of a million requests are recorded, and kept in `recent` alone.
    pub fn keep(
        recent: &Arc<Recent>,
        per_million: u32,
        environment: &Environment,
        instance: &str,
    ) -> anyhow::Result<Self> {
        let way = ExportOptions::new(environment, instance)?;
        let tracer = way.tracer(per_million);
        recent.follow(Source::new(tracer.queue().clone(), &way.resource, None));
        Ok(Self {
            tracer,
            fate: FinishedTraces::Kept(recent.clone(), Keeper::start(recent.clone())?, None),
            transports: None,
        })
    }

    fn run<F: Future<Output = ()> + Send + 'static>(
        configured: config::Tracing,
        way: ExportOptions,
        recent: Option<&Arc<Recent>>,
        beside: impl FnOnce(Arc<Tracer>, Transports) -> F,
    ) -> anyhow::Result<Self> {
        let tracer = way.tracer(configured.sampling_rate_per_million);
        let transports = Transports::new(configured);
        let (queue, to) = (tracer.queue().clone(), transports.traces.clone());
        let beside = beside(tracer.clone(), transports.clone());
        let fate = if let Some(recent) = recent {
            let onward = Arc::new(Queue::new(way.most));
            recent.follow(Source::new(queue, &way.resource, Some(onward.clone())));
            let exporter = way.export(onward, to, beside)?;
            FinishedTraces::Kept(
                recent.clone(),
                Keeper::start(recent.clone())?,
                Some(exporter),
            )
        } else {
            FinishedTraces::Sent(way.export(queue, to, beside)?)
        };
        Ok(Self {
            tracer,
            fate,
            transports: Some(transports),
        })
    }

    /// Whether there is a collector.
    pub fn is_sent(&self) -> bool {
        self.transports.is_some()
    }

    /// A collector may be a Service: this server knows where those are.
    pub fn resolve_services(&self, api: &Arc<Api>) {
        if let Some(transports) = &self.transports {
            transports.traces.resolve_services(resolver(api));
        }
    }

    /// Shows what becomes of spans.
    pub fn observe(&self, registry: &Registry) {
        otlp_push::observe(registry, "traces", self.tracer.queue());
    }

    /// Sends what is queued, and reports what was sent and what was dropped.
    pub async fn stop(self, limit: Duration) -> Report {
        self.tracer.set(None);
        // Waits for a thread.
        let ended = tokio::task::spawn_blocking(move || match self.fate {
            FinishedTraces::Sent(exporter) => exporter.shutdown(limit),
            FinishedTraces::Kept(recent, keeper, exporter) => {
                let begun = Instant::now();
                keeper.stop(limit);
                if let Some(exporter) = exporter {
                    exporter.shutdown(limit.saturating_sub(begun.elapsed()));
                }
                // Carries over what became of the last ones.
                recent.refresh();
                let numbers = self.tracer.queue().numbers();
                Report {
                    exported: numbers.exported,
                    dropped: numbers.dropped,
                    failed: numbers.failed + numbers.waiting(),
                }
            }
        });
        ended.await.unwrap_or_default()
    }
}

/// How spans leave, wherever they go.
struct ExportOptions {
    resource: Resource,
    settings: Settings,
    /// How many may wait.
    most: usize,
}

impl ExportOptions {
    fn new(environment: &Environment, instance: &str) -> anyhow::Result<Self> {
        let (settings, most) = environment.settings().map_err(|error| anyhow!(error))?;
        Ok(Self {
            resource: resource(environment, instance),
            settings,
            most,
        })
    }

    fn tracer(&self, per_million: u32) -> Arc<Tracer> {
        let tracer = Tracer::new(Arc::new(Queue::new(self.most)));
        sample(&tracer, per_million);
        Arc::new(tracer)
    }

    fn export(
        self,
        queue: Arc<Queue>,
        to: Arc<Transport>,
        beside: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<Exporter> {
        Exporter::start(
            Signal::Traces,
            queue,
            to,
            self.resource,
            self.settings,
            beside,
        )
    }
}

fn sample(tracer: &Tracer, per_million: u32) {
    tracer.set(Some(Sampling { per_million }));
}

/// The OpenTelemetry resource: `instance` is this process.
pub fn resource(environment: &Environment, instance: &str) -> Resource {
    Resource::new("apiserver", instance, environment.resource_attributes())
}

/// Finds Services by the objects of this server.
pub(crate) fn resolver(api: &Arc<Api>) -> Resolve {
    // Not kept alive by it.
    let api = Arc::downgrade(api);
    Arc::new(move |namespace, name, port| {
        let api = api.upgrade().ok_or("the server is stopping")?;
        admission::client::resolve(&*api, namespace, name, port)
    })
}
