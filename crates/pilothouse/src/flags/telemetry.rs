//! What the server records of its work, and how it reaches other networks.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use egress::{Dialer, Network, Selector};
use pilothouse::tracing::Tracing;
use store_etcd::wire::{Dial, Stream};
use telemetry::config::Environment;

#[derive(Debug, Args)]
#[command(next_help_heading = "Traces and networks")]
pub(crate) struct Telemetry {
    /// Which requests are traced, and the collector that gets their traces
    #[arg(long, value_name = "FILE", alias = "opentelemetry-config-file")]
    tracing_config_file: Option<PathBuf>,
    /// Proxies to the networks of the control plane, the cluster and etcd
    #[arg(long, value_name = "FILE")]
    egress_selector_config_file: Option<PathBuf>,
}

impl Telemetry {
    pub(crate) fn egress(&self) -> Result<Selector, egress::Error> {
        let file = self.egress_selector_config_file.as_deref();
        file.map_or_else(|| Ok(Selector::default()), Selector::read)
    }

    /// If it is asked for.
    pub(crate) fn tracing(&self, egress: &Selector) -> anyhow::Result<Option<Tracing>> {
        let Some(file) = &self.tracing_config_file else {
            return Ok(None);
        };
        let instance = format!("apiserver-{}", apiserver::random::uid());
        let environment = Environment::of_process();
        Tracing::start(file, environment, egress.clone(), &instance).map(Some)
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
