//! One request of each verb: which spans, with which attributes and events.

use http::Method;
use json::{Value, json};
use telemetry::otlp::{self, Span};

use crate::{ALL, World, admin, ask, named, recorded, world};

const ACCEPT: &str = "application/vnd.kubernetes.protobuf, */*";
const ENCODER: &str = r#"{"encodeGV":"v1","encoder":"protobuf","name":"versioning"}"#;

/// A span's name, attributes (`*` for any value) and events.
type Expected<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

pub(crate) fn shown(value: Option<&otlp::Value>) -> String {
    match value {
        None => String::new(),
        Some(otlp::Value::Text(text)) => text.clone(),
        Some(otlp::Value::Int(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn check(spans: &[Span], (name, attributes, events): Expected<'_>) {
    let span = named(spans, name);
    for (key, expected) in attributes {
        let found = shown(span.attribute(key));
        let fits = match *expected {
            "*" => !found.is_empty(),
            expected => found == expected,
        };
        assert!(fits, "{name}: {key} is {found:?}, not {expected:?}");
    }
    let found: Vec<_> = span.events.iter().map(|it| &*it.name).collect();
    let mut rest = found.iter();
    for event in events {
        assert!(
            rest.any(|it| it == event),
            "{name}: no {event:?} in its place among {found:?}"
        );
    }
}

/// What every request of a resource has.
#[track_caller]
fn check_frame(spans: &[Span], root: &str, path: &str, method: &str, verb: &str) {
    let server: Expected<'_> = (
        root,
        &[
            ("user_agent.original", "tracing.test/v1"),
            ("url.path", path),
            ("url.scheme", "https"),
            ("http.request.method", method),
            ("network.peer.address", "127.0.0.1"),
            ("network.peer.port", "4711"),
            ("client.address", "127.0.0.1"),
            ("network.protocol.version", "2.0"),
            ("http.response.status_code", "*"),
            ("http.target", "*"),
            ("audit-id", "*"),
        ],
        &[],
    );
    check(spans, server);
    let handler: Expected<'_> = (
        verb,
        &[
            ("url", path),
            ("user-agent", "tracing.test/v1"),
            ("audit-id", "*"),
            ("client", "127.0.0.1"),
            ("accept", ACCEPT),
            ("protocol", "HTTP/2.0"),
            ("api-version", "v1"),
            ("resource", "nodes"),
            ("scope", "*"),
            ("verb", "*"),
        ],
        &[],
    );
    check(spans, handler);
    let root = named(spans, root);
    assert_eq!(root.kind, 2);
    // One root, that covers authentication too; the stations before the verb lie within each other.
    assert!(spans.iter().all(|it| it.trace_id == root.trace_id));
    assert_eq!(spans.iter().filter(|it| it.parent.is_none()).count(), 1);
    assert_eq!(named(spans, "authentication").parent, root.span_id);
    let mut above = root;
    for name in [
        "audit",
        "constrainedimpersonation",
        "priorityandfairness",
        "authorization",
        verb,
    ] {
        let span = named(spans, name);
        assert_eq!(span.parent, above.span_id, "{name}");
        assert!(above.start <= span.start && span.end <= above.end);
        above = span;
    }
}

fn answer<'a>(path: &'a str, method: &'a str) -> [(&'a str, &'a str); 6] {
    [
        ("url", path),
        ("audit-id", "*"),
        ("protocol", "HTTP/2.0"),
        ("method", method),
        ("mediaType", "application/vnd.kubernetes.protobuf"),
        ("encoder", ENCODER),
    ]
}

pub(crate) async fn one(
    world: &World,
    what: (Method, &str),
    content: &str,
    body: &Value,
) -> Vec<Span> {
    recorded(world);
    let headers = [("accept", ACCEPT), ("content-type", content)];
    let response = ask(world, &admin(), what, &headers, body).await;
    assert!(response.status().is_success(), "{}", response.status());
    let mut traces = recorded(world);
    assert_eq!(traces.len(), 1);
    traces.pop().unwrap_or_default()
}

pub(crate) const NODES: &str = "/api/v1/nodes";
pub(crate) const NODE: &str = "/api/v1/nodes/fake";
pub(crate) const JSON: &str = "application/json";
pub(crate) const WRITTEN: &[&str] = &["About to start writing response", "Write call succeeded"];

#[tokio::test]
async fn verbs() {
    let world = world(ALL).await;
    let node = json!({"metadata": {"name": "fake"}});

    let spans = one(&world, (Method::POST, NODES), JSON, &node).await;
    check_frame(&spans, "POST /api/v1/nodes", NODES, "POST", "Create");
    let events = [
        "limitedReadBody succeeded",
        "About to convert to expected version",
        "Conversion done",
        "About to store object in database",
        "Write to database call succeeded",
        "About to write a response",
        "Writing http response done",
    ];
    check(
        &spans,
        (
            "Create",
            &[("verb", "POST"), ("scope", "resource")],
            &events,
        ),
    );
    let mut events = named(&spans, "Create").events.iter();
    let wrote = events.find(|it| it.name == "Write to database call succeeded");
    let length = i64::try_from(json::to_vec(&node).len()).expect("a small one");
    let length = ("len".to_owned(), otlp::Value::Int(length));
    assert_eq!(wrote.map(|it| &*it.attributes), Some(&[length][..]));
    let stored = [
        ("audit-id", "*"),
        ("key", "/minions/fake"),
        ("type", "*core.Node"),
        ("resource", "nodes"),
    ];
    let events = [
        "About to Encode",
        "Encode succeeded",
        "TransformToStorage succeeded",
        "Txn call succeeded",
        "Decode succeeded",
    ];
    check(&spans, ("Create etcd3", &stored, &events));
    check(&spans, ("SerializeObject", &answer(NODES, "POST"), WRITTEN));
    check_commit(&world, &spans, "Create etcd3");
    // Plugins in the process have spans too, which upstream's have not.
    check(&spans, ("NamespaceLifecycle", &[("phase", "*")], &[]));

    let spans = one(&world, (Method::GET, NODE), JSON, &Value::Null).await;
    check_frame(&spans, "GET /api/v1/nodes/{:name}", NODE, "GET", "Get");
    let events = [
        "About to Get from storage",
        "About to write a response",
        "Writing http response done",
    ];
    check(
        &spans,
        ("Get", &[("name", "fake"), ("verb", "GET")], &events),
    );
    let events = [
        "Get call succeeded",
        "TransformFromStorage succeeded",
        "Decode succeeded",
    ];
    let key = [
        ("audit-id", "*"),
        ("key", "/minions/fake"),
        ("resource", "nodes"),
    ];
    check(&spans, ("Get etcd3", &key, &events));
    check(&spans, ("SerializeObject", &answer(NODE, "GET"), WRITTEN));
    if world.server.api.store().is_shared() {
        let call = [("rpc.system.name", "grpc")];
        check(&spans, ("etcdserverpb.KV/Range", &call, &[]));
    }

    let cached = format!("{NODE}?resourceVersion=0");
    let spans = one(&world, (Method::GET, &cached), JSON, &Value::Null).await;
    check_frame(&spans, "GET /api/v1/nodes/{:name}", NODE, "GET", "Get");
    let key = [
        ("audit-id", "*"),
        ("key", "/minions/fake"),
        ("resource-version", "0"),
    ];
    let events = [
        "watchCache locked acquired",
        "watchCache fresh enough",
        "GetByKey success",
    ];
    check(&spans, ("cacher.Get", &key, &events));
}

#[tokio::test]
async fn lists_and_watches() {
    let world = world(ALL).await;
    let spans = one(&world, (Method::GET, NODES), JSON, &Value::Null).await;
    check_frame(&spans, "GET /api/v1/nodes", NODES, "GET", "List");
    check(
        &spans,
        ("List", &[("verb", "LIST"), ("scope", "cluster")], &[]),
    );
    let events = [
        "Ready",
        "getCurrentRV success",
        "watchCache locked acquired",
        "watchCache fresh enough",
        "GetLatestSnapshotOrBuildLocked success",
        "Listed items from cache",
        "Filtered items",
    ];
    check(
        &spans,
        (
            "cacher.GetList",
            &[("audit-id", "*"), ("type", "nodes")],
            &events,
        ),
    );
    check(&spans, ("SerializeObject", &answer(NODES, "GET"), WRITTEN));

    let query = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    let path = format!("{NODES}?{query}");
    let spans = one(&world, (Method::GET, &path), JSON, &Value::Null).await;
    check_frame(&spans, "GET /api/v1/nodes", NODES, "GET", "WatchList");
    let events = ["watchCache locked acquired", "watchCache fresh enough"];
    check(
        &spans,
        (
            "cacher.Watch",
            &[("audit-id", "*"), ("type", "nodes")],
            &events,
        ),
    );
    let mut stream = answer(NODES, "GET");
    stream[4].1 = "application/vnd.kubernetes.protobuf;stream=watch";
    stream[5].1 = r#"{"encodeGV":"v1","encoder":"raw-protobuf","name":"versioning"}"#;
    check(&spans, ("WatchServer.HandleHTTP", &stream, &[]));
    // A plain one is told of when it is open, not when it ends.
    let path = format!("{NODES}?watch=true");
    let spans = one(&world, (Method::GET, &path), JSON, &Value::Null).await;
    check_frame(&spans, "GET /api/v1/nodes", NODES, "GET", "Watch");
    check(&spans, ("Watch", &[("verb", "WATCH")], &[]));
}

#[tokio::test]
async fn changes() {
    let world = world(ALL).await;
    let node = |label: &str| json!({"metadata": {"name": "fake", "labels": {"a": label}}});
    world.make(NODES, node("1")).await;

    let spans = one(&world, (Method::PUT, NODE), JSON, &node("2")).await;
    check_frame(&spans, "PUT /api/v1/nodes/{:name}", NODE, "PUT", "Update");
    let events = [
        "limitedReadBody succeeded",
        "About to convert to expected version",
        "Conversion done",
        "About to store object in database",
        "Write to database call succeeded",
        "About to write a response",
        "Writing http response done",
    ];
    check(&spans, ("Update", &[("verb", "PUT")], &events));
    check_update(&world, &spans);
    check(&spans, ("SerializeObject", &answer(NODE, "PUT"), WRITTEN));

    let merge = "application/merge-patch+json";
    let spans = one(&world, (Method::PATCH, NODE), merge, &node("3")).await;
    check_frame(
        &spans,
        "PATCH /api/v1/nodes/{:name}",
        NODE,
        "PATCH",
        "Patch",
    );
    let events = [
        "limitedReadBody succeeded",
        "About to apply patch",
        "About to check admission control",
        "Object stored in database",
        "About to write a response",
        "Writing http response done",
    ];
    check(&spans, ("Patch", &[("verb", "PATCH")], &events));
    check(&spans, ("Patch", &[], AUDITED));
    check_update(&world, &spans);
    check(&spans, ("SerializeObject", &answer(NODE, "PATCH"), WRITTEN));

    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
    let spans = one(&world, (Method::DELETE, NODE), JSON, &options).await;
    check_frame(
        &spans,
        "DELETE /api/v1/nodes/{:name}",
        NODE,
        "DELETE",
        "Delete",
    );
    let events = [
        "limitedReadBody succeeded",
        "Decoded delete options",
        "Recorded the audit event",
        "About to delete object from database",
        "Object deleted from database",
        "About to write a response",
        "Writing http response done",
    ];
    check(&spans, ("Delete", &[("verb", "DELETE")], &events));
    check(
        &spans,
        ("SerializeObject", &answer(NODE, "DELETE"), WRITTEN),
    );
    check(&spans, ("Get etcd3", &[("key", "/minions/fake")], GOT));
    check_commit(&world, &spans, "Delete");

    // What is only marked is updated.
    let held = json!({"metadata": {"name": "fake", "finalizers": ["a.b/c"]}});
    world.make(NODES, held).await;
    let spans = one(&world, (Method::DELETE, NODE), JSON, &Value::Null).await;
    check(&spans, ("Get etcd3", &[("key", "/minions/fake")], GOT));
    check_update(&world, &spans);
}

#[track_caller]
fn check_update(world: &World, spans: &[Span]) {
    let stored = [
        ("audit-id", "*"),
        ("key", "/minions/fake"),
        ("type", "*core.Node"),
        ("resource", "nodes"),
    ];
    let events = [
        "initial value restored",
        "About to Encode",
        "Encode succeeded",
        "TransformToStorage succeeded",
        "Transaction prepared",
        "Txn call completed",
        "Transaction committed",
        "Decode succeeded",
    ];
    check(spans, ("GuaranteedUpdate etcd3", &stored, &events));
    check_commit(world, spans, "GuaranteedUpdate etcd3");
}

/// The group commit, and below it the call of etcd where there is one.
#[track_caller]
fn check_commit(world: &World, spans: &[Span], above: &str) {
    check(spans, ("store.commit", &[("batch.size", "*")], &[]));
    let commit = named(spans, "store.commit");
    assert_eq!(commit.parent, named(spans, above).span_id);
    if world.server.api.store().is_shared() {
        let call = [
            ("rpc.system.name", "grpc"),
            ("rpc.method", "etcdserverpb.KV/Txn"),
            ("rpc.response.status_code", "OK"),
            ("server.address", "127.0.0.1"),
            ("server.port", "*"),
        ];
        check(spans, ("etcdserverpb.KV/Txn", &call, &[]));
        let call = named(spans, "etcdserverpb.KV/Txn");
        assert_eq!((call.parent, call.kind), (commit.span_id, 3));
    }
}

/// What is applied and was not there is an update, as upstream has it; and what is refused is told.
#[tokio::test]
async fn applied_and_refused() {
    let world = world(ALL).await;
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "fake"}});
    let path = format!("{NODE}?fieldManager=me");
    let apply = "application/apply-patch+yaml";
    let spans = one(&world, (Method::PATCH, &path), apply, &node).await;
    check(&spans, ("Patch", &[("verb", "APPLY")], &[]));
    check_update(&world, &spans);
    assert!(spans.iter().all(|it| it.name != "Create etcd3"));

    let headers = [("content-type", JSON)];
    let again = (Method::POST, NODES);
    let refused = ask(&world, &admin(), again, &headers, &node).await;
    assert_eq!(refused.status(), 409);
    let traces = recorded(&world);
    let events = [
        "About to store object in database",
        "Write to database call failed",
    ];
    check(&traces[0], ("Create", &[], &events));
    check(&traces[0], ("Create etcd3", &[], &["Txn call succeeded"]));
    check(&traces[0], ("Get etcd3", &[("key", "/minions/fake")], GOT));
    // It is the client's fault.
    assert!(!named(&traces[0], "POST /api/v1/nodes").is_error);
}

