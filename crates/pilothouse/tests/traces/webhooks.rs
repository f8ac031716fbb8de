//! Calls of others are a part of the trace, and what those ask in turn is too.

use http::Method;
use json::{Value, json};
use telemetry::otlp;

use crate::hook::{self, Hook};
use crate::{ALL, World, admin, ask, named, recorded, world};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

pub(crate) async fn register(world: &World, kind: &str, clients: Vec<Value>) {
    let webhooks = clients.into_iter().enumerate().map(|(index, client)| {
        json!({
            "name": (format!("hook{index}.example.com")),
            "clientConfig": client,
            "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 30,
        })
    });
    let webhooks: Vec<_> = webhooks.collect();
    let path = format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations");
    let object = json!({"metadata": {"name": "conf"}, "webhooks": webhooks});
    world.make(&path, object).await;
}

#[tokio::test]
async fn a_webhook_that_calls_back_joins_the_trace() {
    let world = world(ALL).await;
    let hook = Hook::start(|path, _| match path {
        "/mutate" => hook::patch(&json!([{"op": "add", "path": "/data/b", "value": "c"}])),
        _ => hook::allow(),
    })
    .await;
    register(&world, "mutating", vec![hook.url("/mutate")]).await;
    let both = vec![hook.url("/one"), hook.url("/two")];
    register(&world, "validating", both).await;
    recorded(&world);
    let map = json!({"metadata": {"name": "m"}, "data": {"a": "b"}});
    let json = [("content-type", "application/json")];
    let made = ask(&world, &admin(), (Method::POST, MAPS), &json, &map).await;
    assert_eq!(made.status(), 201);
    let traces = recorded(&world);
    let spans = &traces[0];
    let mutating = named(spans, "Call mutating webhook");
    for (key, expected) in [
        ("configuration", "conf"),
        ("webhook", "hook0.example.com"),
        ("resource", "/v1, Resource=configmaps"),
        ("operation", "CREATE"),
    ] {
        assert_eq!(mutating.text(key), expected);
    }
    assert!(!mutating.text("UID").is_empty());
    let events: Vec<_> = mutating.events.iter().map(|it| &*it.name).collect();
    assert_eq!(events, ["Request completed", "Patch applied"]);
    let plugin = named(spans, "MutatingAdmissionWebhook");
    assert_eq!(mutating.parent, plugin.span_id);
    // Those that are called at once lie beside each other.
    let plugin = named(spans, "ValidatingAdmissionWebhook");
    let validating = spans
        .iter()
        .filter(|it| it.name == "Call validating webhook");
    let validating: Vec<_> = validating.collect();
    assert_eq!(validating.len(), 2);
    assert!(validating.iter().all(|it| it.parent == plugin.span_id));
    let calls: Vec<_> = spans.iter().filter(|it| it.name == "HTTP POST").collect();
    assert_eq!(calls.len(), 3);
    for (call, above) in calls.iter().zip([mutating, validating[0], validating[1]]) {
        assert_eq!((call.kind, call.parent), (3, above.span_id));
        assert_eq!(call.text("http.request.method"), "POST");
        assert_eq!(call.text("server.address"), "127.0.0.1");
        let code = Some(&otlp::Value::Int(200));
        assert_eq!(call.attribute("http.response.status_code"), code);
        assert!(call.text("url.full").starts_with("https://127.0.0.1:"));
    }
    // Each was told of the span that called it.
    let mut told = hook.parents.lock().expect("no panic").clone();
    let of = |span: &otlp::Span| format!("00-{}-{}-03", span.trace_id, span.span_id);
    let mut expected: Vec<_> = calls.iter().map(|it| of(it)).collect();
    expected.sort();
    told.sort();
    assert_eq!(told, expected);
    // And with that a question of its own is a part of the same trace.
    let parent = of(calls[0]);
    let back = [("traceparent", &*parent)];
    let what = (Method::GET, "/api/v1/namespaces/default/configmaps/m");
    ask(&world, &admin(), what, &back, &Value::Null).await;
    let traces = recorded(&world);
    let root = named(
        &traces[0],
        "GET /api/v1/namespaces/{:namespace}/configmaps/{:name}",
    );
    assert_eq!(root.trace_id, calls[0].trace_id);
    assert_eq!(root.parent, calls[0].span_id);
}

/// Where nothing is recorded, webhooks still learn to which trace they belong.
#[tokio::test]
async fn context_goes_through() {
    let world = world(ALL).await;
    world.server.api.tracer.set(None);
    let hook = Hook::start(|_, _| hook::allow()).await;
    register(&world, "validating", vec![hook.url("/")]).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let headers = [
        ("content-type", "application/json"),
        ("traceparent", parent),
    ];
    let map = json!({"metadata": {"name": "m"}});
    ask(&world, &admin(), (Method::POST, MAPS), &headers, &map).await;
    let told = hook.parents.lock().expect("no panic").clone();
    assert_eq!(told, [parent]);
}

#[tokio::test]
async fn a_webhook_that_fails_is_seen_to() {
    let world = world(ALL).await;
    let hook = Hook::start(|_, _| hook::Reply::Raw(500, b"oh".to_vec())).await;
    register(&world, "validating", vec![hook.url("/")]).await;
    recorded(&world);
    let map = json!({"metadata": {"name": "m"}});
    let json = [("content-type", "application/json")];
    let refused = ask(&world, &admin(), (Method::POST, MAPS), &json, &map).await;
    assert_eq!(refused.status(), 500);
    let traces = recorded(&world);
    let spans = &traces[0];
    assert!(named(spans, "HTTP POST").is_error);
    assert!(named(spans, "Call validating webhook").is_error);
    let root = named(spans, "POST /api/v1/namespaces/{:namespace}/configmaps");
    assert!(root.is_error);
}
