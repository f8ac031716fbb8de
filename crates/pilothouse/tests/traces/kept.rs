//! Traces read from the server itself, and other programs' spans among them.

use std::sync::Arc;

use http::Method;
use json::{Value, json};
use pilothouse::tracing::Tracing;
use telemetry::config::Environment;
use telemetry::otlp;
use telemetry::recent::Recent;

use crate::hook::{self, Hook};
use crate::webhooks::register;
use crate::{ALL, World, admin, ask, caller, text};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

/// A server that keeps what it records.
async fn world(bytes: usize) -> (World, Tracing) {
    let recent = Arc::new(Recent::new(bytes));
    let tracing = Tracing::keep(&recent, ALL, &Environment::default(), "test").expect("tracing");
    let tracer = tracing.tracer.clone();
    let world = World::with(|options| {
        options.tracer = tracer;
        options.recent = Some(recent);
    });
    (world.await, tracing)
}

async fn get(world: &World, path: &str) -> (u16, Value) {
    let response = ask(world, &admin(), (Method::GET, path), &[], &Value::Null).await;
    let code = response.status().as_u16();
    let body = text(response).await;
    let body = json::parse(body.as_bytes()).unwrap_or_else(|_| panic!("{code} {body}"));
    (code, body)
}

async fn list(world: &World, query: &str) -> Vec<Value> {
    let (code, found) = get(world, &format!("/debug/traces?{query}")).await;
    assert_eq!(code, 200, "{found}");
    found
        .get("traces")
        .and_then(Value::as_array)
        .cloned()
        .expect("a list")
}

fn trace_id(response: &http::Response<apiserver::body::Body>) -> String {
    let timing = response.headers().get("server-timing").expect("a trace");
    let timing = timing.to_str().expect("a text");
    timing.split('-').nth(1).expect("an id").to_owned()
}

#[tokio::test]
async fn a_request_is_found_as_soon_as_it_is_answered() {
    let (world, tracing) = world(4 << 20).await;
    let map = json!({"metadata": {"name": "m"}, "data": {"password": "hunter2"}});
    let made = ask(&world, &admin(), (Method::POST, MAPS), &JSON, &map).await;
    assert_eq!(made.status(), 201);
    let id = trace_id(&made);
    let audit = made.headers().get("audit-id").expect("an id");
    let audit = audit.to_str().expect("a text").to_owned();
    // The server asks itself things, too.
    let ours = "attribute=user_agent.original%3Dtracing.test/v1";
    for query in [
        format!("traceID={id}"),
        format!("auditID={audit}"),
        format!("name=configmaps&attribute=http.request.method%3DPOST&{ours}"),
        format!("name=store.commit&attribute=service.name%3Dapiserver&error=false&{ours}"),
        "attribute=resource%3Dconfigmaps&attribute=verb%3DPOST&attribute=namespace%3Ddefault&sort=duration"
            .to_owned(),
        format!("name=Create&maxDuration=1h&minDuration=1ns&{ours}"),
    ] {
        let found = list(&world, &query).await;
        assert_eq!(found.len(), 1, "{query}");
        let name = "POST /api/v1/namespaces/{:namespace}/configmaps";
        assert_eq!(found[0].str_at(&["rootTraceName"]), Some(name));
        assert_eq!(found[0].str_at(&["traceID"]), Some(&*id));
        assert_eq!(found[0].str_at(&["auditID"]), Some(&*audit));
        assert_eq!(
            found[0].get("statusCode").and_then(Value::as_i64),
            Some(201)
        );
    }
    for query in [
        "name=nothing",
        "minDuration=1h",
        "traceID=00000000000000000000000000000001",
    ] {
        assert_eq!(list(&world, query).await.len(), 0, "{query}");
    }
    // All of it, as OTLP has it, and the same in protobuf.
    let (code, found) = get(&world, &format!("/debug/traces/{id}")).await;
    assert_eq!(code, 200);
    assert!(!json::to_string(&found).contains("hunter2"));
    let bytes = otlp::from_json(&found).expect("OTLP");
    let spans = &otlp::request(&bytes).expect("OTLP")[0];
    assert!(spans.spans.iter().any(|it| it.name == "Create etcd3"));
    assert!(spans.spans.iter().all(|it| it.trace_id.to_string() == id));
    let path = format!("/debug/traces/{id}");
    let accept = [("accept", "application/x-protobuf")];
    let answer = ask(
        &world,
        &admin(),
        (Method::GET, &path),
        &accept,
        &Value::Null,
    )
    .await;
    let kind = answer.headers().get("content-type").cloned();
    assert_eq!(kind.expect("a type"), "application/x-protobuf");
    // An error is marked, and told from the rest.
    let (code, _) = get(&world, "/debug/traces/00000000000000000000000000000001").await;
    assert_eq!(code, 404);
    let report = tracing.stop(crate::FLUSH).await;
    assert!(report.exported > 0);
    assert_eq!((report.dropped, report.failed), (0, 0));
}

