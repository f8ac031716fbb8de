//! What Kyverno reads in its namespace: whom to believe of collectors, what to show to those who read numbers, and the
//! settings of metrics.

use std::sync::Arc;
use std::time::Duration;

use apiserver::local::Local;
use apiserver::pipeline::Api;
use apiserver::tls::Serving;
use auth::User;
use base64::Engine as _;
use egress::{Selector, tls};
use json::Value;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use telemetry::config::{Environment, plain};
use telemetry::export::{Place, Signal, Target, Tls, Transport};
use telemetry::logs::{self, Field, TELEMETRY};
use telemetry::metrics::{Registry, View};

/// Before a watch that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// Of the Secret: certificates in PEM.
const KEY: &str = "ca.pem";

/// A collector as Kyverno's flags name it: by gRPC, and with TLS if a Secret says whom to believe.
#[derive(Debug)]
pub struct Collector {
    host: String,
    plain: Target,
    secret: Option<String>,
}

impl Collector {
    /// A host alone; an empty one is this machine.
    pub fn new(
        signal: Signal,
        (host, port): (&str, u16),
        secret: &str,
        environment: &Environment,
        egress: &Selector,
    ) -> Result<Self, telemetry::config::Error> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let host = if host.is_empty() { "localhost" } else { host };
        Ok(Self {
            host: host.to_owned(),
            plain: plain(signal, place(host, port), environment, egress)?,
            secret: (!secret.is_empty()).then(|| secret.to_owned()),
        })
    }

    /// How to speak to it as long as the Secret is not known.
    pub fn target(&self) -> Target {
        let mut target = self.plain.clone();
        if self.secret.is_some() {
            // In Kyverno's words.
            let why = "error fetching certificate from secret";
            target.place = Place::Unknown(why.into());
        }
        target
    }

    /// The same when it is.
    fn trusting(&self, secret: &Value) -> Result<Target, String> {
        let wrong = || "credentials: failed to append certificates".to_owned();
        let pem = secret.str_at(&["data", KEY]).unwrap_or_default();
        let pem = base64::prelude::BASE64_STANDARD.decode(pem);
        let pem = pem.ok().filter(|it| !it.is_empty()).ok_or_else(wrong)?;
        let mut target = self.plain.clone();
        let config = tls::config(Some(&pem), None, &[target.protocol.alpn()]);
        target.tls = Some(Tls {
            config: config.map_err(|_| wrong())?,
            name: ServerName::try_from(self.host.clone()).map_err(|error| error.to_string())?,
        });
        Ok(target)
    }
}

/// What cluster DNS would know is found by the objects of this server.
fn place(host: &str, port: u16) -> Place {
    let inside = host.strip_suffix(".cluster.local").unwrap_or(host);
    let service = inside
        .strip_suffix(".svc")
        .and_then(|it| it.split_once('.'));
    match service {
        Some((name, namespace)) if !namespace.contains('.') => Place::Service {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            port,
        },
        _ => Place::Tcp {
            host: host.to_owned(),
            port,
        },
    }
}

/// All that is to be read.
#[derive(Debug, Default)]
pub struct Kyverno {
    pub namespace: String,
    /// The `ConfigMap`, and what it acts on.
    pub settings: Option<(String, Registry)>,
    pub collectors: Vec<(Collector, Arc<Transport>)>,
    /// The Secret with the certificate of the port of numbers.
    pub serving: Option<(String, Arc<Serving>)>,
}

impl Kyverno {
    /// Reads all, and whatever it becomes, until the server stops.
    pub fn follow(self, api: &Arc<Api>) {
        let user = User::new("system:apiserver", &["system:masters"]);
        let client = Local::new(api.clone(), user, "kube-apiserver");
        let below = format!("/api/v1/namespaces/{}", self.namespace);
        if let Some((name, registry)) = self.settings {
            let path = format!("{below}/configmaps");
            let apply = move |found: Option<&Value>| configure(&registry, found);
            tokio::spawn(follow(client.clone(), path, name, apply));
        }
        if let Some((name, serving)) = self.serving {
            let path = format!("{below}/secrets");
            let apply = move |found: Option<&Value>| show(&serving, found);
            tokio::spawn(follow(client.clone(), path, name, apply));
        }
        for (collector, transport) in self.collectors {
            let Some(name) = collector.secret.clone() else {
                continue;
            };
            let path = format!("{below}/secrets");
            let apply = move |found: Option<&Value>| believe(&collector, &transport, found);
            tokio::spawn(follow(client.clone(), path, name, apply));
        }
    }
}

