//! OTLP over HTTP and gRPC, as OpenTelemetry's variables say.

use std::time::Duration;

use bytes::Bytes;
use client::{Answer, Client, Roots, Trust};
use http::header::{CONTENT_TYPE, TE, USER_AGENT};
use http::uri::PathAndQuery;
use http::{Request, StatusCode, Uri, Version};
use json::Value;

use crate::otlp::{protobuf, rejected};
use crate::{CONTRIBUTORS, Error, Plan, Surroundings};

const AGENT: &str = concat!("pilothouse/", env!("CARGO_PKG_VERSION"));
const METHOD: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

#[derive(Clone, Debug)]
pub(super) struct Options {
    url: Uri,
    protocol: Protocol,
    headers: Vec<(String, String)>,
    timeout: Duration,
    trust: Trust,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Protobuf,
    Json,
    Grpc,
}

impl std::fmt::Display for Options {
    /// Without headers, which may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let protocol = match self.protocol {
            Protocol::Protobuf => "http/protobuf",
            Protocol::Json => "http/json",
            Protocol::Grpc => "grpc",
        };
        write!(f, "otlp, {protocol}, {}", self.url)
    }
}

impl Options {
    /// The variables for metrics come before those for everything.
    pub(super) fn read(plan: &Plan, surroundings: &Surroundings<'_>) -> Result<Self, Error> {
        let setting = |key| plan.setting(surroundings, key);
        let either = |own, all| {
            let found = setting(own).map(|it| (own, it));
            found.or_else(|| setting(all).map(|it| (all, it)))
        };
        let wrong = |key: &'static str, value: &str, why: &str| Error::Value {
            key,
            value: value.to_owned(),
            why: why.to_owned(),
        };
        let protocol = match either(
            "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
            "OTEL_EXPORTER_OTLP_PROTOCOL",
        ) {
            None => Protocol::Protobuf,
            Some((key, value)) => match value.trim() {
                "http/protobuf" => Protocol::Protobuf,
                "http/json" => Protocol::Json,
                "grpc" => Protocol::Grpc,
                other => {
                    return Err(wrong(key, other, "it is http/protobuf, http/json or grpc"));
                }
            },
        };
        let port = if protocol == Protocol::Grpc {
            4317
        } else {
            4318
        };
        let (key, url) = either(
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
        )
        .unwrap_or_else(|| {
            let all = "OTEL_EXPORTER_OTLP_ENDPOINT";
            (all, format!("http://localhost:{port}"))
        });
        let mut url = url.trim().to_owned();
        if protocol == Protocol::Grpc && !url.contains("://") {
            let insecure = surroundings.variable("OTEL_EXPORTER_OTLP_INSECURE");
            let plain = insecure.is_some_and(|it| it.trim().eq_ignore_ascii_case("true"));
            url = format!("{}://{url}", if plain { "http" } else { "https" });
        }
        // Only the one for everything is a base.
        if protocol != Protocol::Grpc && key == "OTEL_EXPORTER_OTLP_ENDPOINT" {
            url = format!("{}/v1/metrics", url.trim_end_matches('/'));
        }
        let url: Uri = url.parse().map_err(|_| wrong(key, &url, "it is no URL"))?;
        let timeout = match either(
            "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
            "OTEL_EXPORTER_OTLP_TIMEOUT",
        ) {
            None => 10_000,
            Some((key, value)) => value
                .trim()
                .parse()
                .map_err(|_| wrong(key, &value, "it is a number of milliseconds"))?,
        };
        let headers = match either(
            "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
            "OTEL_EXPORTER_OTLP_HEADERS",
        ) {
            None => Vec::new(),
            Some((key, value)) => read_headers(&value)
                .ok_or_else(|| wrong(key, "...", "it is NAME=VALUE,NAME=VALUE"))?,
        };
        let file = |own, all| match either(own, all) {
            None => Ok(None),
            Some((_, path)) => {
                let path = std::path::PathBuf::from(path);
                let read = std::fs::read(&path).map(Some);
                read.map_err(|error| Error::Read(path, error))
            }
        };
        let roots = file(
            "OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
        )?;
        let certificate = file(
            "OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
        )?;
        let key = file(
            "OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY",
            "OTEL_EXPORTER_OTLP_CLIENT_KEY",
        )?;
        Ok(Self {
            url,
            protocol,
            headers,
            timeout: Duration::from_millis(timeout),
            trust: Trust {
                roots: roots.map_or(Roots::System, Roots::Pem),
                identity: certificate.zip(key),
                server_name: None,
            },
        })
    }

    /// Nothing of what the user set for a service of their own goes there.
    pub(super) fn contributors() -> Result<Self, Error> {
        let url = format!("{}/v1/metrics", CONTRIBUTORS.trim_end_matches('/'));
        Ok(Self {
            url: url
                .parse()
                .map_err(|_| Error::Later(format!("{url} is no URL")))?,
            protocol: Protocol::Protobuf,
            headers: Vec::new(),
            timeout: Duration::from_secs(10),
            trust: Trust::default(),
        })
    }

    /// How many data points were rejected.
    pub(super) async fn export(&self, document: &Value) -> Result<u64, Error> {
        let (version, kind, body, url) = match self.protocol {
            Protocol::Protobuf => (
                Version::HTTP_11,
                "application/x-protobuf",
                protobuf(document),
                self.url.clone(),
            ),
            Protocol::Json => (
                Version::HTTP_11,
                "application/json",
                json::to_vec(document),
                self.url.clone(),
            ),
            Protocol::Grpc => {
                let message = protobuf(document);
                let mut parts = self.url.clone().into_parts();
                parts.path_and_query = Some(PathAndQuery::from_static(METHOD));
                let url = Uri::from_parts(parts)
                    .map_err(|_| Error::Later(format!("{} is no URL", self.url)))?;
                (Version::HTTP_2, "application/grpc", frame(&message), url)
            }
        };
        let mut request = Request::post(url)
            .version(version)
            .header(CONTENT_TYPE, kind)
            .header(USER_AGENT, AGENT);
        if version == Version::HTTP_2 {
            request = request.header(TE, "trailers");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Bytes::from(body))
            .map_err(|error| Error::Later(error.to_string()))?;
        let client = Client::new(&self.url, &self.trust, version, self.timeout)?;
        let answer = client.send(request).await?;
        if version == Version::HTTP_2 {
            return grpc(&answer);
        }
        match answer.status {
            StatusCode::OK if self.protocol == Protocol::Json => Ok(rejected_in_json(&answer.body)),
            status if status.is_success() => Ok(rejected(&answer.body)),
            // Those that the specification lets be asked again.
            status @ (StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT) => Err(Error::Later(status.to_string())),
            status => Err(Error::Refused(status.to_string())),
        }
    }
}

