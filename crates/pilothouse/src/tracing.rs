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
use telemetry::recent::{Encoded, Keeper, Recent, Source};
use telemetry::trace::{Finished, Sampling, Tracer};

use crate::push::{self, Push, Wanted};

/// How long the last spans may take when the server stops.
pub(crate) const LAST: Duration = Duration::from_secs(5);

/// Tracing at work.
#[derive(Debug)]
pub struct Tracing {
    /// What the server records with.
    pub tracer: Arc<Tracer>,
    way: Way,
    /// To the collector, if there is one.
    transport: Option<Arc<Transport>>,
    resource: Resource,
}

/// What becomes of traces that are finished.
#[derive(Debug)]
enum Way {
    Sent(Exporter<Finished>),
    /// They are kept first, and then may be sent.
    Kept(Arc<Recent>, Keeper, Option<Exporter<Encoded>>),
}

impl Tracing {
    /// Reads the configuration, and follows it from then on. Waits for nobody: the collector may come later, or never.
    /// What is sent is kept in `recent`, too.
    pub fn start(
        file: &Path,
        environment: Environment,
        egress: Selector,
        instance: &str,
        recent: Option<&Arc<Recent>>,
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
        let follow = follow.run(transport.clone(), move |rate| set(&changed, rate));
        let (queue, to) = (tracer.queue().clone(), transport.clone());
        let way = if let Some(recent) = recent {
            let onward = Arc::new(Queue::new(most));
            recent.follow(Source::new(queue, &resource, Some(onward.clone())));
            let exporter = Exporter::start(
                Signal::Traces,
                onward,
                to,
                resource.clone(),
                settings,
                follow,
            )?;
            Way::Kept(
                recent.clone(),
                Keeper::start(recent.clone())?,
                Some(exporter),
            )
        } else {
            Way::Sent(Exporter::start(
                Signal::Traces,
                queue,
                to,
                resource.clone(),
                settings,
                follow,
            )?)
        };
        Ok(Self {
            tracer,
            way,
            transport: Some(transport),
            resource,
        })
    }

    /// Without a collector: so many of a million requests are recorded, and kept in `recent` alone.
    pub fn keep(
        recent: &Arc<Recent>,
        per_million: u32,
        environment: &Environment,
        instance: &str,
    ) -> anyhow::Result<Self> {
        let (_, most) = environment.settings().map_err(|error| anyhow!(error))?;
        let resource = environment.resource_attributes();
        let resource = Resource::new("apiserver", instance, resource);
        let tracer = Arc::new(Tracer::new(Arc::new(Queue::new(most))));
        tracer.set(Some(Sampling { per_million }));
        recent.follow(Source::new(tracer.queue().clone(), &resource, None));
        Ok(Self {
            tracer,
            way: Way::Kept(recent.clone(), Keeper::start(recent.clone())?, None),
            transport: None,
            resource,
        })
    }

    /// Whether there is a collector.
    pub fn is_sent(&self) -> bool {
        self.transport.is_some()
    }

    /// A collector may be a Service: this server knows where those are.
    pub fn resolve_services(&self, api: &Arc<Api>) {
        if let Some(transport) = &self.transport {
            transport.resolve_services(resolver(api));
        }
    }

    /// Shows what becomes of spans, and has metrics and logs go the same way, if there is one.
    pub fn push(&self, wanted: Wanted, registry: &Registry) -> std::io::Result<Option<Push>> {
        push::observe(registry, "traces", self.tracer.queue());
        let Some(transport) = &self.transport else {
            return Ok(None);
        };
        Push::start(wanted, registry, transport, &self.resource).map(Some)
    }

    /// Sends what waits, and tells what became of everything.
    pub async fn stop(self) -> Report {
        self.tracer.set(None);
        // Waits for a thread.
        let ended = tokio::task::spawn_blocking(move || match self.way {
            Way::Sent(exporter) => exporter.shutdown(LAST),
            Way::Kept(recent, keeper, exporter) => {
                keeper.stop();
                if let Some(exporter) = exporter {
                    exporter.shutdown(LAST);
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

/// Finds Services by the objects of this server.
pub(crate) fn resolver(api: &Arc<Api>) -> Resolve {
    // Not kept alive by it.
    let api = Arc::downgrade(api);
    Arc::new(move |namespace, name, port| {
        let api = api.upgrade().ok_or("the server is stopping")?;
        admission::client::resolve(&*api, namespace, name, port)
    })
}