/// Deletions of a collection go on at once, each below the one request.
#[tokio::test]
async fn collections() {
    let world = world(ALL).await;
    for name in ["a", "b", "c"] {
        world.make(NODES, json!({"metadata": {"name": name}})).await;
    }
    let spans = one(&world, (Method::DELETE, NODES), JSON, &Value::Null).await;
    let handler = named(&spans, "Delete");
    let commits = spans.iter().filter(|it| it.name == "store.commit");
    let parents: Vec<_> = commits.map(|it| it.parent).collect();
    assert_eq!(parents, [handler.span_id; 3]);
    let found = named(&spans, "cacher.GetList").events.last();
    let count = ("count".to_owned(), otlp::Value::Int(3));
    assert_eq!(found.map(|it| &*it.attributes), Some(&[count][..]));
    let reads = spans.iter().filter(|it| it.name == "Get etcd3");
    assert_eq!(reads.count(), 3);
}

const AUDITED: &[&str] = &["limitedReadBody succeeded", "Recorded the audit event"];
pub(crate) const GOT: &[&str] = &[
    "Get call succeeded",
    "TransformFromStorage succeeded",
    "Decode succeeded",
];

const CREATED: &[&str] = &[
    "limitedReadBody succeeded",
    "About to convert to expected version",
    "Conversion done",
    "About to store object in database",
    "Write to database call succeeded",
    "About to write a response",
    "Writing http response done",
];

