//! What the server records of its work, and how it reaches other networks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use apiserver::pipeline::Api;
use clap::{Args, ValueEnum};
use egress::{Dialer, Network, Selector};
use pilothouse::kyverno::Kyverno;
use pilothouse::otlp_push::{OtlpPush, PushOptions};
use pilothouse::tracing::{Tracing, resource};
use rustls::ServerConfig;
use store_etcd::wire::{Dial, Stream};
use telemetry::config::Environment;
use telemetry::logs::{self, Field};
use telemetry::metrics::Registry;
use telemetry::recent::Recent;

use super::{Kept, kyverno, value};

/// How often numbers are sent: to our own flags' collector, and as Kyverno does.
const INTERVAL: Duration = Duration::from_secs(60);
const KYVERNO_INTERVAL: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
#[command(next_help_heading = "Traces and networks")]
pub(crate) struct Telemetry {
    /// Which requests are traced, and the collector that gets their traces
    #[arg(long, value_name = "FILE", alias = "opentelemetry-config-file")]
    tracing_config_file: Option<PathBuf>,
    /// Proxies to the networks of the control plane, the cluster and etcd
    #[arg(long, value_name = "FILE")]
    egress_selector_config_file: Option<PathBuf>,
    /// Where numbers go: to /metrics, which is the default, to the collector of traces
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    metrics_exporter: Vec<MetricsExporter>,
    /// How often they are sent to the collector; 1m unless it is given
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    metrics_export_interval: Option<Duration>,
    /// What a stop takes at most until collectors have what is left
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = value::duration)]
    export_flush_timeout: Duration,
    /// Where the log goes beside stderr
    #[arg(long, value_name = "WHERE", default_value = "none")]
    logs_exporter: LogsExporter,
    #[command(flatten)]
    kyverno: kyverno::Flags,
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

/// The exporters of traces, metrics and logs.
#[derive(Debug)]
pub(crate) struct TelemetryOutputs {
    pub(crate) tracing: Option<Tracing>,
    /// What is kept of traces, if anything is.
    pub(crate) recent: Option<Arc<Recent>>,
    push: Option<OtlpPush>,
    scrape: Option<(std::net::TcpListener, Option<Arc<ServerConfig>>)>,
    kyverno: Kyverno,
    flush: Duration,
}

impl Telemetry {
    pub(crate) fn egress(&self) -> Result<Selector, egress::Error> {
        let file = self.egress_selector_config_file.as_deref();
        file.map_or_else(|| Ok(Selector::default()), Selector::read)
    }

    /// Whether there is `/metrics`.
    pub(crate) fn serves_metrics(&self) -> bool {
        let shown = if self.metrics_exporter.is_empty() {
            !self.kyverno.is_grpc()
        } else {
            self.metrics_exporter.contains(&MetricsExporter::Prometheus)
        };
        shown && !self.kyverno.disable_metrics
    }

    /// Opens all exporters that the flags ask for. Does not wait for a collector.
    pub(crate) fn open(
        &self,
        kept: &Kept,
        egress: &Selector,
        registry: &Registry,
    ) -> anyhow::Result<TelemetryOutputs> {
        let environment = Environment::of_process();
        let instance = format!("apiserver-{}", apiserver::random::uid());
        let mut kyverno = self.kyverno.read(registry);
        let recent = kept.recent(registry)?;
        let mut tracing = self.tracing(
            &mut kyverno,
            &environment,
            egress,
            &instance,
            recent.as_ref(),
        )?;
        if let (None, Some(recent)) = (&tracing, &recent) {
            tracing = Some(Tracing::keep(recent, kept.rate(), &environment, &instance)?);
        }
        if let Some(tracing) = &tracing {
            tracing.observe(registry);
        }
        let wanted = self.wanted(tracing.as_ref(), &mut kyverno, &environment, egress)?;
        let is_wanted = wanted.metrics.is_some() || wanted.logs.is_some();
        let start = || OtlpPush::start(wanted, registry, &resource(&environment, &instance));
        let push = is_wanted.then(start).transpose()?;
        let scrape = match self.kyverno.listen()? {
            Some(listener) => Some((listener, self.kyverno.serving(&mut kyverno)?)),
            None => None,
        };
        Ok(TelemetryOutputs {
            tracing,
            recent,
            push,
            scrape,
            kyverno,
            flush: self.export_flush_timeout,
        })
    }

