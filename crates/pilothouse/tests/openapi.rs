//! What clients learn from `/openapi`: documents, their hashes, custom resources that come and go, and kubectl itself.

use std::process::{Command, Output};
use std::time::Duration;

use apiserver::incoming::RequestBody;
use apiserver::pipeline::Caller;
use auth::User;
use auth::pki::ServingNames;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use json::{Value, json};
use pilothouse::server::{Options, Server};
use pilothouse::{pki, server};

const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

async fn start() -> Server {
    let names = ServingNames::new("cluster.local", &["127.0.0.1"]);
    let files = pki::in_memory(&names, server::now()).unwrap();
    let store = store::embedded::in_memory(&store::Options::default());
    Server::start(Options::new(store, ([127, 0, 0, 1], 0).into(), files))
        .await
        .unwrap()
}

async fn send(
    server: &Server,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Response<Bytes> {
    let caller = Caller::Local(User::new("admin", &["system:masters"]).into());
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if !body.is_null() {
        request = request.header("content-type", "application/json");
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let bytes = if body.is_null() {
        Bytes::new()
    } else {
        json::to_vec(body).into()
    };
    let response =
        apiserver::pipeline::handle(&server.api, &caller, parts, RequestBody::Bytes(bytes)).await;
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    Response::from_parts(parts, body.to_bytes())
}

async fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> Response<Bytes> {
    send(server, Method::GET, path, headers, &Value::Null).await
}

async fn read(server: &Server, path: &str) -> Value {
    let response = get(server, path, &[]).await;
    assert_eq!(response.status(), 200, "{path}");
    json::parse(response.body()).unwrap()
}

fn header<'a>(response: &'a Response<Bytes>, name: &str) -> &'a str {
    let found = response.headers().get(name);
    found.map_or("", |it| it.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_kept_by_its_hash() {
    let server = start().await;
    let index = read(&server, "/openapi/v3").await;
    let url = |name: &str| {
        let found = index.str_at(&["paths", name, "serverRelativeURL"]);
        found
            .unwrap_or_else(|| panic!("{name} is not listed"))
            .to_owned()
    };
    for name in ["api", "apis", "apis/apps", "version", "openid/v1/jwks"] {
        url(name);
    }
    let url = url("apis/apps/v1");
    let (path, hash) = url.split_once("?hash=").unwrap();
    let etag = format!("\"{hash}\"");

    let fresh = get(&server, &url, &[]).await;
    assert_eq!(fresh.status(), 200);
    assert_eq!(header(&fresh, "cache-control"), "public, immutable");
    assert!(header(&fresh, "expires").ends_with("GMT"));
    assert_eq!(header(&fresh, "etag"), etag);
    assert_eq!(header(&fresh, "vary"), "Accept");
    assert_eq!(header(&fresh, "content-type"), "application/json");

    let plain = get(&server, path, &[]).await;
    assert_eq!(header(&plain, "cache-control"), "no-cache, private");
    assert_eq!(plain.body(), fresh.body());

    let stale = get(&server, &format!("{path}?hash=OLD"), &[]).await;
    assert_eq!(
        (stale.status().as_u16(), header(&stale, "location")),
        (301, &*url)
    );

    let known = get(&server, path, &[("if-none-match", &etag)]).await;
    assert_eq!((known.status().as_u16(), known.body().len()), (304, 0));

    for (path, accept, want) in [
        (path, "text/html", 406),
        (path, "text/html, */*;q=0.1", 200),
        ("/openapi/v2", "text/html", 406),
        ("/openapi/v3/apis/nope/v1", "", 404),
        ("/openapi/v3/apis/apps/v1/", "", 404),
        ("/openapi/v3/", "", 404),
        ("/openapi/v2/more", "", 404),
        ("/openapi", "", 404),
    ] {
        let response = get(&server, path, &[("accept", accept)]).await;
        assert_eq!(response.status(), want, "{path} {accept}");
    }
    server.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn version_2_comes_as_json_and_protobuf() {
    let server = start().await;
    let document = read(&server, "/openapi/v2").await;
    assert_eq!(document.str_at(&["swagger"]), Some("2.0"));
    let pod = document.at(&["definitions", "io.k8s.api.core.v1.Pod"]);
    let kind = pod.and_then(|it| it.get("x-kubernetes-group-version-kind"));
    assert_eq!(
        kind,
        Some(&json!([{"group": "", "kind": "Pod", "version": "v1"}]))
    );
    let response = get(&server, "/openapi/v2", &[("accept", PROTOBUF)]).await;
    assert_eq!(
        header(&response, "content-type"),
        PROTOBUF.replace('@', ".")
    );
    assert!(response.body().starts_with(b"\x0a\x032.0"));
    let other = PROTOBUF.replace("v2", "v3");
    let response = get(&server, "/openapi/v3/version", &[("accept", &other)]).await;
    assert_eq!(header(&response, "content-type"), other.replace('@', "."));
    assert!(response.body().starts_with(b"\x0a\x053.0.0"));
    server.stop().await.unwrap();
}

const WIDGETS: &str = "/openapi/v3/apis/example.com/v1";

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {
                    "description": "A widget turns.",
                    "type": "object",
                    "properties": {"spec": {
                        "type": "object",
                        "required": ["size"],
                        "properties": {
                            "size": {"type": "integer", "default": 1, "description": "How large it is."},
                        },
                    }},
                }},
            }],
        },
    })
}

