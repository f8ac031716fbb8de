//! Whose word counts.

use http::{Method, StatusCode};
use json::Value;
use telemetry::trace::Sampling;

use crate::{ALL, ask, caller, named, recorded, text, world};

const ID: &str = "0af7651916cd43dd8448eb211c80319c";
const SAMPLED: (&str, &str) = (
    "traceparent",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
);
const UNSAMPLED: (&str, &str) = (
    "traceparent",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
);
const PATH: (Method, &str) = (Method::GET, "/api/v1/namespaces/default");

/// What becomes of a request.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Unrecorded,
    Child,
    /// With so many links to the client's span.
    Root(usize),
}

#[tokio::test]
async fn table() {
    let world = world(ALL).await;
    let privileged = ["system:masters", "system:monitoring"];
    for (per_million, group, header, expected) in [
        (0, privileged[0], Some(SAMPLED), Fate::Child),
        (0, privileged[1], Some(SAMPLED), Fate::Child),
        (0, privileged[0], Some(UNSAMPLED), Fate::Unrecorded),
        (ALL, privileged[0], Some(UNSAMPLED), Fate::Unrecorded),
        (0, privileged[0], None, Fate::Unrecorded),
        (ALL, privileged[0], None, Fate::Root(0)),
        (0, "dev", Some(SAMPLED), Fate::Unrecorded),
        (ALL, "dev", Some(SAMPLED), Fate::Root(1)),
        (ALL, "dev", Some(UNSAMPLED), Fate::Root(1)),
        (ALL, "dev", None, Fate::Root(0)),
        (ALL, "system:unauthenticated", Some(SAMPLED), Fate::Root(1)),
    ] {
        let tracer = world.server.api.tracer();
        tracer.set(Some(Sampling { per_million }));
        recorded(&world);
        let headers: Vec<_> = header.into_iter().collect();
        let who = caller("somebody", &[group]);
        let response = ask(&world, &who, PATH, &headers, &Value::Null).await;
        let timing = response.headers().get("server-timing").cloned();
        let traces = recorded(&world);
        let fate = match &*traces {
            [] => Fate::Unrecorded,
            [spans] => {
                let root = named(
                    spans,
                    "GET /api/v1/namespaces/{:namespace}/namespaces/{:name}",
                );
                let told = format!("trace;desc=00-{}-{}-0", root.trace_id, root.span_id);
                let timing = timing.as_ref().and_then(|it| it.to_str().ok());
                assert!(timing.is_some_and(|it| it.starts_with(&told)), "{timing:?}");
                if root.parent.is_none() {
                    assert_ne!(root.trace_id.to_string(), ID);
                    assert!(root.links.iter().all(|it| it.trace_id.to_string() == ID));
                    Fate::Root(root.links.len())
                } else {
                    assert_eq!(root.trace_id.to_string(), ID);
                    assert_eq!(root.parent.to_string(), "b7ad6b7169203331");
                    Fate::Child
                }
            }
            more => panic!("{} traces of one request", more.len()),
        };
        assert_eq!(timing.is_some(), fate != Fate::Unrecorded);
        assert_eq!(fate, expected, "{per_million} {group} {header:?}");
    }
}

/// Whoever cannot be authenticated leaves nothing under a trace of their choice.
#[tokio::test]
async fn strangers() {
    let world = world(ALL).await;
    let stranger = apiserver::pipeline::Caller::Remote {
        peer: apiserver::server::Peer {
            address: ([127, 0, 0, 1], 1).into(),
            certificates: Vec::new(),
        },
        trusted: false,
        known: None,
        proxy: None,
        memory: std::sync::Arc::default(),
        encoded: std::sync::OnceLock::new(),
    };
    recorded(&world);
    let headers = [SAMPLED, ("authorization", "Bearer wrong")];
    let response = ask(&world, &stranger, PATH, &headers, &Value::Null).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let traces = recorded(&world);
    assert_eq!(traces.len(), 1);
    for span in traces.iter().flatten() {
        assert_ne!(span.trace_id.to_string(), ID);
        assert!(span.links.is_empty());
    }
    named(&traces[0], "authentication");
    let shown = format!("{traces:?}");
    assert!(!shown.contains("wrong"), "{shown}");
}

/// Without a configuration nothing is recorded and nobody is told anything.
#[tokio::test]
async fn off() {
    let world = world(ALL).await;
    world.server.api.tracer().set(None);
    recorded(&world);
    let who = caller("admin", &["system:masters"]);
    let response = ask(&world, &who, PATH, &[SAMPLED], &Value::Null).await;
    assert!(response.headers().get("server-timing").is_none());
    assert!(text(response).await.contains("default"));
    assert!(recorded(&world).is_empty());
}
