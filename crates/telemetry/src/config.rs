//! What `--tracing-config-file` says: kube-apiserver's `TracingConfiguration`, and `OpenTelemetryClientConfiguration` as
//! KEP-647 first had it. OpenTelemetry's environment variables count where the file says nothing.

mod endpoint;
mod environment;
mod follow;

use std::path::{Path, PathBuf};

use ::config::{Document, Fields};
use egress::tls::{self, Identity, TlsError};
use egress::{Network, Selector};
use http::{HeaderName, HeaderValue};
use meta::field;

use crate::export::{Place, Protocol, Signal, Target, Tls};
use endpoint::Endpoint;

pub use environment::Environment;
pub use follow::{Follow, Tracing};

const VERSIONS: &[&str] = &[
    "apiserver.config.k8s.io/v1",
    "apiserver.config.k8s.io/v1beta1",
    "apiserver.config.k8s.io/v1alpha1",
];
const KINDS: &[&str] = &["TracingConfiguration", "OpenTelemetryClientConfiguration"];
const MILLION: i32 = 1_000_000;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("failed to read tracing config: {0}")]
    Read(String),
    #[error("failed to validate tracing configuration: {0}")]
    Invalid(String),
    /// A file that the configuration names, or a variable.
    #[error("failed to set up tracing: {0}")]
    Setup(String),
}

/// A file as it stands.
#[derive(Debug, Default)]
struct Written {
    endpoint: Option<String>,
    url: Option<String>,
    service: Option<Service>,
    rate: Option<i32>,
    protocol: Option<String>,
    headers: Vec<(String, String)>,
    tls: Option<Files>,
}

#[derive(Debug)]
struct Service {
    namespace: String,
    name: String,
    port: Option<i32>,
}

/// Names of files in PEM.
#[derive(Clone, Debug, Default)]
struct Files {
    ca_bundle: Option<PathBuf>,
    client_cert: Option<PathBuf>,
    client_key: Option<PathBuf>,
    server_name: Option<String>,
}

impl Files {
    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        let files = [&self.ca_bundle, &self.client_cert, &self.client_key];
        files.into_iter().flatten()
    }

    fn load(&self, place: &Place, protocol: Protocol) -> Result<Tls, String> {
        let read = |path: &Option<PathBuf>| {
            let path = path.as_ref();
            let text = path.map(|it| ::config::read(it));
            text.transpose()
        };
        let bundle = read(&self.ca_bundle)?;
        let (cert, key) = (read(&self.client_cert)?, read(&self.client_key)?);
        let identity = match (&cert, &key) {
            (Some(certificate), Some(key)) => Some(Identity { certificate, key }),
            _ => None,
        };
        let name = self.server_name.clone();
        let name = name.unwrap_or_else(|| place.server_name());
        let said = |error: TlsError| error.to_string();
        Ok(Tls {
            config: tls::config(bundle.as_deref(), identity, &[protocol.alpn()]).map_err(said)?,
            name: tls::server_name(&name).map_err(said)?,
        })
    }
}

fn decode(text: &[u8]) -> Result<Written, ::config::Error> {
    let mut document = Document::parse(text)?;
    document.expect_or_first(VERSIONS, KINDS)?;
    let client = document.kind() == KINDS[1];
    let known: &[&str] = if client {
        &[
            "url",
            "service",
            "samplingRatePerMillion",
            "protocol",
            "headers",
            "tls",
        ]
    } else {
        &[
            "endpoint",
            "samplingRatePerMillion",
            "protocol",
            "headers",
            "tls",
        ]
    };
    let fields = document.fields(known);
    let fields = if client {
        fields
    } else {
        fields.inlined(KINDS[0])
    };
    let owned = |name: &str| Ok(fields.text(name)?.map(str::to_owned));
    let service = fields.object(
        "service",
        "ServiceReference",
        &["namespace", "name", "port"],
    )?;
    let tls_fields = &["caBundle", "clientCert", "clientKey", "serverName"];
    let tls = fields.object("tls", "TLSConfig", tls_fields)?;
    let headers = fields.texts("headers")?;
    let written = Written {
        endpoint: owned("endpoint")?.filter(|_| !client),
        url: owned("url")?.filter(|_| client),
        service: service
            .as_ref()
            .filter(|_| client)
            .map(self::service)
            .transpose()?,
        rate: fields.integer("samplingRatePerMillion")?,
        protocol: owned("protocol")?,
        headers: headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        tls: tls.as_ref().map(files).transpose()?,
    };
    document.finish()?;
    Ok(written)
}