/// Asks until the answer has this status: kinds are served a moment after their definition is stored.
async fn until(server: &Server, path: &str, status: u16) -> Response<Bytes> {
    let ask = async {
        loop {
            let response = get(server, path, &[]).await;
            if response.status() == status {
                return response;
            }
            tokio::task::yield_now().await;
        }
    };
    let patience = Duration::from_secs(30);
    tokio::time::timeout(patience, ask)
        .await
        .unwrap_or_else(|_| panic!("{path} never had status {status}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_resources_come_and_go() {
    let server = start().await;
    let hash = |index: &Value| {
        let found = index.str_at(&["paths", "apis/apps/v1", "serverRelativeURL"]);
        found.unwrap().to_owned()
    };
    let before = read(&server, "/openapi/v3").await;
    let whole = header(&get(&server, "/openapi/v2", &[]).await, "etag").to_owned();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let made = send(&server, Method::POST, definitions, &[], &definition()).await;
    assert_eq!(made.status(), 201);

    let document = json::parse(until(&server, WIDGETS, 200).await.body()).unwrap();
    let widget = document.at(&["components", "schemas", "com.example.v1.Widget"]);
    let widget = widget.unwrap();
    assert_eq!(widget.str_at(&["description"]), Some("A widget turns."));
    let size = widget.at(&["properties", "spec", "properties", "size", "default"]);
    assert_eq!(size, Some(&json!(1)));
    assert_eq!(
        widget.at(&["x-kubernetes-group-version-kind"]),
        Some(&json!([{"group": "example.com", "kind": "Widget", "version": "v1"}]))
    );
    let path = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}";
    let id = document.str_at(&["paths", path, "patch", "operationId"]);
    assert_eq!(id, Some("patchExampleComV1NamespacedWidget"));
    let index = read(&server, "/openapi/v3").await;
    assert_eq!(hash(&index), hash(&before), "others stay as they are");
    let response = get(&server, "/openapi/v2", &[]).await;
    assert_ne!(header(&response, "etag"), whole);
    let both = json::parse(response.body()).unwrap();
    let size = both.at(&[
        "definitions",
        "com.example.v1.Widget",
        "properties",
        "spec",
        "properties",
        "size",
    ]);
    assert_eq!(
        size,
        Some(&json!({"description": "How large it is.", "type": "integer"}))
    );

    let gone = format!("{definitions}/widgets.example.com");
    send(&server, Method::DELETE, &gone, &[], &Value::Null).await;
    until(&server, WIDGETS, 404).await;
    assert_eq!(read(&server, "/openapi/v3").await, before);
    let etag = header(&get(&server, "/openapi/v2", &[]).await, "etag").to_owned();
    assert_eq!(etag, whole);
    server.stop().await.unwrap();
}

fn kubectl(folder: &std::path::Path, arguments: &[&str]) -> Output {
    let program = std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".into());
    Command::new(program)
        .arg("--kubeconfig")
        .arg(folder.join("kubeconfig"))
        .arg("--cache-dir")
        .arg(folder.join("cache"))
        .args(arguments)
        .output()
        .expect("run kubectl")
}

#[testkit::requires(kubectl)]
#[tokio::test(flavor = "multi_thread")]
async fn kubectl_validates_explains_and_applies() {
    let server = start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kubeconfig"), &server.kubeconfig).unwrap();
    let manifest = folder.path().join("map.json");
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default"},
        "data": {"k": "v"},
    });
    std::fs::write(&manifest, json::to_string(&map)).unwrap();
    let manifest = manifest.to_str().unwrap().to_owned();
    let run = |arguments: &[&str]| {
        let output = kubectl(folder.path(), arguments);
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    send(&server, Method::POST, definitions, &[], &definition()).await;
    until(&server, WIDGETS, 200).await;
    for (arguments, code, word) in [
        (&["create", "-f", &manifest][..], 0, "created"),
        (&["apply", "-f", &manifest], 0, "configmap/a"),
        (
            &["apply", "--server-side", "-f", &manifest],
            0,
            "serverside-applied",
        ),
        (&["diff", "-f", &manifest], 0, ""),
        (&["explain", "pods.spec.containers"], 0, "image\t<string>"),
        (&["explain", "pods.spec.containers"], 0, "entrypoint"),
        (&["explain", "widgets.spec"], 0, "How large it is."),
        (&["explain", "widgets.spec.none"], 1, "does not exist"),
        // Read from version 2, as protobuf.
        (
            &["explain", "widgets.spec", "--output=plaintext-openapiv2"],
            0,
            "How large it is.",
        ),
        (
            &[
                "apply",
                "--validate=strict",
                "--dry-run=client",
                "-f",
                &manifest,
            ],
            0,
            "dry run",
        ),
        (&["explain", "deployments", "--recursive"], 0, "maxSurge"),
    ] {
        let (status, text) = run(arguments);
        assert_eq!(status, Some(code), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?}: {text}");
    }
    server.stop().await.unwrap();
}
