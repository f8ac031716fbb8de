//! Traces that can be read from the server itself.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use clap::Args;
use pilothouse::server::OtlpReceiver;
use telemetry::metrics::{Collected, Desc, Registry, Stability};
use telemetry::recent::{LEAST_BYTES, Numbers, Recent};

const MILLION: u32 = 1_000_000;

#[derive(Debug, Args)]
#[command(next_help_heading = "Traces kept here")]
pub(crate) struct Kept {
    /// Keep recent traces in memory, for /debug/traces and 'pilothouse traces'
    #[arg(long)]
    debug_traces: bool,
    /// How much memory they may take
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, requires = "debug_traces", value_parser = bytes)]
    debug_traces_bytes: usize,
    /// How many of a million requests are traced, if no file says so; all by default
    #[arg(
        long,
        value_name = "N",
        requires = "debug_traces",
        conflicts_with = "tracing_config_file",
        value_parser = clap::value_parser!(u32).range(0..=i64::from(MILLION))
    )]
    debug_traces_sampling_rate_per_million: Option<u32>,
    /// Take other programs' spans, too, by OTLP with TLS at IP:PORT; a PORT alone is on 127.0.0.1
    #[arg(long, value_name = "ADDRESS", requires = "debug_traces", value_parser = address)]
    otlp_receiver: Option<SocketAddr>,
    /// Take them without TLS and from anybody, which only loopback may
    #[arg(long, requires = "otlp_receiver")]
    otlp_receiver_plaintext: bool,
}

impl Kept {
    pub(crate) fn rate(&self) -> u32 {
        let rate = self.debug_traces_sampling_rate_per_million;
        rate.unwrap_or(MILLION)
    }

    /// Where they are kept, if they are.
    pub(crate) fn recent(&self, registry: &Registry) -> anyhow::Result<Option<Arc<Recent>>> {
        let address = self.otlp_receiver;
        anyhow::ensure!(
            !self.otlp_receiver_plaintext || address.is_none_or(|it| it.ip().is_loopback()),
            "--otlp-receiver-plaintext takes spans from anybody: --otlp-receiver must be an address of loopback with it, as 127.0.0.1:4317"
        );
        let recent = (self.debug_traces).then(|| Arc::new(Recent::new(self.debug_traces_bytes)));
        if let Some(recent) = &recent {
            observe(registry, recent);
        }
        Ok(recent)
    }

    pub(crate) fn receiver(&self) -> Option<OtlpReceiver> {
        self.otlp_receiver.map(|address| OtlpReceiver {
            address,
            plaintext: self.otlp_receiver_plaintext,
        })
    }
}

fn bytes(text: &str) -> Result<usize, String> {
    let bytes: usize = text.parse().map_err(|_| "it is a number of bytes")?;
    if bytes < LEAST_BYTES {
        return Err(format!("it is at least {LEAST_BYTES}"));
    }
    Ok(bytes)
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let wrong = |_| "write it like 4317, 127.0.0.1:4317 or [::1]:4317".to_owned();
    text.parse().map_err(wrong)
}

/// Shows what is kept.
fn observe(registry: &Registry, recent: &Arc<Recent>) {
    let gauge = |name, help, read: fn(Numbers) -> u64| {
        let recent = recent.clone();
        let desc = Desc::new(name, Stability::Unmarked, help);
        registry.observe_gauge(desc, &[], move || -> Collected {
            vec![(Vec::new(), float(read(recent.numbers())))]
        });
    };
    let bytes = "What the traces that are kept take of memory.";
    gauge("pilothouse_debug_traces_bytes", bytes, |it| it.bytes);
    let all = "Traces that are kept.";
    gauge("pilothouse_debug_traces", all, |it| {
        it.newest + it.errors + it.slowest
    });
    let counter = |name, help, read: fn(Numbers) -> Vec<(&'static str, u64)>| {
        let recent = recent.clone();
        let desc = Desc::new(name, Stability::Unmarked, help);
        registry.observe_counter(desc, &["outcome"], move || -> Collected {
            let all = read(recent.numbers()).into_iter();
            all.map(|(outcome, count)| (vec![outcome.to_owned()], float(count)))
                .collect()
        });
    };
    counter(
        "pilothouse_debug_traces_spans_total",
        "Spans that were to be kept: of this server, of others, and those without ids or of a trace that is too large.",
        |it| {
            vec![
                ("own", it.own_spans),
                ("received", it.received_spans),
                ("refused", it.refused_spans),
            ]
        },
    );
}

#[expect(clippy::cast_precision_loss, reason = "it is shown as a float")]
fn float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("4317", Some("127.0.0.1:4317")),
            ("0", Some("127.0.0.1:0")),
            ("0.0.0.0:4317", Some("0.0.0.0:4317")),
            ("[::1]:4317", Some("[::1]:4317")),
            ("localhost:4317", None),
            ("65536", None),
            ("http://127.0.0.1:4317", None),
            ("", None),
        ] {
            let found = address(text).ok().map(|it| it.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        assert!(bytes("262143").is_err() && bytes("262144").is_ok() && bytes("16Mi").is_err());
    }
}
