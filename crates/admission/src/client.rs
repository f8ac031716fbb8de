//! The client that calls webhooks: HTTPS POST over connections that are kept, with every answer bounded in size and
//! time, and with the texts that Go's client has for what goes wrong.

mod connection;
mod path;
mod service;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use base64::Engine as _;
use bytes::Bytes;
use egress::Dialer;
use egress::http::{Connection, Pool};
use egress::tls::{self, Secured};
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::Full;
use json::Value;
use rustls::ClientConfig;
use telemetry::trace::{self, Outgoing, Span};

use crate::Lookup;
use crate::metrics::Metrics;

pub use self::service::resolve;

/// The most that a webhook may answer.
pub const MAX_ANSWER_BYTES: usize = 3 * 1024 * 1024;
/// Connections kept for the next call.
const MAX_IDLE: usize = 16;
/// How long they are kept.
const IDLE: Duration = Duration::from_secs(60);

/// What a webhook said.
#[derive(Clone, Debug)]
pub struct Answer {
    pub code: u16,
    pub content_type: String,
    pub retry_after: i32,
    pub body: Bytes,
}

impl Answer {
    /// The code of an answer that is an error.
    pub(crate) fn refusal(&self) -> Option<u16> {
        (!(200..=206).contains(&self.code)).then_some(self.code)
    }
}

/// Where a webhook is, from a `clientConfig`. Dropping it closes its connections.
#[derive(Debug)]
pub struct Target {
    place: Place,
    /// As in the certificate.
    host: String,
    port: u16,
    path: String,
    tls: Secured,
    dialer: Dialer,
    pool: Pool<Full<Bytes>>,
    metrics: Option<Arc<Metrics>>,
}

#[derive(Debug)]
enum Place {
    /// Wherever the host's name leads.
    Url,
    Service {
        namespace: String,
        name: String,
    },
}

/// Targets by their `clientConfig`: who asks for the same shares its connections, and when nobody has it any more
/// they are closed.
#[derive(Debug, Default)]
pub struct Targets {
    all: Mutex<HashMap<String, Weak<Target>>>,
    /// How the cluster's network is reached.
    dialer: Dialer,
    metrics: Option<Arc<Metrics>>,
}

impl Targets {
    pub fn new(dialer: Dialer) -> Self {
        Self {
            all: Mutex::default(),
            dialer,
            metrics: None,
        }
    }

    /// Counts all calls.
    #[must_use]
    pub fn counted(mut self, metrics: Arc<Metrics>) -> Self {
        self.metrics = Some(metrics);
        self
    }

    pub fn get(&self, config: &Value) -> Result<Arc<Target>, String> {
        let key = json::to_string(config);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.get(&key).and_then(Weak::upgrade) {
            return Ok(found);
        }
        let mut target = Target::new(config, self.dialer.clone())?;
        target.metrics.clone_from(&self.metrics);
        let target = Arc::new(target);
        all.retain(|_, it| it.strong_count() > 0);
        all.insert(key, Arc::downgrade(&target));
        Ok(target)
    }
}

