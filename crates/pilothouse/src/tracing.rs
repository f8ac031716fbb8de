//! Traces from the recorder to a collector, as a configuration file has it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use apiserver::pipeline::Api;
use egress::Selector;
use telemetry::config::{Environment, Follow};
use telemetry::export::{Exporter, Queue, Report, Resolve, Resource, Signal, Transport};
use telemetry::metrics::Registry;
use telemetry::trace::{Finished, Sampling, Tracer};

use crate::push::{self, Push, Wanted};

/// How long the last spans may take when the server stops.
pub(crate) const LAST: Duration = Duration::from_secs(5);

/// Tracing at work.
#[derive(Debug)]
pub struct Tracing {
    /// What the server records with.
    pub tracer: Arc<Tracer>,
    exporter: Exporter<Finished>,
    transport: Arc<Transport>,
    resource: Resource,
}

impl Tracing {
    /// Reads the configuration, and follows it from then on. Waits for nobody: the collector may come later, or never.
    pub fn start(
        file: &Path,
        environment: Environment,
        egress: Selector,
        instance: &str,
    ) -> anyhow::Result<Self> {
        let (settings, most) = environment.settings().map_err(|error| anyhow!(error))?;
        let resource = environment.resource_attributes();
        let resource = Resource::new("apiserver", instance, resource);
        let (follow, configured) = Follow::open(file, environment, egress)?;
        let transport = Arc::new(Transport::new(configured.target));
        let tracer = Arc::new(Tracer::new(Arc::new(Queue::new(most))));
        let set = |tracer: &Tracer, per_million| tracer.set(Some(Sampling { per_million }));
        set(&tracer, configured.sampling_rate_per_million);
        let changed = tracer.clone();
        let exporter = Exporter::start(
            Signal::Traces,
            tracer.queue().clone(),
            transport.clone(),
            resource.clone(),
            settings,
            follow.run(transport.clone(), move |rate| set(&changed, rate)),
        )?;
        Ok(Self {
            tracer,
            exporter,
            transport,
            resource,
        })
    }

    /// A collector may be a Service: this server knows where those are.
    pub fn resolve_services(&self, api: &Arc<Api>) {
        self.transport.resolve_services(resolver(api));
    }

    /// Has metrics and logs go the same way, and shows what becomes of spans.
    pub fn push(&self, wanted: Wanted, registry: &Registry) -> std::io::Result<Push> {
        push::observe(registry, "traces", self.exporter.queue());
        Push::start(wanted, registry, &self.transport, &self.resource)
    }

    /// Sends what waits, and tells what became of everything.
    pub async fn stop(self) -> Report {
        self.tracer.set(None);
        // Waits for a thread.
        let ended = tokio::task::spawn_blocking(move || self.exporter.shutdown(LAST));
        ended.await.unwrap_or_default()
    }
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
