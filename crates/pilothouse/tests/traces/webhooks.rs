//! Calls of others are a part of the trace. What those ask in turn: `call_back.rs`.

use http::Method;
use json::{Value, json};
use telemetry::otlp;
use telemetry::trace::Sampling;
use testkit::collector::Listen;
use testkit::proxy::Proxy;

use crate::hook::{self, Hook};
use crate::registered::{self, webhook};
use crate::{ALL, World, admin, ask, caller, everything, named, recorded, world};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

pub(crate) async fn register(world: &World, kind: &str, clients: Vec<Value>) {
    let webhooks = clients.into_iter().enumerate().map(|(index, client)| {
        let name = format!("hook{index}.example.com");
        webhook(client, json!({"name": name, "timeoutSeconds": 30}))
    });
    registered::register(world, kind, "conf", webhooks.collect()).await;
}

#[tokio::test]
async fn webhooks_are_told_of_the_span_that_calls_them() {
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
}

/// Where nothing is recorded, webhooks still learn to which trace they belong.
#[tokio::test]
async fn context_goes_through() {
    let world = world(ALL).await;
    world.server.api.tracer().set(None);
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

/// Custom objects at another version, from the one who defined them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversions() {
    let world = world(ALL).await;
    let hook = Hook::start(|_, review| {
        let at = |path: &[&str]| review.at(path).cloned().unwrap_or_default();
        let mut objects = at(&["request", "objects"]);
        for object in objects.as_array_mut().into_iter().flatten() {
            let fields = object.as_object_mut().expect("an object");
            fields.insert("apiVersion", at(&["request", "desiredAPIVersion"]));
        }
        let success = json!({"status": "Success"});
        hook::Reply::Raw(200, registered::converted(review, success, objects))
    })
    .await;
    registered::widgets(&world, hook.url("/convert")).await;
    let widget =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}});
    let path = "/apis/example.com/v1/namespaces/default/widgets";
    world.make(path, widget).await;
    recorded(&world);
    let told = hook.parents.lock().expect("no panic").len();
    let what = (
        Method::GET,
        "/apis/example.com/v2/namespaces/default/widgets/w",
    );
    let found = ask(&world, &admin(), what, &[], &Value::Null).await;
    assert_eq!(found.status(), 200);
    let traces = recorded(&world);
    let span = named(&traces[0], "Call conversion webhook");
    assert_eq!(
        span.text("custom-resource-definition"),
        "widgets.example.com"
    );
    assert_eq!(span.text("desired-api-version"), "example.com/v2");
    assert_eq!(span.attribute("object-count"), Some(&otlp::Value::Int(1)));
    assert!(!span.text("UID").is_empty());
    let events: Vec<_> = span.events.iter().map(|it| &*it.name).collect();
    assert_eq!(events, ["Request completed"]);
    let call = named(&traces[0], "HTTP POST");
    assert_eq!((call.kind, call.parent), (3, span.span_id));
    let told = hook.parents.lock().expect("no panic")[told..].to_vec();
    assert_eq!(told, [format!("00-{}-{}-03", call.trace_id, call.span_id)]);
}

/// A proxy on the way to a webhook takes its time, too.
#[tokio::test]
async fn proxies() {
    let folder = tempfile::tempdir().expect("a directory");
    let socket = folder.path().join("proxy.sock");
    let proxy = Proxy::on(&Listen::Socket(socket.clone()), None);
    let selector = format!(
        "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n\
         - name: cluster\n  connection: {{proxyProtocol: HTTPConnect, transport: {{uds: {{udsName: {}}}}}}}\n",
        socket.display()
    );
    let selector = egress::Selector::parse(selector.as_bytes()).expect("a selector");
    let world = World::with(move |options| options.egress = selector).await;
    let tracer = world.server.api.tracer();
    tracer.set(Some(Sampling { per_million: ALL }));
    let hook = Hook::start(|_, _| hook::allow()).await;
    register(&world, "validating", vec![hook.url("/")]).await;
    recorded(&world);
    let map = json!({"metadata": {"name": "m"}});
    let json = [("content-type", "application/json")];
    let made = ask(&world, &admin(), (Method::POST, MAPS), &json, &map).await;
    assert_eq!(made.status(), 201);
    let traces = recorded(&world);
    let span = named(&traces[0], "Proxy via http_connect protocol over uds");
    assert_eq!(span.text("address"), format!("127.0.0.1:{}", hook.port));
    assert_eq!(span.parent, named(&traces[0], "HTTP POST").span_id);
    assert_eq!(proxy.asked().len(), 1);
}

/// Who finds no seat is refused, and the trace says where. Who goes away meanwhile leaves one, too.
#[tokio::test]
async fn no_place() {
    let world = World::with(|options| {
        options.settings.max_requests_inflight = 0;
        options.settings.max_mutating_requests_inflight = 1;
        options.modes = vec![auth::authorizer::Mode::AlwaysAllow];
    })
    .await;
    let tracer = world.server.api.tracer();
    tracer.set(Some(Sampling { per_million: ALL }));
    let hook = Hook::start(|_, _| hook::Reply::Silence).await;
    register(&world, "validating", vec![hook.url("/")]).await;
    recorded(&world);
    let map = json!({"metadata": {"name": "m"}});
    let json = [("content-type", "application/json")];
    let jane = caller("jane", &["system:authenticated"]);
    let create = || ask(&world, &jane, (Method::POST, MAPS), &json, &map);
    let refused = async {
        while hook.asked().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        create().await
    };
    tokio::select! {
        made = create() => panic!("{}", made.status()),
        refused = refused => assert_eq!(refused.status(), 429),
    }
    let traces = everything(&world);
    let with = |name: &str| traces.iter().find(|it| it.iter().any(|it| it.name == name));
    let spans = with("abandoned").expect("a trace of who went away");
    assert!(named(spans, "abandoned").is_error);
    named(spans, "HTTP POST");
    let name = "POST /api/v1/namespaces/{:namespace}/configmaps";
    let spans = with(name).expect("a trace of who was refused");
    let root = named(spans, name);
    let code = Some(&otlp::Value::Int(429));
    assert_eq!(root.attribute("http.response.status_code"), code);
    named(spans, "priorityandfairness");
    assert!(spans.iter().all(|it| it.name != "authorization"));
}
