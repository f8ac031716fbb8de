//! A webhook server with certificates of its own.

use std::sync::{Arc, Mutex};

use auth::pki::CertificateAuthority;
use base64::Engine as _;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use json::{Value, json};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// What it answers to a review.
pub(crate) enum Reply {
    /// The `response`, whose uid is filled in.
    Response(Value),
    Raw(u16, Vec<u8>),
    /// Nothing, ever.
    Silence,
    /// Allows once it was asked so many times.
    Together(usize),
}

pub(crate) struct Hook {
    pub(crate) port: u16,
    /// As in a `clientConfig`.
    pub(crate) bundle: String,
    /// What it was asked, in order.
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
    /// The `traceparent` of each question, empty if it had none.
    #[allow(dead_code, reason = "each story uses its part")]
    pub(crate) parents: Arc<Mutex<Vec<String>>>,
    /// How many connections were made to it.
    pub(crate) connections: Arc<Mutex<usize>>,
}

type Heard = (Arc<Mutex<Vec<Value>>>, Arc<Mutex<Vec<String>>>);
type Answer = Arc<dyn Fn(&str, &Value) -> Reply + Send + Sync>;

impl Hook {
    /// `answer` gets the path and the review.
    pub(crate) async fn start(
        answer: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let now = pilothouse::server::now();
        let root = CertificateAuthority::generate("hooks", now).expect("an authority");
        let authority = CertificateAuthority::from_pem(&root).expect("an authority");
        let names = ["hook.default.svc".to_owned()];
        let local = [[127, 0, 0, 1].into()];
        let serving = authority.serving("hook", &names, &local, now);
        let serving = serving.expect("a certificate");
        let chain = CertificateDer::pem_slice_iter(serving.certificate.as_bytes());
        let chain: Result<Vec<_>, _> = chain.collect();
        let key = PrivateKeyDer::from_pem_slice(serving.key.as_bytes()).expect("a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(chain.expect("a chain"), key)
            .expect("a configuration");
        let listener = TcpListener::bind("0.0.0.0:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let hook = Self {
            port,
            bundle: base64::prelude::BASE64_STANDARD.encode(&root.certificate),
            asked: Arc::default(),
            parents: Arc::default(),
            connections: Arc::default(),
        };
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let heard = (hook.asked.clone(), hook.parents.clone());
        let count = hook.connections.clone();
        tokio::spawn(accept(listener, acceptor, Arc::new(answer), heard, count));
        hook
    }

    pub(crate) fn url(&self, path: &str) -> Value {
        let url = format!("https://127.0.0.1:{}{path}", self.port);
        json!({"url": url, "caBundle": (&self.bundle)})
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().expect("no panic").clone()
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    answer: Answer,
    heard: Heard,
    connections: Arc<Mutex<usize>>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        *connections.lock().expect("no panic") += 1;
        let (acceptor, answer, heard) = (acceptor.clone(), answer.clone(), heard.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else {
                return;
            };
            let service =
                service_fn(move |request| respond(request, answer.clone(), heard.clone()));
            let server = hyper::server::conn::http1::Builder::new();
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn respond(
    request: Request<Incoming>,
    answer: Answer,
    (asked, parents): Heard,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let parent = request.headers().get("traceparent");
    let parent = parent.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let parent = parent.to_owned();
    parents.lock().expect("no panic").push(parent);
    let body = request.into_body().collect().await?.to_bytes();
    let review = json::parse(&body).unwrap_or_default();
    asked.lock().expect("no panic").push(review.clone());
    let reply = match answer(&path, &review) {
        Reply::Together(count) => {
            while asked.lock().expect("no panic").len() < count {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            allow()
        }
        other => other,
    };
    let (code, body) = match reply {
        Reply::Raw(code, body) => (code, body),
        Reply::Silence | Reply::Together(_) => std::future::pending().await,
        Reply::Response(mut response) => {
            let uid = review.str_at(&["request", "uid"]).unwrap_or_default();
            if let Some(fields) = response.as_object_mut() {
                fields.insert("uid", uid);
            }
            let review = json!({
                "kind": "AdmissionReview",
                "apiVersion": (review.str_at(&["apiVersion"]).unwrap_or_default()),
                "response": response,
            });
            (200, json::to_vec(&review))
        }
    };
    let response = Response::builder()
        .status(code)
        .header("content-type", "application/json");
    Ok(response.body(Full::from(body)).expect("a response"))
}

pub(crate) fn allow() -> Reply {
    Reply::Response(json!({"allowed": true}))
}

pub(crate) fn deny(why: &str) -> Reply {
    Reply::Response(json!({"allowed": false, "status": {"message": why}}))
}

/// Allows, with a JSON patch.
pub(crate) fn patch(operations: &Value) -> Reply {
    let patch = base64::prelude::BASE64_STANDARD.encode(json::to_vec(operations));
    Reply::Response(json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
}
