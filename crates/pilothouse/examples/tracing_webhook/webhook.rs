//! An admission webhook that is a part of the API server's traces: it takes up the context that comes with a review, has
//! spans of its own, and asks the API server something within them, while that waits for the answer.
//!
//! What it decides: in a namespace with the label `frozen: "true"` nothing may be changed.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use auth::pki::CertificateAuthority;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::Bytes;
use egress::http::Client;
use egress::tls::{Roots, Trust as Believed};
use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming as Body;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use json::{Value, json};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use telemetry::config::{Environment, Follow};
use telemetry::context::{TRACEPARENT, TRACESTATE, TraceContext, baggage};
use telemetry::export::{Exporter, Queue, Report, Resource, Signal, Transport};
use telemetry::trace::{
    self, Attributes, Describe, Incoming, Name, Outgoing, Role, Sampling, Tracer, Trust,
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const NAME: &str = "frozen.example.com";
/// Larger than any object that the API server takes.
const MAX_REVIEW_BYTES: usize = 8 << 20;

pub(crate) struct Webhook {
    address: SocketAddr,
    /// Of who signed its certificate, in PEM.
    authority: String,
    exporter: Exporter,
}

impl Webhook {
    /// `kubeconfig` says how to reach the API server and as whom, `tracing` where the spans go.
    pub(crate) async fn start(
        address: SocketAddr,
        kubeconfig: &Value,
        tracing: &Path,
    ) -> anyhow::Result<Self> {
        let (tracer, exporter) = record(tracing)?;
        let work = Arc::new(Work {
            tracer,
            server: Server::new(kubeconfig)?,
        });
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (authority, tls) = certificate(address)?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, work) = (tls.clone(), work.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = tls.accept(stream).await {
                        let service = service_fn(move |it| answer(work.clone(), it));
                        let server = hyper::server::conn::http1::Builder::new();
                        let _ = server.serve_connection(TokioIo::new(stream), service).await;
                    }
                });
            }
        });
        Ok(Self {
            address,
            authority,
            exporter,
        })
    }

    /// What the API server must be told to ask this webhook.
    pub(crate) fn configuration(&self) -> Value {
        let url = format!("https://{}/frozen", self.address);
        let bundle = BASE64_STANDARD.encode(&self.authority);
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "frozen"},
            "webhooks": [{
                "name": NAME,
                "clientConfig": {"url": url, "caBundle": bundle},
                "rules": [{
                    "operations": ["CREATE", "UPDATE", "DELETE"],
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "resources": ["configmaps"],
                }],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 30,
            }],
        })
    }

    /// Sends the spans that wait.
    pub(crate) async fn stop(self) -> Report {
        // Waits for a thread.
        let ended = move || self.exporter.shutdown(Duration::from_secs(5));
        tokio::task::spawn_blocking(ended).await.unwrap_or_default()
    }
}

/// What takes spans in, and the thread that sends them to the collector that the file names.
fn record(file: &Path) -> anyhow::Result<(Arc<Tracer>, Exporter)> {
    let environment = Environment::of_process();
    let (settings, most) = environment.settings().map_err(|error| anyhow!(error))?;
    let instance = std::process::id().to_string();
    let resource = Resource::new("frozen-webhook", &instance, None);
    let (follow, configured) = Follow::open(file, environment, egress::Selector::default())?;
    let transport = Arc::new(Transport::new(configured.target));
    let tracer = Arc::new(Tracer::new(Arc::new(Queue::new(most))));
    let set = |tracer: &Tracer, per_million| tracer.set(Some(Sampling { per_million }));
    set(&tracer, configured.sampling_rate_per_million);
    let changed = tracer.clone();
    let exporter = Exporter::start(
        Signal::Traces,
        tracer.queue().clone(),
        transport.clone(),
        resource,
        settings,
        // The file may change while the webhook runs.
        follow.run(move |to| {
            set(&changed, to.sampling_rate_per_million);
            transport.replace(to.target);
        }),
    )?;
    Ok((tracer, exporter))
}

fn certificate(address: SocketAddr) -> anyhow::Result<(String, TlsAcceptor)> {
    let now = pilothouse::server::now();
    let root = CertificateAuthority::generate("frozen-webhook", now)?;
    let authority = CertificateAuthority::from_pem(&root)?;
    let serving = authority.serving("frozen-webhook", &[], &[address.ip()], now)?;
    let chain = CertificateDer::pem_slice_iter(serving.certificate.as_bytes());
    let chain: Result<Vec<_>, _> = chain.collect();
    let key = PrivateKeyDer::from_pem_slice(serving.key.as_bytes())?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain?, key)?;
    Ok((root.certificate, TlsAcceptor::from(Arc::new(config))))
}

struct Work {
    tracer: Arc<Tracer>,
    server: Server,
}

/// What is said of a review's span.
struct Answered {
    code: StatusCode,
}