fn service(fields: &Fields<'_>) -> Result<Service, ::config::Error> {
    let text = |name| Ok(fields.text(name)?.unwrap_or_default().to_owned());
    Ok(Service {
        namespace: text("namespace")?,
        name: text("name")?,
        port: fields.integer("port")?,
    })
}

fn files(fields: &Fields<'_>) -> Result<Files, ::config::Error> {
    let path = |name| {
        Ok(fields
            .text(name)?
            .filter(|it| !it.is_empty())
            .map(PathBuf::from))
    };
    Ok(Files {
        ca_bundle: path("caBundle")?,
        client_cert: path("clientCert")?,
        client_key: path("clientKey")?,
        server_name: fields.text("serverName")?.map(str::to_owned),
    })
}

impl Written {
    /// As upstream, then what is ours.
    fn validate(&self) -> Vec<field::Error> {
        let mut errors = Vec::new();
        let at = "samplingRatePerMillion";
        match self.rate {
            Some(rate @ ..0) => errors.push(field::Error::invalid(
                at,
                i64::from(rate),
                "sampling rate must be positive",
            )),
            Some(rate) if rate > MILLION => errors.push(field::Error::invalid(
                at,
                i64::from(rate),
                "sampling rate per million must be less than or equal to one million",
            )),
            _ => {}
        }
        if let Some(Err(error)) = self.endpoint.as_deref().map(endpoint::of_tracing) {
            errors.push(error);
        }
        if let Some(Err(error)) = self.url.as_deref().map(endpoint::of_client) {
            errors.push(error);
        }
        if let Some(service) = &self.service {
            if self.url.is_some() {
                let why = "may not be set together with url";
                errors.push(field::Error::forbidden("service", why));
            }
            for (name, value) in [("namespace", &service.namespace), ("name", &service.name)] {
                if value.is_empty() {
                    errors.push(field::Error::required(format!("service.{name}"), ""));
                }
            }
            if let Some(port) = service.port.filter(|it| !(1..=65535).contains(it)) {
                let why = "must be between 1 and 65535, inclusive";
                errors.push(field::Error::invalid("service.port", i64::from(port), why));
            }
        }
        if let Some(protocol) = &self.protocol
            && Protocol::parse(protocol).is_none()
        {
            let all = ["grpc", "http/protobuf"];
            errors.push(field::Error::not_supported("protocol", &**protocol, all));
        }
        for (name, value) in &self.headers {
            if header(name, value).is_none() {
                let why = "is no header of HTTP";
                errors.push(field::Error::invalid_omitted(
                    format!("headers[{name}]"),
                    why,
                ));
            }
        }
        if let Some(tls) = &self.tls {
            if tls.client_cert.is_some() != tls.client_key.is_some() {
                let why = "clientCert and clientKey go together";
                errors.push(field::Error::required("tls", why));
            }
            for path in tls.all().filter(|it| !it.exists()) {
                let path = path.display().to_string();
                errors.push(field::Error::invalid("tls", path, "does not exist"));
            }
        }
        errors
    }

    fn checked(&self) -> Result<(), Error> {
        let errors = self.validate();
        if errors.is_empty() {
            return Ok(());
        }
        Err(Error::Invalid(field::aggregate(&errors)))
    }

