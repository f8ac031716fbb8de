//! Traces of requests, as whoever looks at them meets them. The tables are those that kube-apiserver's own integration test
//! of tracing asks for, but for what is not here: etcd where the store is embedded.

#[path = "traces/answers.rs"]
mod answers;
#[path = "traces/call_back.rs"]
mod call_back;
#[path = "traces/export.rs"]
mod export;
#[path = "webhooks/hook.rs"]
#[allow(dead_code, reason = "other stories use the rest")]
mod hook;
#[path = "traces/kept.rs"]
mod kept;
#[path = "traces/otelcol.rs"]
mod otelcol;
#[path = "traces/policies.rs"]
mod policies;
#[path = "traces/receiver.rs"]
mod receiver;
#[path = "webhooks/registered.rs"]
mod registered;
#[path = "traces/tables.rs"]
mod tables;
#[path = "traces/trust.rs"]
mod trust;
#[path = "traces/watches.rs"]
mod watches;
#[path = "traces/webhooks.rs"]
mod webhooks;
#[path = "world/world.rs"]
mod world;

use std::sync::Arc;
use std::time::Duration;

use apiserver::incoming::RequestBody;
use apiserver::pipeline::Caller;
use apiserver::server::Peer;
use auth::User;
use http::{Method, Request, Response, Version};
use http_body_util::BodyExt as _;
use json::Value;
use telemetry::otlp::{self, Span};
use telemetry::trace::Sampling;
use world::World;

const ALL: u32 = 1_000_000;
const AGENT: &str = "tracing.test/v1";
/// However busy the machine is, a stop sends what is left.
const FLUSH: Duration = Duration::from_secs(600);

/// A server that records so many of a million requests that nobody decided about.
async fn world(per_million: u32) -> World {
    let world = World::start().await;
    let tracer = world.server.api.tracer();
    tracer.set(Some(Sampling { per_million }));
    world
}

/// Somebody on the network.
fn caller(name: &str, groups: &[&str]) -> Caller {
    let user = Arc::new(User::new(name, groups));
    Caller::Remote {
        peer: Peer {
            address: ([127, 0, 0, 1], 4711).into(),
            certificates: Vec::new(),
        },
        trusted: true,
        known: Some((user, (0, i64::MAX))),
        proxy: None,
        memory: Arc::default(),
        encoded: std::sync::OnceLock::new(),
    }
}

fn admin() -> Caller {
    caller("admin", &["system:masters", "system:authenticated"])
}

async fn ask(
    world: &World,
    caller: &Caller,
    (method, path): (Method, &str),
    headers: &[(&str, &str)],
    body: &Value,
) -> Response<apiserver::body::Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .version(Version::HTTP_2)
        .header("user-agent", AGENT);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    let body = match body {
        Value::Null => Vec::new(),
        body => json::to_vec(body),
    };
    let body = RequestBody::Bytes(body.into());
    apiserver::pipeline::handle(&world.server.api, caller, parts, body).await
}

async fn text(response: Response<apiserver::body::Body>) -> String {
    let body = response.into_body().collect().await;
    let body = body.expect("bodies do not fail").to_bytes();
    String::from_utf8_lossy(&body).into_owned()
}

/// All that was recorded since the last time: each trace's spans, in their order.
fn everything(world: &World) -> Vec<Vec<Span>> {
    let queue = world.server.api.tracer().queue();
    let mut all = Vec::new();
    while let Some(chunk) = queue.pop() {
        let items = chunk.items();
        all.extend(items.map(|(it, _)| otlp::scope_spans(it).expect("what we write we read")));
    }
    all
}

/// The same of our requests.
fn recorded(world: &World) -> Vec<Vec<Span>> {
    let all = everything(world).into_iter();
    // The server asks itself things, too.
    let is_ours = |it: &Span| it.text("user_agent.original") == AGENT;
    all.filter(|spans| spans.iter().any(is_ours)).collect()
}

#[track_caller]
fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found = spans.iter().find(|it| it.name == name);
    let names: Vec<_> = spans.iter().map(|it| &*it.name).collect();
    found.unwrap_or_else(|| panic!("no span {name:?} among {names:?}"))
}
