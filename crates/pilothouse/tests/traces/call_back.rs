//! The example webhook, which asks the API server for something while that waits for its answer: what the two of them
//! did is one trace, though each sends its spans to a collector of its own.

#[path = "../../examples/tracing_webhook/webhook.rs"]
mod webhook;

use std::path::{Path, PathBuf};

use auth::token_file::StaticTokens;
use http::Method;
use json::{Value, json};
use pilothouse::tracing::Tracing;
use telemetry::config::Environment;
use telemetry::otlp::{self, Span};
use telemetry::trace::Sampling;
use testkit::collector::Collector;
use webhook::Webhook;

use crate::{ALL, World, admin, ask, named, text};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// As whom the webhook may ask: one whose context counts, and one whose does not.
const TOKENS: &str = "\
monitor-token,monitor,monitor-uid,system:monitoring
plain-token,plain,plain-uid
";

/// `spec` says where the collector is.
fn file(folder: &Path, name: &str, spec: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, spec).expect("a file");
    path
}

fn kubeconfig(world: &World, user: &str) -> Value {
    // The admin's, whose part is taken by another.
    let mut config = yaml::to_json(world.server.kubeconfig.as_bytes()).expect("YAML");
    let token = json!([{"name": user, "user": {"token": (format!("{user}-token"))}}]);
    let fields = config.as_object_mut().expect("an object");
    fields.insert("users", token);
    config
}

/// What a collector took, of one that sends.
fn taken(collector: &Collector, service: &str) -> Vec<Span> {
    let all = collector.received().into_iter().flat_map(|it| {
        assert_eq!(
            it.path,
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
        );
        otlp::request(&it.message).expect("OTLP")
    });
    let all = all.flat_map(|it| {
        let name = otlp::Value::Text(service.to_owned());
        assert!(it.resource.contains(&("service.name".into(), name)));
        it.spans
    });
    all.collect()
}

/// What the API server and the webhook sent, of one change that the webhook was asked about as `user`.
async fn change(user: &str) -> (Vec<Span>, Vec<Span>) {
    let (servers, hooks) = (Collector::start(), Collector::start());
    let folder = tempfile::tempdir().expect("a directory");
    let config = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n\
         endpoint: 127.0.0.1:{}\n",
        servers.served.port()
    );
    let config = file(folder.path(), "server.yaml", &config);
    let none = egress::Selector::default();
    let tracing =
        Tracing::start(&config, Environment::default(), none, "test", None).expect("tracing");
    let tracer = tracing.tracer.clone();
    let world = World::with(|options| {
        options.tracer = tracer.clone();
        options.tokens = StaticTokens::parse(TOKENS).expect("tokens");
    })
    .await;
    let group = "rbac.authorization.k8s.io";
    let role = json!({
        "metadata": {"name": "hook"},
        "rules": [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}],
    });
    let roles = format!("/apis/{group}/v1/clusterroles");
    world.make(&roles, role).await;
    let binding = json!({
        "metadata": {"name": "hook"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "hook"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    });
    let bindings = format!("/apis/{group}/v1/clusterrolebindings");
    world.make(&bindings, binding).await;
    // By KEP-647's own kind; who asks to be recorded is, others are not.
    let config = format!(
        "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: OpenTelemetryClientConfiguration\n\
         url: http://127.0.0.1:{}\n",
        hooks.served.port()
    );
    let config = file(folder.path(), "hook.yaml", &config);
    let address = ([127, 0, 0, 1], 0).into();
    let webhook = Webhook::start(address, &kubeconfig(&world, user), &config).await;
    let webhook = webhook.expect("a webhook");
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    world.make(path, webhook.configuration()).await;

    let json = [("content-type", "application/json")];
    let map = json!({"metadata": {"name": "m"}});
    tracer.set(Some(Sampling { per_million: ALL }));
    let made = ask(&world, &admin(), (Method::POST, MAPS), &json, &map).await;
    let (code, said) = (made.status(), text(made).await);
    assert_eq!(code, 201, "{said}");
    tracer.set(None);

    // It does decide something.
    let frozen = json!({"metadata": {"labels": {"frozen": "true"}}});
    let frozen = world
        .client
        .merge_patch("/api/v1/namespaces/default", &frozen);
    frozen.await.expect("a label");
    let map = json!({"metadata": {"name": "n"}});
    let refused = ask(&world, &admin(), (Method::POST, MAPS), &json, &map).await;
    let refused = text(refused).await;
    assert!(refused.contains("the namespace is frozen"), "{refused}");

    for report in [webhook.stop().await, tracing.stop(crate::FLUSH).await] {
        assert_eq!((report.dropped, report.failed), (0, 0));
    }
    (
        taken(&servers, "apiserver"),
        taken(&hooks, "frozen-webhook"),
    )
}

const CREATE: &str = "POST /api/v1/namespaces/{:namespace}/configmaps";
const GET: &str = "GET /api/v1/namespaces/{:namespace}/namespaces/{:name}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_calls_back_joins_the_trace() {
    let (servers, hooks) = change("monitor").await;
    // From the request to the one that it led to, by way of the webhook. Kinds: 2 serves, 3 calls.
    let mut above = named(&servers, "Call validating webhook");
    let trace = named(&servers, CREATE).trace_id;
    for (spans, name, kind) in [
        (&servers, "HTTP POST", 3),
        (&hooks, "POST /frozen", 2),
        (&hooks, "HTTP GET", 3),
        (&servers, GET, 2),
    ] {
        let span = named(spans, name);
        assert_eq!(
            (span.trace_id, span.parent),
            (trace, above.span_id),
            "{name}"
        );
        assert_eq!(span.kind, kind, "{name}");
        assert!(span.links.is_empty());
        above = span;
    }
    assert_eq!(
        named(&servers, GET).text("user_agent.original"),
        "frozen-webhook"
    );
    assert_eq!(named(&servers, CREATE).parent, otlp::Id::default());
    let events: Vec<_> = named(&hooks, "POST /frozen").events.iter().collect();
    assert!(
        matches!(*events, [it] if it.name == "Allowed"),
        "{events:?}"
    );
    // The second change was not recorded by the server, nor by the webhook that it told so.
    assert_eq!(hooks.len(), 2);
}

/// The context of one who may not be a parent is a link, and what it asks a trace of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_without_privileges_does_not() {
    let (servers, hooks) = change("plain").await;
    let call = named(&hooks, "HTTP GET");
    assert_eq!(call.trace_id, named(&servers, CREATE).trace_id);
    let back = named(&servers, GET);
    assert_ne!(back.trace_id, call.trace_id);
    assert!(back.parent.is_none());
    let [link] = &*back.links else {
        panic!("{:?}", back.links);
    };
    assert_eq!((link.trace_id, link.span_id), (call.trace_id, call.span_id));
}