    /// To a collector, if one is named.
    fn tracing(
        &self,
        kyverno: &mut Kyverno,
        environment: &Environment,
        egress: &Selector,
        instance: &str,
        recent: Option<&Arc<Recent>>,
    ) -> anyhow::Result<Option<Tracing>> {
        if let Some(file) = &self.tracing_config_file {
            anyhow::ensure!(
                !self.kyverno.enable_tracing,
                "--tracing-config-file and --enableTracing both name a collector: give one of them"
            );
            let (environment, egress) = (environment.clone(), egress.clone());
            return Tracing::start(file, environment, egress, instance, recent).map(Some);
        }
        if !self.kyverno.enable_tracing {
            return Ok(None);
        }
        let ([traces, metrics, logs], to) = self.kyverno.tracing(environment, egress)?;
        let tracing = Tracing::to(to, environment, instance, recent)?;
        if let Some(transports) = tracing.transports.clone() {
            kyverno.collectors.extend([
                (traces, transports.traces),
                (metrics, transports.metrics),
                (logs, transports.logs),
            ]);
        }
        Ok(Some(tracing))
    }

    /// What goes to a collector beside traces.
    fn wanted(
        &self,
        tracing: Option<&Tracing>,
        kyverno: &mut Kyverno,
        environment: &Environment,
        egress: &Selector,
    ) -> anyhow::Result<PushOptions> {
        let interval = self.metrics_export_interval;
        anyhow::ensure!(
            interval.is_none_or(|it| it >= Duration::from_secs(1)),
            "--metrics-export-interval is at least 1s"
        );
        let shared = |flag: &str| {
            let shared = tracing.and_then(|it| it.transports.clone());
            let needed = "needs --tracing-config-file, which names the collector";
            shared.with_context(|| format!("{flag} {needed}"))
        };
        let mut wanted = PushOptions::default();
        if self.kyverno.is_grpc() {
            let transport = self.kyverno.metrics(kyverno, environment, egress)?;
            wanted.metrics = Some((transport, interval.unwrap_or(KYVERNO_INTERVAL)));
        } else if self.metrics_exporter.contains(&MetricsExporter::Otlp)
            && !self.kyverno.disable_metrics
        {
            let transport = shared("--metrics-exporter otlp")?.metrics;
            wanted.metrics = Some((transport, interval.unwrap_or(INTERVAL)));
        }
        if self.logs_exporter == LogsExporter::Otlp {
            wanted.logs = Some(shared("--logs-exporter otlp")?.logs);
        }
        Ok(wanted)
    }
}

impl TelemetryOutputs {
    /// The server is there: what they need of it can be found.
    pub(crate) fn attach(&mut self, api: &Arc<Api>) -> anyhow::Result<()> {
        if let Some(tracing) = &self.tracing {
            tracing.resolve_services(api);
        }
        if let Some(push) = &self.push {
            push.resolve_services(api);
        }
        std::mem::take(&mut self.kyverno).follow(api);
        if let Some((listener, tls)) = self.scrape.take() {
            let address = listener.local_addr().context("--metricsPort")?.to_string();
            let fields = [("address", Field::Text(&address))];
            let message = match tls {
                Some(_) => "Starting HTTPS metrics server",
                None => "Starting HTTP metrics server",
            };
            logs::info(&logs::SERVER, message, &fields);
            let listener = tokio::net::TcpListener::from_std(listener).context("--metricsPort")?;
            let registry = api.metrics().registry.clone();
            tokio::spawn(apiserver::scrape::serve(registry, listener, tls));
        }
        Ok(())
    }

    /// Sends what is queued, all signals at once, and reports what was sent and what was dropped.
    pub(crate) async fn stop(self) -> Vec<String> {
        let traces = async {
            let tracing = self.tracing?;
            let is_sent = tracing.is_sent();
            let report = tracing.stop(self.flush).await.to_string();
            let report = if is_sent {
                report
            } else {
                report.replace("exported", "kept")
            };
            Some(format!("traces: spans {report}"))
        };
        let others = async {
            let reports = self.push?.stop(self.flush).await;
            let lines = reports.into_iter();
            Some(lines.map(|(signal, report)| format!("{signal}: {report}")))
        };
        let (traces, others) = tokio::join!(traces, others);
        traces
            .into_iter()
            .chain(others.into_iter().flatten())
            .collect()
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
