//! What is answered without being stored: dry runs, errors, other views of an object.

use http::Method;
use json::{Value, json};
use telemetry::otlp::Span;

use crate::tables::{GOT, JSON, NODE, NODES, WRITTEN, check, one, shown};
use crate::{ALL, admin, ask, caller, named, recorded, world};

/// A dry run reads, and changes nothing.
#[tokio::test]
async fn dry_runs() {
    let world = world(ALL).await;
    let node = |label: &str| json!({"metadata": {"name": "fake", "labels": {"a": label}}});
    let path = |of: &str| format!("{of}?dryRun=All");
    let stored = ["Create etcd3", "GuaranteedUpdate etcd3", "store.commit"];
    let names = |spans: &[Span]| {
        let names = spans.iter().map(|it| it.name.clone());
        names.collect::<Vec<_>>()
    };
    let spans = one(&world, (Method::POST, &path(NODES)), JSON, &node("1")).await;
    check(
        &spans,
        ("Get etcd3", &[("key", "/minions/fake")], &GOT[..1]),
    );
    assert!(!names(&spans).iter().any(|it| stored.contains(&&**it)));
    world.make(NODES, node("1")).await;
    let merge = "application/merge-patch+json";
    let cases = [
        (Method::PUT, JSON, node("2")),
        (Method::PATCH, merge, node("2")),
        (Method::DELETE, JSON, Value::Null),
    ];
    for (method, content, body) in cases {
        let spans = one(&world, (method, &path(NODE)), content, &body).await;
        check(&spans, ("Get etcd3", &[("key", "/minions/fake")], GOT));
        assert!(!names(&spans).iter().any(|it| stored.contains(&&**it)));
        let handler = spans.iter().find(|it| it.attribute("verb").is_some());
        let events = handler.map(|it| &*it.events).unwrap_or_default();
        assert!(!events.iter().any(|it| it.name == "About to Encode"));
    }
}

/// Each error is written by whoever found it, as a Status of the version asked for; where nobody is there, of none.
#[tokio::test]
async fn errors_are_written_too() {
    let world = world(ALL).await;
    let of = |version: &str| {
        let encoder =
            r#"{\"name\":\"json\",\"pretty\":\"false\",\"strict\":\"false\",\"yaml\":\"false\"}"#;
        format!(r#"{{{version}"encoder":"{encoder}","name":"versioning"}}"#)
    };
    let v1 = of(r#""encodeGV":"v1","#);
    let scale = "/apis/apps/v1/namespaces/default/deployments/none/scale";
    let cases = [
        ("GET", NODE, 404, "Get", v1.clone()),
        ("POST", NODES, 415, "Create", v1.clone()),
        (
            "GET",
            scale,
            404,
            "Get",
            of(r#""encodeGV":"autoscaling/v1","#),
        ),
        ("PUT", NODES, 405, "authorization", of("")),
        ("GET", "/api/v1/none", 404, "authorization", of("")),
        ("GET", "/apis/apps/v1", 200, "authorization", of("")),
    ];
    let headers = [("accept", JSON), ("content-type", "text/plain")];
    for (method, path, code, above, encoder) in cases {
        let method = method.parse().expect("a method");
        let answer = ask(&world, &admin(), (method, path), &headers, &json!({})).await;
        assert_eq!(answer.status(), code, "{path}");
        let traces = recorded(&world);
        let expected = [("encoder", &*encoder), ("mediaType", JSON)];
        check(&traces[0], ("SerializeObject", &expected, WRITTEN));
        let parent = named(&traces[0], "SerializeObject").parent;
        assert_eq!(parent, named(&traces[0], above).span_id, "{path}");
    }
    let nobody = caller("nobody", &["system:authenticated"]);
    for path in [NODES, "/metrics"] {
        let refused = ask(&world, &nobody, (Method::GET, path), &headers, &Value::Null).await;
        assert_eq!(refused.status(), 403);
        let traces = recorded(&world);
        check(
            &traces[0],
            ("SerializeObject", &[("encoder", &v1)], WRITTEN),
        );
        let parent = named(&traces[0], "SerializeObject").parent;
        assert_eq!(parent, named(&traces[0], "authorization").span_id);
    }
}

/// What an object is shown as has a version of its own.
#[tokio::test]
async fn other_views() {
    let world = world(ALL).await;
    world
        .make(NODES, json!({"metadata": {"name": "fake"}}))
        .await;
    let cases = [
        (
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "",
            "meta.k8s.io/v1",
            "false",
        ),
        (JSON, "?pretty=true", "v1", "true"),
    ];
    for (accept, query, version, pretty) in cases {
        let path = format!("{NODE}{query}");
        let what = (Method::GET, &*path);
        ask(&world, &admin(), what, &[("accept", accept)], &Value::Null).await;
        let traces = recorded(&world);
        let encoder = shown(named(&traces[0], "SerializeObject").attribute("encoder"));
        assert!(
            encoder.contains(&format!(r#""encodeGV":"{version}""#)),
            "{encoder}"
        );
        assert!(
            encoder.contains(&format!(r#"\"pretty\":\"{pretty}\""#)),
            "{encoder}"
        );
    }
}
