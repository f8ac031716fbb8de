//! Paths and queries made to lead elsewhere.

use crate::MAPS;
use crate::client::{Client, refused, says};

const NONE: &str = "the server could not find the requested resource";

#[tokio::test]
async fn paths_lead_nowhere_else() {
    let client = Client::start().await;
    // A slash is a slash, however it is written: these are subresources that do not exist.
    for name in [
        "..%2f..%2fkube-system%2fsecrets",
        "../secrets",
        "%2e%2e/secrets",
        "a%2Fb",
    ] {
        says(&client.get(&format!("{MAPS}/{name}")), 404, NONE);
    }
    says(
        &client.get("/api/v1/namespaces/de%2Ffault/configmaps"),
        404,
        NONE,
    );
    says(
        &client.get("/api/v1//namespaces/default/configmaps"),
        404,
        NONE,
    );
    says(&client.get("/api/v1/nothings"), 404, NONE);
    says(&client.get("/api/v1/watch/configmaps/a"), 404, NONE);
    for path in ["//api/v1/namespaces", "//api/v1", "/livez/", "/metrics/"] {
        assert_eq!(client.get(path), (404, "404 page not found\n".to_owned()));
    }
    for path in ["/api/", "/apis/apps/", "/version/"] {
        assert_eq!(client.get(path).0, 200, "{path}");
    }
    assert_eq!(client.get("/apis/no.such/v1/things").0, 404);
    assert_eq!(
        client
            .get("/api/v1/namespaces/default/../../../../etc/passwd")
            .0,
        404
    );
    for (name, why) in [
        (".", "\".\": may not be '.'"),
        ("..", "\"..\": may not be '..'"),
        ("%2E%2e", "\"..\": may not be '..'"),
        ("a%25b", "\"a%b\": may not contain '%'"),
    ] {
        let text = format!("Name parameter invalid: {why}");
        says(&client.get(&format!("{MAPS}/{name}")), 400, &text);
    }
    let apply = br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":".."}}"#;
    let kind = "application/apply-patch+yaml";
    let path = format!("{MAPS}/..?fieldManager=x");
    says(
        &client.admin("PATCH", &path, kind, apply),
        400,
        "Name parameter invalid: \"..\": may not be '..'",
    );
    says(
        &client.get(&format!("{MAPS}/a%00b")),
        404,
        "configmaps \"a\\x00b\" not found",
    );
    assert_eq!(client.get(&format!("{MAPS}/a%ff")).0, 404);
    assert_eq!(client.get("/api/v1/namespaces/%zz/secrets").0, 400);
    assert_eq!(client.get("/api/v1/namespaces/\0/secrets").0, 400);
    let nul = br#"{"metadata":{"name":"a\u0000"}}"#;
    refused(
        &client.post(nul),
        422,
        "metadata.name: Invalid value: \"a\\x00\"",
    );
    client.lives();
}

#[tokio::test]
async fn queries_are_read_as_they_are_meant() {
    let client = Client::start().await;
    let get = |query: &str| client.get(&format!("{MAPS}?{query}"));
    for (query, text) in [
        (
            "labelSelector=a%3D%3D%3Db",
            "unable to parse requirement: found '=', expected: identifier",
        ),
        (
            "fieldSelector=spec.x%3Db",
            "\"spec.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
        (
            "resourceVersion=-1",
            "invalid resource version: resourceVersion: Invalid value: \"-1\": strconv.ParseUint: parsing \"-1\": invalid syntax",
        ),
        ("limit=x", "strconv.ParseInt: parsing \"x\": invalid syntax"),
    ] {
        says(&get(query), 400, text);
    }
    says(
        &get("limit=1&continue=!!"),
        400,
        "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
    );
    // What cannot be read was not said.
    for query in ["labelSelector=%zz", "limit=1;x=2"] {
        assert_eq!(get(query).0, 200, "{query}");
    }
    refused(
        &get("resourceVersion=99999999"),
        504,
        "Too large resource version",
    );
    // {"v":"meta.k8s.io/v1","rv":1,"start":"../../secrets/x"}
    let token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi9zZWNyZXRzL3gifQ";
    refused(&get(&format!("limit=1&continue={token}")), 400, "continue");
    client.lives();
}
