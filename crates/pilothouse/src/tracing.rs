//! Traces from the recorder to a collector, as a configuration file has it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use apiserver::pipeline::Api;
use egress::Selector;
use telemetry::config::{self, Environment, Follow};
use telemetry::export::{Exporter, Queue, Report, Resolve, Resource, Settings, Signal, Transport};
use telemetry::metrics::Registry;
use telemetry::trace::{Finished, Sampling, Tracer};

use crate::push;

/// How long the last spans may take when the server stops.
pub(crate) const LAST: Duration = Duration::from_secs(5);

/// Tracing at work.
#[derive(Debug)]
pub struct Tracing {
    /// What the server records with.
    pub tracer: Arc<Tracer>,
    exporter: Exporter<Finished>,
    pub transports: Transports,
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
    /// Reads the configuration, and follows it from then on. Waits for nobody: the collector may come later, or never.
    pub fn start(
        file: &Path,
        environment: Environment,
        egress: Selector,
        instance: &str,
    ) -> anyhow::Result<Self> {
        let way = Way::new(&environment, instance)?;
        let (follow, configured) = Follow::open(file, environment, egress)?;
        Self::run(configured, way, |tracer, transports| {
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
    ) -> anyhow::Result<Self> {
        let never = |_, _| std::future::pending();
        Self::run(collector, Way::new(environment, instance)?, never)
    }

    fn run<F: Future<Output = ()> + Send + 'static>(
        configured: config::Tracing,
        way: Way,
        beside: impl FnOnce(Arc<Tracer>, Transports) -> F,
    ) -> anyhow::Result<Self> {
        let tracer = Arc::new(Tracer::new(Arc::new(Queue::new(way.most))));
        sample(&tracer, configured.sampling_rate_per_million);
        let transports = Transports::new(configured);
        let exporter = Exporter::start(
            Signal::Traces,
            tracer.queue().clone(),
            transports.traces.clone(),
            way.resource,
            way.settings,
            beside(tracer.clone(), transports.clone()),
        )?;
        Ok(Self {
            tracer,
            exporter,
            transports,
        })
    }

    /// A collector may be a Service: this server knows where those are.
    pub fn resolve_services(&self, api: &Arc<Api>) {
        self.transports.traces.resolve_services(resolver(api));
    }

    /// Shows what becomes of spans.
    pub fn observe(&self, registry: &Registry) {
        push::observe(registry, "traces", self.exporter.queue());
    }

    /// Sends what waits, and tells what became of everything.
    pub async fn stop(self) -> Report {
        self.tracer.set(None);
        // Waits for a thread.
        let ended = tokio::task::spawn_blocking(move || self.exporter.shutdown(LAST));
        ended.await.unwrap_or_default()
    }
}

/// How spans leave, wherever they go.
struct Way {
    resource: Resource,
    settings: Settings,
    /// How many may wait.
    most: usize,
}

impl Way {
    fn new(environment: &Environment, instance: &str) -> anyhow::Result<Self> {
        let (settings, most) = environment.settings().map_err(|error| anyhow!(error))?;
        Ok(Self {
            resource: resource(environment, instance),
            settings,
            most,
        })
    }
}

fn sample(tracer: &Tracer, per_million: u32) {
    tracer.set(Some(Sampling { per_million }));
}

/// Who sends: `instance` is this process.
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
