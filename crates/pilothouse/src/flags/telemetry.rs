//! What the server records of its work, and how it reaches other networks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use egress::{Dialer, Network, Selector};
use pilothouse::push::{Push, Wanted};
use pilothouse::tracing::Tracing;
use store_etcd::wire::{Dial, Stream};
use telemetry::config::Environment;
use telemetry::metrics::Registry;
use telemetry::recent::Recent;

use super::{Kept, value};

#[derive(Debug, Args)]
#[command(next_help_heading = "Traces and networks")]
pub(crate) struct Telemetry {
    /// Which requests are traced, and the collector that gets their traces
    #[arg(long, value_name = "FILE", alias = "opentelemetry-config-file")]
    tracing_config_file: Option<PathBuf>,
    /// Proxies to the networks of the control plane, the cluster and etcd
    #[arg(long, value_name = "FILE")]
    egress_selector_config_file: Option<PathBuf>,
    /// Where numbers go: to /metrics, to the collector of traces
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "prometheus"
    )]
    metrics_exporter: Vec<MetricsExporter>,
    /// How often they are sent to the collector
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = value::duration)]
    metrics_export_interval: Duration,
    /// Where the log goes beside stderr
    #[arg(long, value_name = "WHERE", default_value = "none")]
    logs_exporter: LogsExporter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MetricsExporter {
    Prometheus,
    Otlp,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogsExporter {
    None,
    Otlp,
}

impl Telemetry {
    pub(crate) fn egress(&self) -> Result<Selector, egress::Error> {
        let file = self.egress_selector_config_file.as_deref();
        file.map_or_else(|| Ok(Selector::default()), Selector::read)
    }

    /// Whether there is `/metrics`.
    pub(crate) fn serves_metrics(&self) -> bool {
        self.metrics_exporter.contains(&MetricsExporter::Prometheus)
    }

    /// What goes to the collector beside traces.
    pub(crate) fn push(
        &self,
        tracing: Option<&Tracing>,
        registry: &Registry,
    ) -> anyhow::Result<Option<Push>> {
        let metrics = self.metrics_exporter.contains(&MetricsExporter::Otlp);
        let wanted = Wanted {
            metrics: metrics.then_some(self.metrics_export_interval),
            logs: self.logs_exporter == LogsExporter::Otlp,
        };
        let Some(collector) = tracing.filter(|it| it.is_sent()) else {
            let flag = match (metrics, wanted.logs) {
                (true, _) => "--metrics-exporter otlp",
                (_, true) => "--logs-exporter otlp",
                _ => {
                    return Ok(tracing
                        .map(|it| it.push(wanted, registry))
                        .transpose()?
                        .flatten());
                }
            };
            anyhow::bail!("{flag} needs --tracing-config-file, which names the collector");
        };
        let interval = self.metrics_export_interval;
        anyhow::ensure!(
            interval >= Duration::from_secs(1),
            "--metrics-export-interval is at least 1s"
        );
        Ok(collector.push(wanted, registry)?)
    }

    /// If it is asked for: to a collector, into `recent`, or both.
    pub(crate) fn tracing(
        &self,
        egress: &Selector,
        traces: &Kept,
        recent: Option<&Arc<Recent>>,
    ) -> anyhow::Result<Option<Tracing>> {
        let instance = format!("apiserver-{}", apiserver::random::uid());
        let environment = Environment::of_process();
        let tracing = match (&self.tracing_config_file, recent) {
            (Some(file), _) => {
                Tracing::start(file, environment, egress.clone(), &instance, recent)?
            }
            (None, Some(recent)) => Tracing::keep(recent, traces.rate(), &environment, &instance)?,
            (None, None) => return Ok(None),
        };
        Ok(Some(tracing))
    }
}

/// How etcd is reached, if not directly.
pub(crate) fn dial_etcd(egress: &Selector) -> Option<Dial> {
    let dialer = egress.dialer(Network::Etcd);
    if dialer.is_direct() {
        return None;
    }
    let dialer: Arc<Dialer> = Arc::new(dialer.clone());
    Some(Dial::new(move |host, port| {
        let dialer = dialer.clone();
        async move {
            let stream = dialer.dial(&host, port).await;
            let stream = stream.map_err(std::io::Error::other)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        }
    }))
}
