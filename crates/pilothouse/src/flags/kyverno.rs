//! Flags by the names that Kyverno has for them.

use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use anyhow::Context as _;
use apiserver::tls::{Policy, Serving, server_config};
use clap::{ArgAction, Args, ValueEnum};
use egress::Selector;
use pilothouse::kyverno::{Collector, Kyverno};
use rustls::ServerConfig;
use telemetry::config::{Environment, Tracing};
use telemetry::export::{Signal, Transport};
use telemetry::metrics::Registry;

use super::value;

/// Of all requests, as Kyverno samples.
const ALL: u32 = 1_000_000;

#[derive(Debug, Args)]
#[command(next_help_heading = "Metrics and traces as Kyverno has them")]
pub(crate) struct Flags {
    /// Where numbers go: on --metricsPort for Prometheus, or to --otelCollector
    #[arg(long = "otelConfig", value_name = "WHERE")]
    otel_config: Option<OtelConfig>,
    /// The collector of numbers, without its port
    #[arg(
        long = "otelCollector",
        value_name = "HOST",
        default_value = "opentelemetrycollector.kyverno.svc.cluster.local",
        value_parser = value::host_alone
    )]
    otel_collector: String,
    /// The port of the collector, or that on which anybody reads numbers over HTTP; 8000 unless it is given
    #[arg(long = "metricsPort", value_name = "PORT")]
    metrics_port: Option<u16>,
    /// The address of that port, if not all
    #[arg(
        long = "metricsHost",
        value_name = "IP",
        default_value = "",
        hide_default_value = true
    )]
    metrics_host: String,
    /// The Secret with the certificate of that port, as tls.crt and tls.key; without it there is no TLS
    #[arg(
        long = "metricsTLSSecretName",
        value_name = "SECRET",
        default_value = "",
        hide_default_value = true,
        value_parser = value::object_name
    )]
    metrics_tls_secret_name: String,
    /// Which traces are named beside numbers
    #[arg(
        long = "exemplarFilter",
        value_name = "WHICH",
        default_value = "trace-based"
    )]
    exemplar_filter: ExemplarFilter,
    /// The Secret with the authorities of the collector of numbers, as ca.pem; without it there is no TLS
    #[arg(
        long = "transportCreds",
        value_name = "SECRET",
        default_value = "",
        hide_default_value = true,
        value_parser = value::object_name
    )]
    transport_creds: String,
    /// Show and send no numbers
    #[arg(long = "disableMetrics", value_name = "BOOL", default_value = "false", default_missing_value = "true",
        num_args = 0..=1, require_equals = true, action = ArgAction::Set, value_parser = value::boolean)]
    pub(super) disable_metrics: bool,
    /// Trace all requests, to --tracingAddress
    #[arg(long = "enableTracing", value_name = "BOOL", default_value = "false", default_missing_value = "true",
        num_args = 0..=1, require_equals = true, action = ArgAction::Set, value_parser = value::boolean)]
    pub(super) enable_tracing: bool,
    /// The collector of traces, without its port; this machine unless it is given
    #[arg(
        long = "tracingAddress",
        value_name = "HOST",
        default_value = "",
        hide_default_value = true,
        value_parser = value::host_alone
    )]
    tracing_address: String,
    /// Its port
    #[arg(long = "tracingPort", value_name = "PORT", default_value_t = 4317,
        value_parser = clap::value_parser!(u16).range(1..))]
    tracing_port: u16,
    /// The Secret with its authorities, as ca.pem; without it there is no TLS
    #[arg(
        long = "tracingCreds",
        value_name = "SECRET",
        default_value = "",
        hide_default_value = true,
        value_parser = value::object_name
    )]
    tracing_creds: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OtelConfig {
    Prometheus,
    Grpc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExemplarFilter {
    TraceBased,
    AlwaysOn,
    AlwaysOff,
}

/// Kyverno's.
const PORT: u16 = 8000;

impl Flags {
    /// Numbers are pushed.
    pub(super) fn is_grpc(&self) -> bool {
        self.otel_config == Some(OtelConfig::Grpc) && !self.disable_metrics
    }

    /// What is read in Kyverno's namespace: nothing, unless its flags or variables say so.
    pub(super) fn read(&self, registry: &Registry) -> Kyverno {
        let variable = |name| std::env::var(name).ok().filter(|it| !it.is_empty());
        let map = variable("METRICS_CONFIG");
        let wanted = map.is_some() || self.otel_config.is_some() || self.metrics_port.is_some();
        let map = map.unwrap_or_else(|| "kyverno-metrics".into());
        if self.exemplar_filter == ExemplarFilter::AlwaysOff {
            registry.hide_exemplars();
        }
        Kyverno {
            namespace: variable("KYVERNO_NAMESPACE").unwrap_or_else(|| "kyverno".into()),
            settings: wanted.then(|| (map, registry.clone())),
            collectors: Vec::new(),
            serving: None,
        }
    }

    /// What is to be shown on the port of numbers, once it is known.
    pub(super) fn serving(
        &self,
        kyverno: &mut Kyverno,
    ) -> anyhow::Result<Option<Arc<ServerConfig>>> {
        let secret = &self.metrics_tls_secret_name;
        if secret.is_empty() {
            return Ok(None);
        }
        let serving = Arc::new(Serving::default());
        kyverno.serving = Some((secret.clone(), serving.clone()));
        Ok(Some(server_config(serving, &Policy::default(), &[])?))
    }

    /// The way of numbers to the collector.
    pub(super) fn metrics(
        &self,
        kyverno: &mut Kyverno,
        environment: &Environment,
        egress: &Selector,
    ) -> anyhow::Result<Arc<Transport>> {
        let port = self.metrics_port.unwrap_or(PORT);
        anyhow::ensure!(port > 0, "--metricsPort 0: a collector has a port");
        let to = (&*self.otel_collector, port);
        let creds = &self.transport_creds;
        let collector = Collector::new(Signal::Metrics, to, creds, environment, egress)?;
        let transport = Arc::new(Transport::new(collector.target()));
        kyverno.collectors.push((collector, transport.clone()));
        Ok(transport)
    }

    /// The collector of traces, of each signal.
    pub(super) fn tracing(
        &self,
        environment: &Environment,
        egress: &Selector,
    ) -> anyhow::Result<([Collector; 3], Tracing)> {
        let to = (&*self.tracing_address, self.tracing_port);
        let creds = &self.tracing_creds;
        let collector = |signal| Collector::new(signal, to, creds, environment, egress);
        let traces = collector(Signal::Traces)?;
        let metrics = collector(Signal::Metrics)?;
        let logs = collector(Signal::Logs)?;
        let tracing = Tracing {
            target: traces.target(),
            metrics: metrics.target(),
            logs: logs.target(),
            sampling_rate_per_million: ALL,
        };
        Ok(([traces, metrics, logs], tracing))
    }

    /// The address of the metrics endpoint, if one is wanted: it has no authentication.
    pub(super) fn listen(&self) -> anyhow::Result<Option<TcpListener>> {
        let asked = self.otel_config.is_some() || self.metrics_port.is_some();
        if self.disable_metrics || self.is_grpc() || !asked {
            return Ok(None);
        }
        let port = self.metrics_port.unwrap_or(PORT);
        let host = self.metrics_host.trim_matches(['[', ']']);
        let bound = if host.is_empty() {
            // All addresses; where there is no IPv6, those of IPv4.
            let all = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
            TcpListener::bind(all).or_else(|_| TcpListener::bind(("0.0.0.0", port)))
        } else {
            TcpListener::bind((host, port))
        };
        let listener = bound.with_context(|| match host {
            "" => format!("--metricsPort {port}"),
            host => format!("--metricsHost {host} --metricsPort {port}"),
        })?;
        listener.set_nonblocking(true).context("--metricsPort")?;
        Ok(Some(listener))
    }
}
