//! `OpenAPI` documents are made once, whoever asks and however often.

use std::time::Instant;

use json::{Object, Value, json};

use crate::fixture::{DEADLINE, DEFINITIONS, Fixture};

const V2: &str = "/openapi/v2";
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// A definition with as many fields.
fn definition(number: usize, fields: usize) -> Value {
    let text =
        "What this field is for, and what becomes of objects that do not have it. ".repeat(3);
    let mut properties = Object::new();
    for at in 0..fields {
        let field = json!({
            "type": "object", "description": (&text),
            "properties": {
                "name": {"type": "string", "description": (&text), "pattern": "^[a-z]+$"},
                "values": {"type": "array", "items": {"type": "string"}, "description": (&text)},
                "count": {"type": "integer", "minimum": 0, "default": 1},
            },
        });
        properties.insert(format!("field{at}"), field);
    }
    let plural = format!("widgets{number}");
    json!({
        "metadata": {"name": (format!("{plural}.example.com"))},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": (&plural), "singular": (format!("widget{number}")), "kind": (format!("Widget{number}"))},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": (properties.clone())},
                }}},
            }],
        },
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_burst_of_clients_costs_one_document() {
    let fixture = std::sync::Arc::new(Fixture::new());
    for number in 0..3 {
        let made = fixture
            .admin
            .create(DEFINITIONS, &definition(number, 5))
            .await;
        made.unwrap();
    }
    fixture.api.wait_until_caught_up().await.unwrap();
    let burst = async |path: &'static str, accept: &'static str| {
        let clients = (0..100).map(|at| {
            let fixture = fixture.clone();
            // Every other takes it compressed.
            let coding = if at % 2 == 0 { "gzip" } else { "identity" };
            let headers = [("accept", accept), ("accept-encoding", coding)];
            tokio::spawn(async move { fixture.request("GET", path, &headers, "").await })
        });
        let mut tags = std::collections::BTreeSet::new();
        for client in clients.collect::<Vec<_>>() {
            let answer = client.await.unwrap();
            assert_eq!(answer.code, 200);
            tags.insert(answer.header("etag").to_owned());
        }
        assert_eq!(tags.len(), 1, "{tags:?}");
        tags.pop_first().unwrap()
    };
    let first = burst(V2, "application/json").await;
    let builds = fixture.api.openapi_builds();
    assert_eq!((builds.documents, builds.parts), (1, 4));
    burst(V2, "application/json").await;
    assert_eq!(fixture.api.openapi_builds(), builds);
    burst(V2, PROTOBUF).await;
    let builds = fixture.api.openapi_builds();
    assert_eq!((builds.documents, builds.parts), (2, 8));
    burst(V2, PROTOBUF).await;
    assert_eq!(fixture.api.openapi_builds(), builds);
    // Of version 3 each document once.
    burst("/openapi/v3", "application/json").await;
    let index = fixture.request("GET", "/openapi/v3", &[], "").await.json();
    let names = index.get("paths").and_then(Value::as_object).unwrap().len() as u64;
    let builds = fixture.api.openapi_builds();
    assert_eq!(builds.documents, 2 + names);
    burst("/openapi/v3/apis/example.com/v1", "application/json").await;
    assert_eq!(fixture.api.openapi_builds(), builds);
    // A status is no schema.
    let status = format!("{DEFINITIONS}/widgets0.example.com/status");
    let change = json!({"status": {"storedVersions": ["v1"], "conditions": [
        {"type": "Other", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"},
        {"type": "Established", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"},
        {"type": "NamesAccepted", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"},
    ]}});
    fixture.admin.merge_patch(&status, &change).await.unwrap();
    fixture.api.wait_until_caught_up().await.unwrap();
    assert_eq!(burst(V2, "application/json").await, first);
    assert_eq!(fixture.api.openapi_builds(), builds);
}

#[tokio::test]
async fn a_document_comes_in_all_its_encodings() {
    let fixture = Fixture::new();
    let get = async |headers: &[(&str, &str)]| fixture.request("GET", V2, headers, "").await;
    for accept in ["application/json", PROTOBUF] {
        let plain = get(&[("accept", accept)]).await;
        assert_eq!(plain.header("content-encoding"), "");
        assert_eq!(plain.header("vary"), "Accept");
        let packed = get(&[("accept", accept), ("accept-encoding", "gzip, br")]).await;
        assert_eq!(packed.header("content-encoding"), "gzip");
        assert!(packed.body.starts_with(&[0x1f, 0x8b]));
        assert_eq!(packed.header("etag"), plain.header("etag"));
        let unpacked = encoding::gzip::unpack(&packed.body, plain.body.len()).unwrap();
        assert!(unpacked == plain.body);
        // By tag, and by time if no tag is named.
        let (etag, time) = (plain.header("etag"), plain.header("last-modified"));
        assert!(time.ends_with(" GMT"), "{time}");
        for (headers, code) in [
            (&[("if-none-match", etag)][..], 304),
            (&[("if-modified-since", time)], 304),
            (
                &[("if-none-match", "\"x\""), ("if-modified-since", time)],
                200,
            ),
            (
                &[("if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT")],
                200,
            ),
        ] {
            let answer = get(headers).await;
            assert_eq!(answer.code, code, "{headers:?}");
            assert_eq!(answer.body.is_empty(), code == 304);
        }
    }
}

#[tokio::test]
async fn aggregated_discovery_is_of_the_newest_catalog() {
    let fixture = Fixture::new();
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let get = async || {
        fixture
            .request("GET", "/apis", &[("accept", accept)], "")
            .await
    };
    let before = get().await;
    assert_eq!(before.body, get().await.body);
    for number in 0..3 {
        let made = fixture
            .admin
            .create(DEFINITIONS, &definition(number, 1))
            .await;
        made.unwrap();
        fixture.api.wait_until_caught_up().await.unwrap();
        let text = String::from_utf8(get().await.body.to_vec()).unwrap();
        assert!(text.contains(&format!("\"Widget{number}\"")), "{text}");
    }
    let core = fixture
        .request("GET", "/api", &[("accept", accept)], "")
        .await;
    assert!(!core.body.starts_with(&before.body[..200]));
}

#[tokio::test]
async fn documents_follow_definitions_in_the_background() {
    let fixture = Fixture::new();
    let before = fixture.request("GET", V2, &[], "").await;
    let builds = fixture.api.openapi_builds();
    for number in 0..10 {
        let made = fixture
            .admin
            .create(DEFINITIONS, &definition(number, 1))
            .await;
        made.unwrap();
    }
    // Nobody asks. All ten are waited for, as they come in one go.
    let started = Instant::now();
    while fixture.api.openapi_builds().parts < builds.parts + 10 {
        assert!(
            started.elapsed() < DEADLINE,
            "{:?}",
            fixture.api.openapi_builds()
        );
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let after = fixture.request("GET", V2, &[], "").await;
    assert_ne!(before.header("etag"), after.header("etag"));
    assert!(fixture.api.openapi_builds().documents < builds.documents + 10);
}

/// What many definitions of real size cost: printed, for whoever changes this.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_definitions() {
    // In a build without optimisation the same takes a minute.
    let (count, fields) = if cfg!(debug_assertions) {
        (20, 20)
    } else {
        (206, 85)
    };
    let fixture = Fixture::new();
    for number in 0..count {
        let made = fixture
            .admin
            .create(DEFINITIONS, &definition(number, fields))
            .await;
        made.unwrap();
    }
    fixture.api.wait_until_caught_up().await.unwrap();
    let timed = async |headers: &[(&str, &str)]| {
        let started = Instant::now();
        let answer = fixture.request("GET", V2, headers, "").await;
        assert_eq!(answer.code, 200);
        (started.elapsed(), answer.body.len())
    };
    let gzip = [("accept-encoding", "gzip")];
    let lines = [
        ("first, gzip", timed(&gzip).await),
        ("again, gzip", timed(&gzip).await),
        ("first, plain", timed(&[]).await),
        ("again, plain", timed(&[]).await),
    ];
    for (name, (took, length)) in lines {
        eprintln!("{name}: {length} bytes in {took:?}");
    }
    let builds = fixture.api.openapi_builds();
    assert_eq!((builds.documents, builds.parts), (1, 1 + count as u64));
    let more = fixture
        .admin
        .create(DEFINITIONS, &definition(count, fields))
        .await;
    more.unwrap();
    fixture.api.wait_until_caught_up().await.unwrap();
    let (took, _) = timed(&gzip).await;
    eprintln!("after one more definition: {took:?}");
    let after = fixture.api.openapi_builds();
    assert_eq!(after.parts, builds.parts + 1, "one part for one definition");
}
