//! A watch that goes on for long is a short span when it is opened, and further ones of what it sent, linked to that.

use std::time::Instant;

use http::Method;
use http_body_util::BodyExt as _;
use json::{Value, json};
use telemetry::otlp::{self, Span};

use crate::{ALL, World, admin, ask, everything, named, recorded, world};

const NODES: &str = "/api/v1/nodes";

async fn open(world: &World) -> apiserver::body::Body {
    let now = world.server.api.store().latest().revision();
    let path = format!("{NODES}?watch=true&resourceVersion={now}");
    let response = ask(world, &admin(), (Method::GET, &path), &[], &Value::Null).await;
    assert_eq!(response.status(), 200);
    response.into_body()
}

async fn node(world: &World, name: &str) -> String {
    let made = world.make(NODES, json!({"metadata": {"name": name}})).await;
    let version = made.str_at(&["metadata", "resourceVersion"]);
    version.unwrap_or_default().to_owned()
}

/// Of what was sent.
fn batches(world: &World) -> Vec<Span> {
    let all = everything(world).into_iter().flatten();
    all.filter(|it| it.name == "WatchServer.SendEvents")
        .collect()
}

fn int(span: &Span, key: &str) -> i64 {
    match span.attribute(key) {
        Some(otlp::Value::Int(number)) => *number,
        other => panic!("{key} is {other:?}"),
    }
}

#[tokio::test]
async fn what_is_sent_is_linked_to_what_was_opened() {
    let world = world(ALL).await;
    recorded(&world);
    let mut body = open(&world).await;
    // It is there at once, not when the watch is over.
    let traces = recorded(&world);
    let opened = named(&traces[0], "GET /api/v1/nodes");
    named(&traces[0], "WatchServer.HandleHTTP");

    let version = node(&world, "a").await;
    let frame = body.frame().await.expect("an event").expect("an event");
    let size = frame.data_ref().map_or(0, bytes::Bytes::len);
    drop(body);
    let batches = batches(&world);
    let [batch] = &*batches else {
        panic!("{batches:?}");
    };
    assert_ne!(batch.trace_id, opened.trace_id);
    assert!(batch.parent.is_none());
    let [link] = &*batch.links else {
        panic!("{:?}", batch.links);
    };
    let to = (opened.trace_id, opened.span_id);
    assert_eq!((link.trace_id, link.span_id), to);
    assert_eq!(batch.kind, 1);
    assert_eq!(int(batch, "count"), 1);
    assert_eq!(usize::try_from(int(batch, "size")), Ok(size));
    assert_eq!(batch.text("resource-version"), version);
    assert_eq!((batch.text("group"), batch.text("resource")), ("", "nodes"));
    assert!(opened.end <= batch.end && batch.start <= batch.end);
}

/// However many events there are, there are few spans, and all events are in one of them.
#[tokio::test]
async fn they_are_few() {
    let world = world(ALL).await;
    let mut body = open(&world).await;
    recorded(&world);
    let begun = Instant::now();
    for index in 0..20 {
        node(&world, &format!("n{index}")).await;
        body.frame().await.expect("an event").expect("an event");
    }
    drop(body);
    let seconds = usize::try_from(begun.elapsed().as_secs()).unwrap_or(usize::MAX);
    let batches = batches(&world);
    assert_eq!(batches.iter().map(|it| int(it, "count")).sum::<i64>(), 20);
    // One at once, one for each second, and the rest at the end.
    assert!(batches.len() <= seconds + 2, "{}", batches.len());
}

/// What waits for its time is told when that has come, though nothing happens.
#[tokio::test]
async fn they_do_not_wait_for_the_next_event() {
    let world = world(ALL).await;
    let mut body = open(&world).await;
    for name in ["a", "b"] {
        node(&world, name).await;
        body.frame().await.expect("an event").expect("an event");
    }
    let told = async {
        let mut count = 0;
        while count < 2 {
            let quiet = tokio::time::sleep(std::time::Duration::from_millis(50));
            tokio::select! {
                frame = body.frame() => panic!("{frame:?}"),
                () = quiet => {}
            }
            count += batches(&world)
                .iter()
                .map(|it| int(it, "count"))
                .sum::<i64>();
        }
    };
    let limit = std::time::Duration::from_secs(60);
    tokio::time::timeout(limit, told).await.expect("both");
}

#[tokio::test]
async fn an_unrecorded_watch_tells_nothing() {
    let world = world(0).await;
    let mut body = open(&world).await;
    world
        .server
        .api
        .tracer()
        .set(Some(telemetry::trace::Sampling { per_million: ALL }));
    node(&world, "a").await;
    body.frame().await.expect("an event").expect("an event");
    drop(body);
    assert!(batches(&world).is_empty());
}

/// Nobody waits for what the server tells itself; what it does besides is recorded as what others do.
#[tokio::test]
async fn watches_within_the_process_are_quiet() {
    let world = world(ALL).await;
    everything(&world);
    let path = format!("{NODES}?watch=true");
    let mut watch = world.client.watch(&path).await.expect("a watch");
    node(&world, "a").await;
    watch.next().await.expect("an event");
    drop(watch);
    let spans: Vec<_> = everything(&world).into_iter().flatten().collect();
    named(&spans, "POST /api/v1/nodes");
    let watches = ["cacher.Watch", "WatchServer.SendEvents"];
    assert!(spans.iter().all(|it| !watches.contains(&&*it.name)));
}
