//! How bodies are read: formats, kinds, mistakes.

use json::json;

use crate::fixture::{Answer, Fixture};

const MAPS: &str = "/api/v1/namespaces/n/configmaps";

async fn post(fixture: &Fixture, kind: &str, query: &str, body: impl Into<bytes::Bytes>) -> Answer {
    let path = format!("{MAPS}{query}");
    fixture
        .request("POST", &path, &[("content-type", kind)], body)
        .await
}

#[tokio::test]
async fn json_yaml_and_protobuf_are_read() {
    let fixture = Fixture::new();
    let text = r#"{"metadata":{"name":"a"},"data":{"k":"v"}}"#;
    for kind in ["application/json", "application/json; charset=utf-8"] {
        let made = post(&fixture, kind, "?dryRun=All", text).await;
        assert_eq!(made.code, 201, "{made:?}");
    }
    let text = "metadata:\n  name: b\ndata:\n  k: v\n";
    let made = post(&fixture, "application/yaml", "", text).await;
    assert_eq!(
        (made.code.as_u16(), made.json().str_at(&["data", "k"])),
        (201, Some("v"))
    );
    // What the server writes, it reads.
    let path = format!("{MAPS}/b");
    let protobuf = "application/vnd.kubernetes.protobuf";
    let stored = fixture
        .request("GET", &path, &[("accept", protobuf)], "")
        .await;
    assert_eq!(stored.header("content-type"), protobuf);
    let headers = [("content-type", protobuf)];
    let put = fixture.request("PUT", &path, &headers, stored.body).await;
    assert_eq!(put.code, 200, "{put:?}");
    assert_eq!(put.json().at(&["data"]), Some(&json!({"k": "v"})));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let fixture = Fixture::new();
    for (kind, body, code) in [
        ("text/csv", "a,b", 415),
        ("application/json", "{", 400),
        ("application/json", "", 400),
        ("application/json", "[]", 400),
        ("application/json", "\"text\"", 400),
        ("application/json", r#"{"metadata":{"name":"a"}} x"#, 400),
        ("application/json", r#"{"metadata":{"name":5}}"#, 400),
        (
            "application/json",
            r#"{"metadata":{"name":"a"},"data":{"k":5}}"#,
            400,
        ),
        (
            "application/json",
            r#"{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}"#,
            400,
        ),
        (
            "application/json",
            r#"{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"a"}}"#,
            400,
        ),
        ("application/yaml", "a: [", 400),
        ("application/vnd.kubernetes.protobuf", "k8s", 400),
        ("application/vnd.kubernetes.protobuf", "k8s\0\u{ff}", 400),
    ] {
        let refused = post(&fixture, kind, "", body).await;
        assert_eq!(refused.code, code, "{kind} {body}: {refused:?}");
        assert_eq!(refused.json().str_at(&["kind"]), Some("Status"));
    }
    assert!(fixture.admin.items(MAPS).await.unwrap().is_empty());
}

#[tokio::test]
async fn unknown_and_repeated_fields_are_told_of() {
    let fixture = Fixture::new();
    let body = r#"{"metadata":{"name":"a"},"data":{"k":"1","k":"2"},"other":1}"#;
    let strict = post(
        &fixture,
        "application/json",
        "?fieldValidation=Strict",
        body,
    )
    .await;
    assert_eq!(strict.code, 400);
    let text = strict.message();
    assert!(text.contains("strict decoding error"), "{text}");
    assert!(text.contains("unknown field \"other\""), "{text}");
    assert!(text.contains("duplicate field \"data.k\""), "{text}");
    let ignore = post(
        &fixture,
        "application/json",
        "?dryRun=All&fieldValidation=Ignore",
        body,
    )
    .await;
    assert_eq!(
        (ignore.code.as_u16(), ignore.warnings().as_str()),
        (201, "")
    );
    // Without a word, clients are warned; the last of a repeated field counts.
    let warned = post(&fixture, "application/json", "", body).await;
    assert_eq!(warned.code, 201);
    assert!(
        warned.warnings().contains("unknown field \"other\""),
        "{}",
        warned.warnings()
    );
    let made = warned.json();
    assert_eq!(
        (made.str_at(&["data", "k"]), made.get("other")),
        (Some("2"), None)
    );
    let odd = post(&fixture, "application/json", "?fieldValidation=Odd", body).await;
    assert_eq!(odd.code, 422, "{odd:?}");
}
