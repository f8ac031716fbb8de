//! A collector, as OpenTelemetry's variables say.

use json::Value;
use telemetry::config::Environment;
use telemetry::export::{End, Protocol, Signal, Target};
use telemetry::metrics::delta;

use crate::config::KEYS;
use crate::{CONTRIBUTORS, Error, Invocation, Plan};

/// The user's own.
pub(super) fn target(plan: &Plan, invocation: &Invocation<'_>) -> Result<Target, Error> {
    let set = KEYS.iter().filter_map(|key| {
        let value = plan.setting(invocation, key)?;
        Some((*key, value.trim().to_owned()))
    });
    read(&set.collect())
}

/// Nothing of what the user set for a service of their own goes there.
pub(super) fn contributors() -> Result<Target, Error> {
    read(
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", CONTRIBUTORS)]
            .into_iter()
            .collect(),
    )
}

fn read(environment: &Environment) -> Result<Target, Error> {
    let target = environment.target(Signal::Metrics, Protocol::HttpProtobuf);
    target.map_err(Error::Collector)
}

/// How many data points were rejected.
pub(super) fn export(target: Target, document: &Value) -> Result<u64, Error> {
    let outcome = delta::send(document, target);
    let said = outcome.said.unwrap_or_default();
    match outcome.end {
        End::Taken => Ok(outcome.rejected),
        End::Lost => Err(Error::Later(said)),
        End::Refused => Err(Error::Refused(said)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::{Destination, Places, Source};

    fn read(variables: &[(&'static str, &str)]) -> Result<Target, Error> {
        let all: BTreeMap<_, _> = variables.iter().copied().collect();
        let variable = |name| all.get(name).map(|it| (*it).to_owned());
        let invocation = Invocation {
            variable: &variable,
            interactive: false,
            now: SystemTime::UNIX_EPOCH,
            program: "pilothouse",
        };
        let plan = Plan {
            destination: Some(Destination::Otlp),
            source: Source::Nobody,
            places: Places {
                config: "/c".into(),
                state: "/s".into(),
            },
            settings: [("OTEL_EXPORTER_OTLP_TIMEOUT", "77".to_owned())].into(),
        };
        target(&plan, &invocation)
    }

    #[test]
    fn endpoints_are_what_the_specification_says() {
        const ALL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
        const OWN: &str = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
        const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
        let grpc = (PROTOCOL, "grpc");
        let cases: &[(&[(&'static str, &str)], &str)] = &[
            (&[], "http/protobuf, http://localhost:4318/v1/metrics"),
            (&[grpc], "grpc, http://localhost:4317/"),
            (
                &[(ALL, "https://c:1/base/")],
                "http/protobuf, https://c:1/base/v1/metrics",
            ),
            (
                &[(OWN, " http://m:2/x?y=z "), (ALL, "http://a")],
                "http/protobuf, http://m:2/x?y=z",
            ),
            (
                &[(OWN, "https://m?y=z")],
                "http/protobuf, https://m:443/?y=z",
            ),
            (
                &[(ALL, "http://a:3/b?y=z")],
                "http/protobuf, http://a:3/b/v1/metrics",
            ),
            (&[grpc, (ALL, "c:4317")], "grpc, https://c:4317/"),
            (
                &[grpc, (ALL, "c:1"), ("OTEL_EXPORTER_OTLP_INSECURE", "true")],
                "grpc, http://c:1/",
            ),
        ];
        for (variables, wanted) in cases {
            let found = read(variables).unwrap().describe(Signal::Metrics);
            assert_eq!(found, *wanted, "{variables:?}");
        }
        for wrong in [
            (PROTOCOL, "http/json"),
            (OWN, "a b"),
            (OWN, "http://a/b c"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "soon"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a b=c"),
        ] {
            assert!(read(&[wrong]).is_err(), "{wrong:?}");
        }
        let missing = ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere/ca.crt");
        assert!(read(&[(ALL, "https://c"), missing]).is_err());
    }

    #[test]
    fn the_file_counts_where_the_environment_says_nothing() {
        let found = read(&[("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "")]).unwrap();
        assert_eq!(found.timeout, Duration::from_millis(77));
    }
}