impl Describe for Answered {
    fn name(&self, out: &mut Name<'_>) {
        out.push("POST /frozen");
    }

    fn attributes(&self, _role: Role, out: &mut Attributes<'_>) {
        out.text("http.request.method", "POST");
        out.text("http.route", "/frozen");
        let code = i64::from(self.code.as_u16());
        out.int("http.response.status_code", code);
    }

    fn is_error(&self) -> bool {
        self.code.is_server_error()
    }
}

/// One review, within its trace: whatever is recorded while it is polled is a part of it.
async fn answer(
    work: Arc<Work>,
    request: Request<Body>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut traced = work.tracer.request();
    let reviewed = {
        let mut review = pin!(work.review(request));
        poll_fn(|context| traced.enter(|| review.as_mut().poll(context))).await
    };
    let mut response = Response::new(Full::default());
    match reviewed {
        Ok(review) => {
            *response.body_mut() = json::to_vec(&review).into();
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(CONTENT_TYPE, json);
        }
        Err(error) => {
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            *response.body_mut() = format!("{error:#}").into();
        }
    }
    let code = response.status();
    traced.finish(|| Answered { code });
    Ok(response)
}

impl Work {
    async fn review(&self, request: Request<Body>) -> anyhow::Result<Value> {
        let incoming = incoming(request.headers());
        // Whoever can reach this webhook is the API server: its trace is ours.
        self.tracer
            .begin(incoming, Trust::Parent, "kube-apiserver", trace::now());
        let body = Limited::new(request.into_body(), MAX_REVIEW_BYTES);
        let body = body.collect().await.map_err(|error| anyhow!(error))?;
        let review = json::parse(&body.to_bytes())?;
        let text = |key| review.str_at(&["request", key]).unwrap_or_default();
        let namespace = self.server.namespace(text("namespace")).await?;
        let frozen = namespace.str_at(&["metadata", "labels", "frozen"]) == Some("true");
        trace::event(if frozen { "Refused" } else { "Allowed" });
        let mut response = json!({"uid": (text("uid")), "allowed": (!frozen)});
        if frozen && let Some(response) = response.as_object_mut() {
            response.insert("status", json!({"message": "the namespace is frozen"}));
        }
        Ok(json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": response,
        }))
    }
}

fn incoming(headers: &HeaderMap) -> Incoming {
    let all = |name| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    Incoming {
        context: TraceContext::read(all(TRACEPARENT), all(TRACESTATE)),
        baggage: baggage::read(all(baggage::HEADER)).map(Into::into),
    }
}

/// The API server, as a kubeconfig has it: one cluster, and one user with a certificate or a token.
struct Server {
    url: String,
    token: Option<String>,
    client: Client,
}

impl Server {
    fn new(kubeconfig: &Value) -> anyhow::Result<Self> {
        let first = |list, part, key: &str| {
            let all = kubeconfig.get(list).and_then(Value::as_array);
            let found = all.and_then(|it| it.first()?.str_at(&[part, key]));
            found.map(str::to_owned)
        };
        let pem = |list, part, key| {
            let text = first(list, part, key);
            text.map(|it| BASE64_STANDARD.decode(it)).transpose()
        };
        let url = first("clusters", "cluster", "server").context("no server in the kubeconfig")?;
        let authority = pem("clusters", "cluster", "certificate-authority-data")?;
        let certificate = pem("users", "user", "client-certificate-data")?;
        let key = pem("users", "user", "client-key-data")?;
        let believed = Believed {
            roots: authority.map_or(Roots::System, Roots::Pem),
            identity: certificate.zip(key),
            server_name: None,
        };
        let client = Client::new(&url.parse::<Uri>()?, &believed, Duration::from_secs(10))?;
        Ok(Self {
            url,
            token: first("users", "user", "token"),
            client,
        })
    }

    /// The call back, as a span that the API server's own is a child of.
    async fn namespace(&self, name: &str) -> anyhow::Result<Value> {
        let url = format!("{}/api/v1/namespaces/{name}", self.url);
        let call = trace::span("HTTP GET").client();
        call.set("http.request.method", || "GET");
        call.set("url.full", || url.clone());
        let mut request = Request::get(&url).header(USER_AGENT, "frozen-webhook");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        // traceparent, tracestate and baggage.
        let outgoing = trace::outgoing();
        for (name, value) in outgoing.iter().flat_map(Outgoing::headers) {
            request = request.header(name, value);
        }
        let answer = self.client.send(request.body(Bytes::new())?).await;
        let answer = answer.inspect_err(|_| call.fail())?;
        let code = answer.status;
        call.set("http.response.status_code", || i64::from(code.as_u16()));
        if !code.is_success() {
            call.fail();
            bail!("{url}: {code}");
        }
        Ok(json::parse(&answer.body)?)
    }
}
