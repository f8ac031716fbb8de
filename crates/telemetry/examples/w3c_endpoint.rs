//! The endpoint that W3C's trace-context suite asks for, over this crate's own codec and recorder:
//!
//! ```text
//! cargo run -p telemetry --example w3c_endpoint -- 127.0.0.1:7000
//! git clone https://github.com/w3c/trace-context && cd trace-context/test   # needs Python with aiohttp
//! SPEC_LEVEL=2 python3 test.py http://127.0.0.1:7000/test
//! ```
//!
//! A request's body is a list of `{"url": ..., "arguments": ...}`: each url is sent its arguments, with the trace of the
//! request and a span of its own.

use std::convert::Infallible;
use std::error::Error;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming as Body;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use json::Value;
use telemetry::context::{TRACEPARENT, TRACESTATE, TraceContext};
use telemetry::export::Queue;
use telemetry::trace::{self, Describe, Incoming, Name, Outgoing, Sampling, Tracer, Trust};
use tokio::net::{TcpListener, TcpStream};

type Failure = Box<dyn Error + Send + Sync>;

struct Post;

impl Describe for Post {
    fn name(&self, out: &mut Name<'_>) {
        out.push("POST");
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0")).await?;
    println!("http://{}/test", listener.local_addr()?);
    let tracer = Arc::new(Tracer::new(Arc::new(Queue::new(1000))));
    tracer.set(Some(Sampling { per_million: 0 }));
    loop {
        let (stream, _) = listener.accept().await?;
        let tracer = tracer.clone();
        let service = service_fn(move |request| answer(tracer.clone(), request));
        let server = hyper::server::conn::http1::Builder::new();
        tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
    }
}

async fn answer(
    tracer: Arc<Tracer>,
    request: Request<Body>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut traced = tracer.request();
    let done = {
        let mut work = pin!(forward(&tracer, request));
        std::future::poll_fn(|context| traced.enter(|| work.as_mut().poll(context))).await
    };
    traced.finish(|| Post);
    // Nobody takes it from there.
    while tracer.queue().pop().is_some() {}
    let mut response = Response::new(Full::default());
    if let Err(error) = done {
        *response.status_mut() = http::StatusCode::BAD_GATEWAY;
        *response.body_mut() = error.to_string().into();
    }
    Ok(response)
}

async fn forward(tracer: &Tracer, request: Request<Body>) -> Result<(), Failure> {
    let headers = request.headers();
    let incoming = Incoming {
        context: TraceContext::read(all(headers, TRACEPARENT), all(headers, TRACESTATE)),
        baggage: None,
    };
    tracer.begin(incoming, Trust::Parent, "suite", trace::now());
    let body = request.into_body().collect().await?.to_bytes();
    let Value::Array(calls) = json::parse(&body)? else {
        return Err("not a list".into());
    };
    for call in &calls {
        let url = call.str_at(&["url"]).unwrap_or_default();
        let arguments = json::to_vec(call.get("arguments").unwrap_or(&Value::Null));
        let _span = trace::span("HTTP POST").client();
        post(&url.parse()?, arguments).await?;
    }
    Ok(())
}

fn all<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a [u8]> {
    headers.get_all(name).iter().map(HeaderValue::as_bytes)
}

async fn post(url: &Uri, body: Vec<u8>) -> Result<(), Failure> {
    let place = url.authority().ok_or("no host")?;
    let stream = TcpStream::connect(place.as_str()).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut request = Request::post(url.path())
        .header(HOST, place.as_str())
        .header(CONTENT_TYPE, "application/json");
    let outgoing = trace::outgoing();
    for (name, value) in outgoing.iter().flat_map(Outgoing::headers) {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::from(body)))?;
    sender
        .send_request(request)
        .await?
        .into_body()
        .collect()
        .await?;
    Ok(())
}
