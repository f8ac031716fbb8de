//! Webhooks that fail, hang, or answer what nobody should take.

use json::{Value, json};

use crate::hook::{Hook, Reply, allow, patch};
use crate::world::{World, refusal};
use crate::{CONFIGMAPS, configmap, register, unregister, webhook};

/// Only who never answers is to run out of time.
fn patience(path: &str) -> i64 {
    if path.ends_with("/hang") { 1 } else { 30 }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "most of them are a table")]
async fn a_webhook_that_fails_goes_by_its_policy() {
    let world = World::start().await;
    let mut huge = b"{\"x\":\"".to_vec();
    huge.resize(100 << 20, b'a');
    let huge = std::sync::Arc::new(huge);
    let hook = Hook::start(move |path, _| match path {
        "/garbage" => Reply::Raw(200, b"{\"a\":".to_vec()),
        "/words" => Reply::Raw(200, b"hello world".to_vec()),
        "/empty" => Reply::Raw(200, Vec::new()),
        "/error" => Reply::Raw(500, b"{}".to_vec()),
        "/absent" => Reply::Raw(200, b"{}".to_vec()),
        "/huge" => Reply::Raw(200, huge.to_vec()),
        "/patch" => {
            Reply::Response(json!({"allowed": true, "patch": "W10=", "patchType": "JSONPatch"}))
        }
        "/type" => Reply::Response(json!({"allowed": "yes"})),
        "/hang" => Reply::Silence,
        _ => allow(),
    })
    .await;
    let url = |path: &str| {
        let seconds = patience(path);
        format!("https://127.0.0.1:{}{path}?timeout={seconds}s", hook.port)
    };
    let closed = json!({"url": "https://127.0.0.1:1/x", "caBundle": (&hook.bundle)});
    let mistrusted = {
        let other = Hook::start(|_, _| allow()).await;
        let mut client = hook.url("/mistrust");
        client
            .as_object_mut()
            .expect("an object")
            .insert("caBundle", other.bundle);
        client
    };
    let type_meta = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";
    let call = "failed to call webhook: ";
    let parse = format!("{call}couldn't get version/kind; json parse error: ");
    let cases = [
        (
            hook.url("/garbage"),
            format!("{parse}unexpected end of JSON input"),
        ),
        (
            hook.url("/words"),
            format!("{parse}json: cannot unmarshal string into Go value of type {type_meta}"),
        ),
        (
            hook.url("/empty"),
            format!(
                "{call}0-length response with status code: 200 and content type: application/json"
            ),
        ),
        (
            hook.url("/error"),
            format!(
                "{call}an error on the server (\"unknown\") has prevented the request from succeeding"
            ),
        ),
        (
            hook.url("/absent"),
            "received invalid webhook response: webhook response was absent".to_owned(),
        ),
        (
            hook.url("/huge"),
            format!(
                "{call}Post \"{}\": the answer has more than 3145728 bytes",
                url("/huge")
            ),
        ),
        (
            hook.url("/patch"),
            "received invalid webhook response: validating webhook may not return response.patch"
                .to_owned(),
        ),
        (
            hook.url("/type"),
            format!(
                "{call}json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool"
            ),
        ),
        (
            hook.url("/hang"),
            format!("{call}Post \"{}\": context deadline exceeded", url("/hang")),
        ),
        (
            closed,
            format!(
                "{call}Post \"https://127.0.0.1:1/x?timeout=30s\": dial tcp 127.0.0.1:1: connect: connection refused"
            ),
        ),
        (
            mistrusted,
            format!(
                "{call}Post \"{}\": tls: failed to verify certificate: x509: certificate signed by unknown authority",
                url("/mistrust")
            ),
        ),
    ];
    for (index, (client, want)) in cases.into_iter().enumerate() {
        let seconds = patience(client.str_at(&["url"]).unwrap_or_default());
        let change = json!({"timeoutSeconds": seconds});
        register(
            &world,
            "Validating",
            "v",
            vec![webhook(client.clone(), change)],
        )
        .await;
        let refused = refusal(world.create(CONFIGMAPS, configmap("one")).await);
        assert_eq!(
            refused,
            format!(
                "500 Internal error occurred: failed calling webhook \"x.example.com\": {want}"
            )
        );
        unregister(&world, "Validating", "v").await;
        let change = json!({"timeoutSeconds": seconds, "failurePolicy": "Ignore"});
        register(&world, "Validating", "v", vec![webhook(client, change)]).await;
        world
            .make(CONFIGMAPS, configmap(&format!("ignored-{index}")))
            .await;
        unregister(&world, "Validating", "v").await;
    }
}