impl Target {
    pub fn new(config: &Value, dialer: Dialer) -> Result<Self, String> {
        let trusted = trust(config.str_at(&["caBundle"]).unwrap_or_default())?;
        let service = config.get("service").filter(|it| !it.is_null());
        let (place, host, port, path) = if let Some(service) = service {
            let text = |key| service.str_at(&[key]).unwrap_or_default().to_owned();
            let port = service.get("port").and_then(Value::as_i64).unwrap_or(443);
            let port = u16::try_from(port).map_err(|_| format!("invalid port {port}"))?;
            let (namespace, name) = (text("namespace"), text("name"));
            let host = format!("{name}.{namespace}.svc");
            // Its path is no URL's: a percent sign in it is one.
            let path = text("path").into_bytes();
            (Place::Service { namespace, name }, host, port, path)
        } else {
            let url = config.str_at(&["url"]).unwrap_or_default();
            if url.is_empty() {
                return Err("webhook configuration must have either service or URL".into());
            }
            let (host, port, path) = split(url)?;
            (Place::Url, host, port, path)
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = tls::server_name(bare)
            .map_err(|_| format!("{} is no name of a host", meta::go::quote(&host)))?;
        Ok(Self {
            place,
            host,
            port,
            path: path::escape(&path::clean(&path)),
            tls: Secured {
                config: trusted,
                name,
            },
            dialer,
            pool: Pool::new(MAX_IDLE, IDLE),
            metrics: None,
        })
    }

    /// As it stands in errors: what is asked of whom.
    fn url(&self, timeout: Option<Duration>, explicit_port: bool) -> String {
        let Self {
            host, port, path, ..
        } = self;
        let port = if explicit_port {
            format!(":{port}")
        } else {
            String::new()
        };
        // A part of a second counts as one.
        let seconds = timeout.map(|it| it.as_secs() + u64::from(it.subsec_nanos() > 0));
        let query = seconds.map(|it| format!("?timeout={}s", it.max(1)));
        format!("https://{host}{port}{path}{}", query.unwrap_or_default())
    }

    pub(crate) fn metrics(&self) -> Option<&Metrics> {
        self.metrics.as_deref()
    }

    /// Where it is, with the port, as metrics have it.
    fn host(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Sends the body and reads the whole answer, both within `timeout`.
    pub async fn post(
        &self,
        body: Bytes,
        timeout: Option<Duration>,
        agent: &'static str,
        lookup: &dyn Lookup,
    ) -> Result<Answer, String> {
        let explicit = self.port != 443 || matches!(self.place, Place::Service { .. });
        let url = self.url(timeout, explicit);
        let said = |why: String| format!("Post {}: {why}", meta::go::quote(&url));
        let call = trace::span("HTTP POST").client();
        let outgoing = trace::outgoing();
        let sent = Instant::now();
        let work = self.try_post(body, &url, agent, outgoing.as_ref(), lookup);
        // Without a time of its own a call must end too.
        let limit = timeout.unwrap_or(Duration::from_secs(30));
        let answer = match tokio::time::timeout(limit, work).await {
            Ok(answer) => answer.map_err(said),
            Err(_) => Err(said("context deadline exceeded".into())),
        };
        let got = answer.as_ref().ok();
        self.tell(&call, &url, got);
        if let Some(metrics) = &self.metrics {
            metrics.sent(&self.host(), got.map(|it| it.code), sent.elapsed());
        }
        answer
    }

    fn tell(&self, call: &Span, url: &str, answer: Option<&Answer>) {
        call.set("http.request.method", || "POST");
        call.set("url.full", || url.to_owned());
        call.set("server.address", || self.host.clone());
        call.set("server.port", || i64::from(self.port));
        call.set("network.protocol.version", || "1.1");
        match answer {
            Some(answer) => {
                let code = i64::from(answer.code);
                call.set("http.response.status_code", || code);
                if code >= 400 {
                    call.fail();
                }
            }
            None => call.fail(),
        }
    }

    async fn try_post(
        &self,
        body: Bytes,
        url: &str,
        agent: &'static str,
        outgoing: Option<&Outgoing>,
        lookup: &dyn Lookup,
    ) -> Result<Answer, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{error}"))?;
        let path = uri.path_and_query().map_or("/", |it| it.as_str());
        let host = uri.authority().map_or(&*self.host, |it| it.as_str());
        let request = || {
            let mut request = Request::builder()
                .method(Method::POST)
                .uri(path)
                .header(HOST, host)
                .header(USER_AGENT, HeaderValue::from_static(agent))
                .header(ACCEPT, "application/json, */*")
                .header(CONTENT_TYPE, "application/json");
            for (name, value) in outgoing.into_iter().flat_map(Outgoing::headers) {
                request = request.header(name, value);
            }
            request.body(Full::new(body.clone()))
        };
        while let Some(mut connection) = self.pool.take() {
            let request = request().map_err(|error| error.to_string())?;
            match connection::send(&mut connection, request).await {
                // It was closed while nobody looked: a new one will do.
                Err(error) if error.is_stale() => {}
                done => return self.done(connection, done),
            }
        }
        let mut connection = self.connect(lookup).await?;
        let request = request().map_err(|error| error.to_string())?;
        let done = connection::send(&mut connection, request).await;
        self.done(connection, done)
    }

    fn done(
        &self,
        connection: Connection<Full<Bytes>>,
        done: Result<Answer, connection::Error>,
    ) -> Result<Answer, String> {
        let answer = done.map_err(|error| error.to_string())?;
        self.pool.keep(connection);
        Ok(answer)
    }

    async fn connect(&self, lookup: &dyn Lookup) -> Result<Connection<Full<Bytes>>, String> {
        let (host, port) = match &self.place {
            Place::Url => (self.host.clone(), self.port),
            Place::Service { namespace, name } => {
                service::resolve(lookup, namespace, name, self.port)?
            }
        };
        connection::open(&self.dialer, (&host, port), &self.tls).await
    }
}

/// Of a bundle in base64, as it stands in an object.
fn trust(bundle: &str) -> Result<Arc<ClientConfig>, String> {
    let pem = base64::prelude::BASE64_STANDARD.decode(bundle);
    // What is no base64 is no PEM either.
    let pem = pem.unwrap_or_default();
    let bundle = (!bundle.is_empty()).then_some(&*pem);
    tls::config(bundle, None, &[b"http/1.1"]).map_err(|error| error.to_string())
}

/// Host, port and the path, decoded.
fn split(url: &str) -> Result<(String, u16, Vec<u8>), String> {
    let wrong = |why: String| format!("Unparsable URL: parse {}: {why}", meta::go::quote(url));
    let uri: Uri = url.parse().map_err(|error| wrong(format!("{error}")))?;
    let host = uri.host().unwrap_or_default();
    if uri.scheme_str() != Some("https") || host.is_empty() {
        return Err(wrong("no https URL with a host".into()));
    }
    let port = uri.port_u16().unwrap_or(443);
    Ok((
        host.to_owned(),
        port,
        path::decode(uri.path()).map_err(wrong)?.into_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn targets_are_shared_and_forgotten() {
        let targets = Targets::default();
        let get = |url: &str| targets.get(&json!({"url": url})).unwrap();
        let known = || targets.all.lock().unwrap().len();
        let one = get("https://one.example.com");
        assert!(Arc::ptr_eq(&one, &get("https://one.example.com")));
        let two = get("https://two.example.com");
        assert!(!Arc::ptr_eq(&one, &two));
        assert_eq!(known(), 2);
        drop((one, two));
        let _three = get("https://three.example.com");
        assert_eq!(known(), 1, "those that nobody has are gone");
    }
}