/// Has `apply` see an object, whenever it is another than before.
async fn follow(
    client: Local,
    path: String,
    name: String,
    mut apply: impl FnMut(Option<&Value>) + Send,
) {
    let one = format!("{path}/{name}");
    let watched = format!("{path}?watch=true&fieldSelector=metadata.name%3D{name}");
    let mut last = None;
    let mut look = async || {
        let found = match client.get(&one).await {
            Ok(found) => Some(found.get("data").cloned().unwrap_or_default()),
            Err(status) if status.code == 404 => None,
            Err(_) => return,
        };
        if last.as_ref() != Some(&found) {
            let object = found.clone().map(|data| json::json!({"data": data}));
            apply(object.as_ref());
            last = Some(found);
        }
    };
    loop {
        // What changes before the first look is seen by it, what changes after it by the watch.
        let watch = client.watch(&watched).await;
        look().await;
        if let Ok(mut watch) = watch {
            while watch.next().await.is_some() {
                look().await;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = client.host().stopping() => return,
        }
    }
}

fn configure(registry: &Registry, found: Option<&Value>) {
    let text = |key: &str| found.and_then(|it| it.str_at(&["data", key]));
    let (view, bad) = View::read(text);
    for setting in bad {
        let why = setting.to_string();
        let fields = [("error", Field::Text(&why))];
        logs::error(&TELEMETRY, "A setting of metrics is not used", &fields);
    }
    registry.set_view(view);
    let message = match found {
        Some(_) => "The settings of metrics are in use",
        None => "There are no settings of metrics",
    };
    logs::info(&TELEMETRY, message, &[]);
}

/// A Secret of type `kubernetes.io/tls`.
fn show(serving: &Serving, found: Option<&Value>) {
    let shown = found.ok_or("there is no such secret".to_owned());
    let shown = shown.and_then(|secret| {
        let pem = |key| {
            let text = secret.str_at(&["data", key]).unwrap_or_default();
            let pem = base64::prelude::BASE64_STANDARD.decode(text);
            pem.map_err(|error| format!("{key}: {error}"))
        };
        let chain = CertificateDer::pem_slice_iter(&pem("tls.crt")?)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| format!("tls.crt: {error}"))?;
        let key = PrivateKeyDer::from_pem_slice(&pem("tls.key")?);
        let key = key.map_err(|error| format!("tls.key: {error}"))?;
        let used = serving.replace(chain, key);
        used.map_err(|error| error.to_string())
    });
    match shown {
        Ok(()) => logs::info(&TELEMETRY, "The certificate of metrics is in use", &[]),
        // What was shown before still is.
        Err(why) => {
            let fields = [("error", Field::Text(&why))];
            logs::error(
                &TELEMETRY,
                "The certificate of metrics is not known",
                &fields,
            );
        }
    }
}

fn believe(collector: &Collector, transport: &Transport, found: Option<&Value>) {
    let trusting = match found {
        Some(secret) => collector.trusting(secret),
        // Whom it was said to believe before is still believed.
        None => Err("error fetching certificate from secret".into()),
    };
    let host = ("host", Field::Text(&collector.host));
    match trusting {
        Ok(target) => {
            transport.replace(target);
            logs::info(&TELEMETRY, "The collector's authority is in use", &[host]);
        }
        Err(why) => {
            let fields = [host, ("error", Field::Text(&why))];
            logs::error(
                &TELEMETRY,
                "The collector's authority is not known",
                &fields,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_known_by_their_names() {
        let service = Place::Service {
            namespace: "kyverno".into(),
            name: "opentelemetrycollector".into(),
            port: 8000,
        };
        for host in [
            "opentelemetrycollector.kyverno.svc.cluster.local",
            "opentelemetrycollector.kyverno.svc",
        ] {
            assert_eq!(place(host, 8000), service, "{host}");
        }
        for host in ["localhost", "a.b.c.svc", "collector.example", "svc", "::1"] {
            assert!(matches!(place(host, 1), Place::Tcp { .. }), "{host}");
        }
    }

    #[test]
    fn nothing_is_sent_before_it_is_known_whom_to_believe() {
        let (environment, egress) = (Environment::default(), Selector::default());
        let collector = |secret| {
            let to = ("collector.example", 4317);
            Collector::new(Signal::Metrics, to, secret, &environment, &egress).unwrap()
        };
        assert!(matches!(collector("").target().place, Place::Tcp { .. }));
        let secured = collector("ca");
        assert!(matches!(secured.target().place, Place::Unknown(_)));
        let wrong = "credentials: failed to append certificates";
        for data in [json::json!({}), json::json!({"data": {"ca.pem": "eA=="}})] {
            assert_eq!(secured.trusting(&data).unwrap_err(), wrong);
        }
    }
}