    /// Of what was found valid.
    fn target(
        &self,
        signal: Signal,
        default: Protocol,
        environment: &Environment,
        egress: &Selector,
    ) -> Result<Target, String> {
        let protocol = match &self.protocol {
            Some(text) => Protocol::parse(text),
            None => environment.protocol(signal)?,
        };
        let protocol = protocol.unwrap_or(default);
        let written = match (&self.endpoint, &self.url) {
            (Some(text), _) => Some(endpoint::of_tracing(text)),
            (None, Some(text)) => Some(endpoint::of_client(text)),
            (None, None) => None,
        };
        let written = written.transpose().map_err(|error| error.to_string())?;
        let mut endpoint = match written {
            Some(endpoint) => endpoint.of_signal(signal),
            None => environment.endpoint(signal, protocol)?,
        };
        let mut network = Network::ControlPlane;
        if let Some(service) = &self.service {
            let port = service.port.and_then(|it| u16::try_from(it).ok());
            endpoint = Endpoint {
                place: Place::Service {
                    namespace: service.namespace.clone(),
                    name: service.name.clone(),
                    port: port.unwrap_or(protocol.port()),
                },
                ..Endpoint::default()
            };
            network = Network::Cluster;
        }
        let mut target = Target::new(endpoint.place_with(protocol.port()), protocol);
        let files = match &self.tls {
            Some(files) => Some(files.clone()),
            None => endpoint.secure.then(|| environment.files(signal)),
        };
        let tls = files.map(|it| it.load(&target.place, protocol));
        target.tls = tls.transpose()?;
        target.base = endpoint.base;
        target.path = endpoint.path;
        target.gzip = environment.gzip(signal)?;
        target.timeout = environment.timeout(signal)?.unwrap_or(target.timeout);
        target.dialer = egress.dialer(network).clone();
        let headers = if self.headers.is_empty() {
            environment.headers(signal)
        } else {
            self.headers.clone()
        };
        let all: Option<Vec<_>> = headers
            .iter()
            .map(|(name, value)| header(name, value))
            .collect();
        target.headers =
            all.ok_or("a header of OTEL_EXPORTER_OTLP_HEADERS is no header of HTTP")?;
        Ok(target)
    }

    fn files(&self, environment: &Environment) -> Vec<PathBuf> {
        let Some(files) = &self.tls else {
            let all = [Signal::Traces, Signal::Metrics, Signal::Logs];
            let all = all.map(|it| environment.files(it));
            return all.iter().flat_map(Files::all).cloned().collect();
        };
        files.all().cloned().collect()
    }
}

fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::try_from(name).ok()?;
    let mut value = HeaderValue::try_from(value).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

/// A collector that is known by its URL alone: all that `url` of a configuration may say.
pub fn collector(url: &str, environment: &Environment, egress: &Selector) -> Result<Target, Error> {
    let written = Written {
        url: Some(url.to_owned()),
        ..Written::default()
    };
    written.checked()?;
    let target = written.target(Signal::Traces, Protocol::default(), environment, egress);
    target.map_err(Error::Setup)
}

/// A collector that is spoken to by gRPC without TLS, wherever it is; the environment has the last word on all else.
pub fn plain(
    signal: Signal,
    place: Place,
    environment: &Environment,
    egress: &Selector,
) -> Result<Target, Error> {
    let written = Written {
        url: Some("http://localhost".into()),
        protocol: Some("grpc".into()),
        ..Written::default()
    };
    let target = written.target(signal, Protocol::Grpc, environment, egress);
    let mut target = target.map_err(Error::Setup)?;
    if matches!(place, Place::Service { .. }) {
        target.dialer = egress.dialer(Network::Cluster).clone();
    }
    target.place = place;
    Ok(target)
}

fn read(path: &Path) -> Result<Written, Error> {
    let shown = path.display().to_string();
    let quoted = meta::go::quote(&shown);
    let text = ::config::read(path).map_err(|error| {
        let what = "unable to read tracing configuration from";
        Error::Read(format!("{what} {quoted}: {error}"))
    })?;
    let written = decode(&text).map_err(|error| {
        Error::Read(format!(
            "unable to decode tracing configuration data: {error}"
        ))
    })?;
    written.checked()?;
    Ok(written)
}

#[cfg(test)]
mod tests;