/// Values are encoded as in URLs.
fn read_headers(text: &str) -> Option<Vec<(String, String)>> {
    let parts = text.split(',').filter(|it| !it.trim().is_empty());
    let pairs = parts.map(|it| {
        let (name, value) = it.split_once('=')?;
        Some((name.trim().to_lowercase(), decode(value.trim())?))
    });
    pairs.collect()
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = (*first == b'%').then(|| after.get(..2)).flatten();
        let hex = hex.and_then(|it| std::str::from_utf8(it).ok());
        if let Some(byte) = hex.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Not compressed, and its length.
fn frame(message: &[u8]) -> Vec<u8> {
    // What is in the spool is far below four gigabytes.
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let mut framed = vec![0];
    framed.extend(length.to_be_bytes());
    framed.extend(message);
    framed
}

fn grpc(answer: &Answer) -> Result<u64, Error> {
    if answer.status != StatusCode::OK {
        return Err(Error::Later(answer.status.to_string()));
    }
    // An answer without a body has them among its headers.
    let trailer = |name: &str| {
        let found = answer.trailers.get(name).or(answer.headers.get(name));
        found.and_then(|it| it.to_str().ok()).unwrap_or_default()
    };
    let said = || {
        format!(
            "gRPC status {} {}",
            trailer("grpc-status"),
            trailer("grpc-message")
        )
    };
    match trailer("grpc-status") {
        "0" => Ok(rejected(answer.body.get(5..).unwrap_or_default())),
        // Canceled, deadline exceeded, resource exhausted, aborted, out of range, unavailable, data loss; or none.
        "" | "1" | "4" | "8" | "10" | "11" | "14" | "15" => Err(Error::Later(said())),
        _ => Err(Error::Refused(said())),
    }
}

fn rejected_in_json(body: &[u8]) -> u64 {
    let body = json::parse(body).unwrap_or_default();
    let found = body.at(&["partialSuccess", "rejectedDataPoints"]);
    let text = found.and_then(Value::as_str);
    text.and_then(|it| it.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::SystemTime;

    use super::*;
    use crate::{Destination, Places, Source};

    fn read(variables: &[(&'static str, &str)]) -> Result<Options, Error> {
        let all: BTreeMap<_, _> = variables.iter().copied().collect();
        let variable = |name| all.get(name).map(|it| (*it).to_owned());
        let surroundings = Surroundings {
            variable: &variable,
            interactive: false,
            now: SystemTime::UNIX_EPOCH,
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
        Options::read(&plan, &surroundings)
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
                &[(OWN, "http://m/x"), (ALL, "http://a")],
                "http/protobuf, http://m/x",
            ),
            (
                &[(ALL, "http://a"), (PROTOCOL, "http/json")],
                "http/json, http://a/v1/metrics",
            ),
            (&[grpc, (ALL, "c:4317")], "grpc, https://c:4317/"),
            (
                &[grpc, (ALL, "c:1"), ("OTEL_EXPORTER_OTLP_INSECURE", "true")],
                "grpc, http://c:1/",
            ),
        ];
        for (variables, wanted) in cases {
            let found = read(variables).unwrap().to_string();
            assert_eq!(found, format!("otlp, {wanted}"), "{variables:?}");
        }
        for wrong in [
            (PROTOCOL, "x"),
            (OWN, "a b"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "soon"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere/ca.crt"),
        ] {
            assert!(read(&[wrong]).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_rest_is_read_too() {
        let options = read(&[
            ("OTEL_EXPORTER_OTLP_HEADERS", "API-Key=a%20b%, x=y=z,"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", ""),
        ]);
        let options = options.unwrap();
        let wanted = [("api-key", "a b%"), ("x", "y=z")].map(|(k, v)| (k.into(), v.into()));
        assert_eq!(options.headers, wanted);
        assert_eq!(options.timeout, Duration::from_millis(77), "from the file");
    }
}
