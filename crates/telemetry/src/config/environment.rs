//! OpenTelemetry's environment variables, as its specification has them: those of one signal before those of all.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use egress::Selector;

use super::endpoint::Endpoint;
use super::{Files, Written, endpoint};
use crate::export::{Place, Protocol, Settings, Signal, Target};

/// Spans that may wait. A busy server makes that many in half a second: whatever holds up the exporter for less than that, be
/// it the collector or the scheduler, costs no span.
const QUEUE: u32 = 1 << 18;

/// The variables that begin with `OTEL_`. One that is empty is as good as none.
#[derive(Clone, Debug, Default)]
pub struct Environment(HashMap<String, String>);

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()));
        Self(
            pairs
                .filter(|(key, value): &(String, String)| {
                    key.starts_with("OTEL_") && !value.is_empty()
                })
                .collect(),
        )
    }
}

impl Environment {
    /// Of this process.
    pub fn of_process() -> Self {
        let text = |it: std::ffi::OsString| it.into_string().ok();
        std::env::vars_os()
            .filter_map(|(key, value)| Some((text(key)?, text(value)?)))
            .collect()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The collector of a signal, if no configuration file names one.
    pub fn target(&self, signal: Signal, default: Protocol) -> Result<Target, String> {
        Written::default().target(signal, default, self, &Selector::default())
    }

    fn own(&self, signal: Signal, name: &str) -> Option<&str> {
        self.get(&format!("OTEL_EXPORTER_OTLP_{}_{name}", signal.variable()))
    }

    /// `OTEL_EXPORTER_OTLP_TRACES_X`, or `OTEL_EXPORTER_OTLP_X`.
    fn otlp(&self, signal: Signal, name: &str) -> Option<&str> {
        let own = self.own(signal, name);
        own.or_else(|| self.get(&format!("OTEL_EXPORTER_OTLP_{name}")))
    }

    pub(super) fn protocol(&self, signal: Signal) -> Result<Option<Protocol>, String> {
        let Some(text) = self.otlp(signal, "PROTOCOL") else {
            return Ok(None);
        };
        let found = Protocol::parse(text);
        let wrong = || {
            format!(
                "OTEL_EXPORTER_OTLP_PROTOCOL: {text:?} is not supported: it is grpc or http/protobuf"
            )
        };
        found.map(Some).ok_or_else(wrong)
    }

    pub(super) fn endpoint(&self, signal: Signal, protocol: Protocol) -> Result<Endpoint, String> {
        let Some(text) = self.otlp(signal, "ENDPOINT") else {
            return Ok(Endpoint::default());
        };
        let found = endpoint::of_client(text);
        let wrong = |error| format!("OTEL_EXPORTER_OTLP_ENDPOINT: {error}");
        let mut found = found.map_err(wrong)?;
        if !text.contains("://") && matches!(found.place, Place::Tcp { .. }) {
            let insecure = self.otlp(signal, "INSECURE");
            found.secure = !insecure.is_some_and(|it| it.eq_ignore_ascii_case("true"));
        }
        let own = self.own(signal, "ENDPOINT").is_some();
        if protocol == Protocol::HttpProtobuf && !own {
            // That of all signals is a base; that of one is taken as it is.
            let path = found.path.take().unwrap_or_default();
            path.split('?')
                .next()
                .unwrap_or_default()
                .clone_into(&mut found.base);
        } else if own && found.path.is_none() {
            found.path = Some("/".into());
        }
        Ok(found)
    }

    pub(super) fn headers(&self, signal: Signal) -> Vec<(String, String)> {
        let text = self.otlp(signal, "HEADERS").unwrap_or_default();
        crate::export::pairs(text).collect()
    }

    pub(super) fn gzip(&self, signal: Signal) -> Result<bool, String> {
        match self.otlp(signal, "COMPRESSION") {
            None | Some("none") => Ok(false),
            Some("gzip") => Ok(true),
            Some(other) => Err(format!(
                "OTEL_EXPORTER_OTLP_COMPRESSION: {other:?} is not supported: it is gzip or none"
            )),
        }
    }

    pub(super) fn timeout(&self, signal: Signal) -> Result<Option<Duration>, String> {
        let text = self.otlp(signal, "TIMEOUT");
        text.map(|it| milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", it))
            .transpose()
    }

    pub(super) fn files(&self, signal: Signal) -> Files {
        let path = |name| self.otlp(signal, name).map(PathBuf::from);
        Files {
            ca_bundle: path("CERTIFICATE"),
            client_cert: path("CLIENT_CERTIFICATE"),
            client_key: path("CLIENT_KEY"),
            server_name: None,
        }
    }

    pub fn resource_attributes(&self) -> Option<&str> {
        self.get("OTEL_RESOURCE_ATTRIBUTES")
    }

    /// How the exporter works (`OTEL_BSP_*`), and how many spans may wait.
    pub fn settings(&self) -> Result<(Settings, usize), String> {
        let mut settings = Settings::default();
        if let Some(text) = self.get("OTEL_BSP_SCHEDULE_DELAY") {
            settings.delay = milliseconds("OTEL_BSP_SCHEDULE_DELAY", text)?;
        }
        if let Some(text) = self.get("OTEL_BSP_EXPORT_TIMEOUT") {
            settings.patience = milliseconds("OTEL_BSP_EXPORT_TIMEOUT", text)?;
        }
        let count = |name: &str| {
            let text = self.get(name);
            let number = text.map(|it| match it.parse::<u32>() {
                Ok(it @ 1..=1_000_000) => Ok(it),
                _ => Err(format!("{name}: {it:?} is no number from 1 to 1000000")),
            });
            number.transpose()
        };
        if let Some(spans) = count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE")? {
            settings.batch_spans = spans.into();
        }
        let most = count("OTEL_BSP_MAX_QUEUE_SIZE")?.unwrap_or(QUEUE);
        Ok((settings, most as usize))
    }
}

fn milliseconds(name: &str, text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(it @ 1..=86_400_000) => Ok(Duration::from_millis(it)),
        _ => Err(format!("{name}: {text:?} is no number of milliseconds")),
    }
}