/// What is done to an object, and what is asked: told of as if it were stored.
#[tokio::test]
async fn subresources() {
    let world = world(ALL).await;
    world.namespace("x", json!({})).await;
    let pods = "/api/v1/namespaces/x/pods";
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    world.make(pods, pod).await;
    let named = json!({"name": "p"});
    let cases = [
        (
            "/api/v1/namespaces/x/serviceaccounts/default/token".to_owned(),
            json!({"spec": {}}),
        ),
        (
            format!("{pods}/p/binding"),
            json!({"metadata": (named.clone()), "target": {"kind": "Node", "name": "n"}}),
        ),
        (
            format!("{pods}/p/eviction"),
            json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": named}),
        ),
        (
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned(),
            json!({"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}),
        ),
    ];
    for (path, body) in cases {
        let spans = one(&world, (Method::POST, &path), JSON, &body).await;
        check(&spans, ("Create", &[("verb", "POST")], CREATED));
        check(&spans, ("SerializeObject", &[("url", &path)], WRITTEN));
        let reads = spans.iter().any(|it| it.name == "Get etcd3");
        assert_eq!(reads, !path.contains("review") && !path.contains("binding"));
    }
    // What is handed on to a node has no handler of ours.
    let exec = (Method::GET, "/api/v1/namespaces/x/pods/p/exec?command=a");
    ask(&world, &admin(), exec, &[], &Value::Null).await;
    let traces = recorded(&world);
    let names: Vec<_> = traces[0].iter().map(|it| &*it.name).collect();
    assert!(!names.contains(&"Get"), "{names:?}");
    assert!(names.contains(&"authorization"), "{names:?}");
    assert!(names.contains(&"Get etcd3"), "{names:?}");
}

#[tokio::test]
async fn scales() {
    let world = world(ALL).await;
    let path = "/api/v1/namespaces/default/replicationcontrollers";
    let controller = json!({"metadata": {"name": "r"}, "spec": {
        "replicas": 1,
        "selector": {"a": "b"},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    world.make(path, controller).await;
    let path = format!("{path}/r/scale");
    let spans = one(&world, (Method::GET, &path), JSON, &Value::Null).await;
    let read = [
        "About to Get from storage",
        "About to write a response",
        "Writing http response done",
    ];
    check(&spans, ("Get", &[("subresource", "scale")], &read));
    let stored = [("key", "/controllers/default/r")];
    let got = ["Get call succeeded", "Decode succeeded"];
    check(&spans, ("Get etcd3", &stored, &got));
    let scale = |replicas: i64| {
        json!({
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {"name": "r", "namespace": "default"},
            "spec": {"replicas": replicas},
        })
    };
    let spans = one(&world, (Method::PUT, &path), JSON, &scale(2)).await;
    check(&spans, ("Update", &[("verb", "PUT")], CREATED));
    check(&spans, ("SerializeObject", &[("url", &path)], WRITTEN));
    let merge = "application/merge-patch+json";
    let spans = one(&world, (Method::PATCH, &path), merge, &scale(3)).await;
    let events = [
        "limitedReadBody succeeded",
        "About to apply patch",
        "About to check admission control",
        "Object stored in database",
        "About to write a response",
        "Writing http response done",
    ];
    check(&spans, ("Patch", &[("verb", "PATCH")], &events));
}

/// A body that is too large is told of.
#[tokio::test]
async fn bodies_that_are_not_read() {
    let world = world(ALL).await;
    let large = json!({"metadata": {"name": "fake"}, "spec": {"podCIDR": ("x".repeat(4 << 20))}});
    let headers = [("content-type", JSON)];
    let refused = ask(&world, &admin(), (Method::POST, NODES), &headers, &large).await;
    assert_eq!(refused.status(), 413);
    let traces = recorded(&world);
    check(&traces[0], ("Create", &[], &["limitedReadBody failed"]));
}

/// What is no resource has a short name, and no secret of a query is shown.
#[tokio::test]
async fn other_paths() {
    let world = world(ALL).await;
    let path = "/healthz?token=s3cret";
    let spans = one(&world, (Method::GET, path), JSON, &Value::Null).await;
    let root = named(&spans, "GET");
    assert_eq!(root.text("url.path"), "/healthz");
    assert_eq!(root.text("http.target"), "/healthz?token=***");
}