#[tokio::test]
async fn broken_patches_change_nothing() {
    let world = World::start().await;
    let hook = Hook::start(|path, _| match path {
        "/object" => patch(&json!({"a": 1})),
        "/missing" => patch(&json!([{"op": "remove", "path": "/nope/x"}])),
        "/namespace" => patch(&json!([{"op": "replace", "path": "/metadata/namespace", "value": "kube-system"}])),
        "/data" => patch(&json!([{"op": "add", "path": "/data", "value": 5}])),
        "/kind" => patch(&json!([{"op": "replace", "path": "/kind", "value": "Secret"}])),
        "/other" => Reply::Response(json!({"allowed": true, "patch": "W3sib3AiOiJhZGQiLCJwYXRoIjoiL2EiLCJ2YWx1ZSI6MX1d", "patchType": "Merge"})),
        _ => Reply::Response(json!({"allowed": true, "patch": "W10="})),
    })
    .await;
    let calling = "500 Internal error occurred: failed calling webhook \"x.example.com\": ";
    let cases = [
        ("/object", format!("{calling}received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch")),
        ("/missing", "500 Internal error occurred: remove operation does not apply: doc is missing path: \"/nope/x\": missing value".into()),
        ("/namespace", "400 the namespace of the provided object does not match the namespace sent on the request".into()),
        ("/data", "500 Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string".into()),
        ("/kind", "500 Internal error occurred: admission webhook \"x.example.com\" attempted to make /v1, Kind=Secret of /v1, Kind=ConfigMap".into()),
        ("/other", format!("{calling}unsupported patch type \"Merge\"")),
        ("/untyped", format!("{calling}received invalid webhook response: webhook returned response.patch but not response.patchType")),
    ];
    for (path, want) in cases {
        register(
            &world,
            "Mutating",
            "m",
            vec![webhook(hook.url(path), Value::Null)],
        )
        .await;
        assert_eq!(
            refusal(world.create(CONFIGMAPS, configmap("one")).await),
            want
        );
        unregister(&world, "Mutating", "m").await;
    }
}

/// As upstream: the code of an answer that is an error, else by what went wrong.
#[tokio::test]
async fn failures_are_counted_by_their_code() {
    let world = World::start().await;
    let hook = Hook::start(|path, _| match path {
        "/error" => Reply::Raw(500, b"{}".to_vec()),
        "/later" => Reply::Raw(429, Vec::new()),
        "/garbage" => Reply::Raw(200, b"{".to_vec()),
        "/deny" => Reply::Response(json!({"allowed": false, "status": {"code": 422}})),
        "/object" => patch(&json!({"a": 1})),
        "/missing" => patch(&json!([{"op": "remove", "path": "/nope/x"}])),
        _ => allow(),
    })
    .await;
    let calling = "calling_webhook_error";
    let cases = [
        ("Validating", "error", calling, "500"),
        ("Validating", "later", calling, "429"),
        ("Validating", "garbage", calling, "503"),
        ("Validating", "deny", "no_error", "422"),
        ("Mutating", "object", calling, "503"),
        ("Mutating", "missing", "apiserver_internal_error", "0"),
    ];
    let page = || {
        let registry = &world.server.api.metrics().registry;
        telemetry::metrics::render(registry, telemetry::metrics::Format::Prometheus)
    };
    let has = |line: String| {
        let page = page();
        let ours = page.lines().filter(|it| it.contains("_webhook_"));
        let all: Vec<_> = ours.filter(|it| !it.contains("_bucket")).collect();
        assert!(page.contains(&line), "{line} is not in\n{}", all.join("\n"));
    };
    for (kind, what, error, code) in cases {
        let name = format!("{what}.example.com");
        let client = hook.url(&format!("/{what}"));
        let made = webhook(client, json!({"name": (&*name), "timeoutSeconds": 30}));
        register(&world, kind, "w", vec![made]).await;
        refusal(world.create(CONFIGMAPS, configmap("one")).await);
        unregister(&world, kind, "w").await;
        let phase = if kind == "Mutating" {
            "admit"
        } else {
            "validating"
        };
        let labels = format!("name=\"{name}\",operation=\"CREATE\"");
        has(format!(
            "rejection_count{{error_type=\"{error}\",{labels},rejection_code=\"{code}\",type=\"{phase}\"}} 1\n"
        ));
        has(format!(
            "request_total{{code=\"{code}\",{labels},rejected=\"true\",type=\"{phase}\"}} 1\n"
        ));
    }
    let change =
        json!({"name": "open.example.com", "failurePolicy": "Ignore", "timeoutSeconds": 30});
    let made = webhook(hook.url("/error"), change);
    register(&world, "Validating", "w", vec![made]).await;
    world.make(CONFIGMAPS, configmap("one")).await;
    let labels = "name=\"open.example.com\",operation=\"CREATE\"";
    has(format!(
        "request_total{{code=\"500\",{labels},rejected=\"false\",type=\"validating\"}} 1\n"
    ));
    has("fail_open_count{name=\"open.example.com\",type=\"validating\"} 1\n".into());
}

/// A webhook has no more time than the request has left.
#[tokio::test]
async fn a_webhook_hears_how_long_there_is() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| allow()).await;
    let closed = json!({"url": "https://127.0.0.1:1/x", "caBundle": (&hook.bundle)});
    let change = json!({"timeoutSeconds": 30});
    register(&world, "Validating", "v", vec![webhook(closed, change)]).await;
    for (asked, most) in [("", 30), ("?timeout=20s", 20)] {
        let path = format!("{CONFIGMAPS}{asked}");
        let refused = refusal(world.create(&path, configmap("one")).await);
        let (_, rest) = refused.split_once("/x?timeout=").expect("a time");
        let (seconds, _) = rest.split_once("s\"").expect("seconds");
        let seconds: u64 = seconds.parse().expect("a number");
        assert!((1..=most).contains(&seconds), "{refused}");
    }
}