#[tokio::test]
async fn mistakes_are_named() {
    let (world, _tracing) = world(1 << 20).await;
    // What is looked for is looked for in all spans that there are.
    let long = format!("?name={}", "a".repeat(1025));
    let many = format!("?attribute=a=b{}", "&attribute=a=b".repeat(16));
    for (path, expected) in [
        (
            "?limit=5000",
            "invalid value \"5000\" of parameter limit: it is from 1 to 1000",
        ),
        ("?minDuration=5", "of parameter minDuration"),
        ("?nam=x", "unknown parameter \"nam\""),
        ("/xyz", "\"xyz\" is no trace id"),
        (&long, "parameter name has more than 1024 bytes"),
        (&many, "there are at most 16"),
    ] {
        let (code, status) = get(&world, &format!("/debug/traces{path}")).await;
        let message = status.str_at(&["message"]).unwrap_or_default();
        assert!(
            code == 400 && message.contains(expected),
            "{path}: {code} {message}"
        );
        assert_eq!(status.str_at(&["reason"]), Some("BadRequest"));
    }
    let posted = ask(
        &world,
        &admin(),
        (Method::POST, "/debug/traces"),
        &JSON,
        &json!({}),
    )
    .await;
    assert_eq!(posted.status(), 405);
    let below = ask(
        &world,
        &admin(),
        (Method::GET, "/debug/traces/a/b"),
        &[],
        &Value::Null,
    )
    .await;
    assert_eq!(below.status(), 404);
}

#[tokio::test]
async fn who_may_not_read_the_path_sees_nothing() {
    let (world, _tracing) = world(1 << 20).await;
    let id = "00000000000000000000000000000001";
    for path in ["/debug/traces".to_owned(), format!("/debug/traces/{id}")] {
        let code = async |caller| {
            let answer = ask(&world, &caller, (Method::GET, &path), &[], &Value::Null).await;
            let code = answer.status().as_u16();
            (code, text(answer).await)
        };
        let (denied, said) = code(caller("joe", &["system:authenticated"])).await;
        assert_eq!(denied, 403);
        assert!(
            said.contains(&format!("cannot get path \\\"{path}\\\"")),
            "{said}"
        );
        let (allowed, _) = code(caller("eve", &["system:monitoring"])).await;
        assert_ne!(allowed, 403);
    }
}

/// Where nothing is kept, whoever may ask is told which flag it takes.
#[tokio::test]
async fn without_the_flag() {
    let world = World::start().await;
    let (code, status) = get(&world, "/debug/traces").await;
    assert_eq!(code, 404);
    let message = status.str_at(&["message"]).unwrap_or_default();
    assert!(message.contains("--debug-traces"), "{message}");
}

/// Many more than there is room for: the bytes hold, and of an error something is left.
#[tokio::test]
async fn a_flood_leaves_what_failed() {
    let (world, tracing) = world(256 << 10).await;
    let hook = Hook::start(|_, _| hook::Reply::Raw(500, Vec::new())).await;
    register(&world, "validating", vec![hook.url("/")]).await;
    let map = json!({"metadata": {"name": "m"}});
    let failed = ask(&world, &admin(), (Method::POST, MAPS), &JSON, &map).await;
    assert_eq!(failed.status(), 500);
    let id = trace_id(&failed);
    for _ in 0..400 {
        let read = ask(&world, &admin(), (Method::GET, MAPS), &[], &Value::Null).await;
        assert_eq!(read.status(), 200);
    }
    let (_, found) = get(&world, "/debug/traces?error=true").await;
    let traces = found
        .get("traces")
        .and_then(Value::as_array)
        .expect("a list");
    assert!(traces.iter().any(|it| it.str_at(&["traceID"]) == Some(&id)));
    let number = |key| {
        found
            .at(&["kept", key])
            .and_then(Value::as_i64)
            .expect("a number")
    };
    assert!(
        number("evicted") > 0 && number("bytes") <= 256 << 10,
        "{found}"
    );
    let report = tracing.stop(crate::FLUSH).await;
    assert_eq!((report.dropped, report.failed), (0, 0));
}
