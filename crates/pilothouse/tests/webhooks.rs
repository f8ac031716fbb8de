//! Admission webhooks, as users and their authors meet them. Texts are those of a kube-apiserver asked the same.

#[path = "webhooks/hook.rs"]
mod hook;
#[path = "world/world.rs"]
mod world;

use std::time::{Duration, Instant};

use hook::{Hook, Reply, allow, deny, patch};
use http::Method;
use json::{Object, Value, json};
use world::{World, refusal};

const CONFIGMAPS: &str = "/api/v1/namespaces/default/configmaps";
const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

fn configmap(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "b"}})
}

/// A webhook for all `ConfigMaps`, but for what `change` says.
fn webhook(client: Value, change: Value) -> Value {
    let mut webhook = json!({
        "name": "x.example.com",
        "clientConfig": client,
        "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 5,
    });
    let fields = webhook.as_object_mut().expect("an object");
    if let Value::Object(change) = change {
        fields.extend(change);
    }
    webhook
}

async fn register(world: &World, kind: &str, name: &str, webhooks: Vec<Value>) {
    let plural = format!("{}webhookconfigurations", kind.to_lowercase());
    let object = json!({
        "metadata": {"name": name},
        "webhooks": webhooks,
    });
    world.make(&format!("{GROUP}/{plural}"), object).await;
}

async fn unregister(world: &World, kind: &str, name: &str) {
    let plural = format!("{}webhookconfigurations", kind.to_lowercase());
    let path = format!("{GROUP}/{plural}/{name}");
    world
        .client
        .delete(&path, &Value::Null)
        .await
        .expect("gone");
}

#[tokio::test]
async fn a_webhook_changes_what_it_is_asked_about() {
    let world = World::start().await;
    let add = json!([{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]);
    let hook = Hook::start(move |_, _| patch(&add)).await;
    register(
        &world,
        "Mutating",
        "m",
        vec![webhook(hook.url("/add"), Value::Null)],
    )
    .await;
    let made = world.make(CONFIGMAPS, configmap("one")).await;
    assert_eq!(made.str_at(&["metadata", "labels", "seen"]), Some("yes"));
    let asked = hook.asked();
    let request = asked[0].get("request").expect("a request");
    for (path, want) in [
        (&["operation"][..], "CREATE"),
        (&["name"], "one"),
        (&["namespace"], "default"),
        (&["kind", "kind"], "ConfigMap"),
        (&["requestKind", "version"], "v1"),
        (&["resource", "resource"], "configmaps"),
        (&["userInfo", "username"], "admin"),
        (&["object", "kind"], "ConfigMap"),
        (&["object", "apiVersion"], "v1"),
        (&["options", "kind"], "CreateOptions"),
    ] {
        assert_eq!(request.str_at(path), Some(want), "{path:?}");
    }
    assert_eq!(request.get("oldObject"), Some(&Value::Null));
    assert_eq!(request.get("dryRun"), Some(&Value::Bool(false)));
    // What a webhook adds is nobody's field.
    let managed = json::to_string(made.at(&["metadata", "managedFields"]).expect("managers"));
    assert!(!managed.contains("seen"), "{managed}");
    // Not for its own configuration, and no more once that is gone.
    unregister(&world, "Mutating", "m").await;
    let made = world.make(CONFIGMAPS, configmap("two")).await;
    assert_eq!(made.at(&["metadata", "labels"]), None);
    assert_eq!(hook.asked().len(), 1);
}

#[tokio::test]
async fn a_webhook_refuses_creation_change_and_deletion() {
    let world = World::start().await;
    let hook = Hook::start(|path, review| match path {
        "/never" => deny("no way"),
        "/code" => Reply::Response(json!({
            "allowed": false,
            "status": {"code": 403, "reason": "Forbidden", "message": "not you"},
        })),
        "/silent" => Reply::Response(json!({"allowed": false})),
        _ if review.str_at(&["request", "operation"]) == Some("DELETE") => deny("stays"),
        _ => allow(),
    })
    .await;
    let cases = [
        (
            "/never",
            "400 admission webhook \"x.example.com\" denied the request: no way",
        ),
        (
            "/code",
            "403 admission webhook \"x.example.com\" denied the request: not you",
        ),
        (
            "/silent",
            "400 admission webhook \"x.example.com\" denied the request without explanation",
        ),
    ];
    for (path, want) in cases {
        register(
            &world,
            "Validating",
            "v",
            vec![webhook(hook.url(path), Value::Null)],
        )
        .await;
        assert_eq!(
            refusal(world.create(CONFIGMAPS, configmap("one")).await),
            want
        );
        unregister(&world, "Validating", "v").await;
    }
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/"), Value::Null)],
    )
    .await;
    world.make(CONFIGMAPS, configmap("one")).await;
    let one = format!("{CONFIGMAPS}/one");
    let change = json!({"data": {"a": "c"}});
    world
        .client
        .merge_patch(&one, &change)
        .await
        .expect("changed");
    let asked = hook.asked();
    let last = asked
        .last()
        .and_then(|it| it.get("request"))
        .expect("a request");
    assert_eq!(last.str_at(&["oldObject", "data", "a"]), Some("b"));
    assert_eq!(last.str_at(&["object", "data", "a"]), Some("c"));
    assert_eq!(last.str_at(&["options", "kind"]), Some("PatchOptions"));
    let deleted = world
        .client
        .delete(&one, &json!({"gracePeriodSeconds": 3}))
        .await;
    assert_eq!(
        refusal(deleted),
        "400 admission webhook \"x.example.com\" denied the request: stays"
    );
    let asked = hook.asked();
    let last = asked
        .last()
        .and_then(|it| it.get("request"))
        .expect("a request");
    assert_eq!(last.get("object"), Some(&Value::Null));
    assert_eq!(last.str_at(&["oldObject", "metadata", "name"]), Some("one"));
    let seconds = last.at(&["options", "gracePeriodSeconds"]);
    assert_eq!(seconds.and_then(Value::as_i64), Some(3));
    world.client.get(&one).await.expect("still there");
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
    let url = |path: &str| format!("https://127.0.0.1:{}{path}?timeout=1s", hook.port);
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
                "{call}Post \"https://127.0.0.1:1/x?timeout=1s\": dial tcp 127.0.0.1:1: connect: connection refused"
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
        let change = json!({"timeoutSeconds": 1});
        register(
            &world,
            "Validating",
            "v",
            vec![webhook(client.clone(), change)],
        )
        .await;
        let started = Instant::now();
        let refused = refusal(world.create(CONFIGMAPS, configmap("one")).await);
        assert_eq!(
            refused,
            format!(
                "500 Internal error occurred: failed calling webhook \"x.example.com\": {want}"
            )
        );
        assert!(started.elapsed() < Duration::from_secs(20), "{want}");
        unregister(&world, "Validating", "v").await;
        let change = json!({"timeoutSeconds": 1, "failurePolicy": "Ignore"});
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

#[tokio::test]
async fn dry_runs_reach_only_those_without_side_effects() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| allow()).await;
    let dry = format!("{CONFIGMAPS}?dryRun=All");
    let unknown = json!({"sideEffects": "Some", "admissionReviewVersions": ["v1beta1"]});
    // v1 configurations must say that they have none; older ones are read as they are.
    let refused = world
        .create(
            &format!("{GROUP}/validatingwebhookconfigurations"),
            json!({"metadata": {"name": "v"}, "webhooks": [(webhook(hook.url("/"), unknown))]}),
        )
        .await;
    assert!(refusal(refused).contains("sideEffects: Unsupported value"));
    let none = json!({"sideEffects": "NoneOnDryRun"});
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/"), none)],
    )
    .await;
    world.make(&dry, configmap("one")).await;
    assert_eq!(
        hook.asked()[0].at(&["request", "dryRun"]),
        Some(&Value::Bool(true))
    );
    let options = hook.asked()[0].at(&["request", "options"]).cloned();
    assert_eq!(
        options,
        Some(json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "dryRun": ["All"]}))
    );
}

#[tokio::test]
async fn earlier_webhooks_see_the_object_again_if_they_ask() {
    let world = World::start().await;
    // The first writes down what it sees; the second adds what the first has not seen.
    let hook = Hook::start(|path, review| {
        let label = review.str_at(&["request", "object", "metadata", "labels", "late"]);
        match (path, label) {
            ("/late", None) => {
                patch(&json!([{"op": "add", "path": "/metadata/labels", "value": {"late": "yes"}}]))
            }
            ("/first", Some(_)) => {
                patch(&json!([{"op": "add", "path": "/data/saw", "value": "late"}]))
            }
            _ => allow(),
        }
    })
    .await;
    for (policy, want) in [("IfNeeded", Some("late")), ("Never", None)] {
        let change = json!({"reinvocationPolicy": policy});
        register(
            &world,
            "Mutating",
            "a",
            vec![webhook(hook.url("/first"), change)],
        )
        .await;
        register(
            &world,
            "Mutating",
            "b",
            vec![webhook(hook.url("/late"), Value::Null)],
        )
        .await;
        let before = hook.asked().len();
        let made = world
            .make(CONFIGMAPS, configmap(&policy.to_lowercase()))
            .await;
        assert_eq!(made.str_at(&["data", "saw"]), want, "{policy}");
        let calls = hook.asked().len() - before;
        assert_eq!(calls, if want.is_some() { 3 } else { 2 });
        unregister(&world, "Mutating", "a").await;
        unregister(&world, "Mutating", "b").await;
    }
}

#[tokio::test]
async fn selectors_say_who_is_asked() {
    let world = World::start().await;
    world.namespace("watched", json!({"watch": "yes"})).await;
    let hook = Hook::start(|_, _| deny("seen")).await;
    let change = json!({"namespaceSelector": {"matchLabels": {"watch": "yes"}}});
    register(
        &world,
        "Validating",
        "n",
        vec![webhook(hook.url("/"), change)],
    )
    .await;
    world.make(CONFIGMAPS, configmap("free")).await;
    let there = "/api/v1/namespaces/watched/configmaps";
    assert!(world.create(there, configmap("one")).await.is_err());
    unregister(&world, "Validating", "n").await;
    let change = json!({"objectSelector": {"matchLabels": {"watch": "yes"}}});
    let mut labelled = configmap("labelled");
    labelled
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .expect("metadata")
        .insert("labels", json!({"watch": "yes"}));
    world.make(CONFIGMAPS, labelled).await;
    register(
        &world,
        "Validating",
        "o",
        vec![webhook(hook.url("/"), change)],
    )
    .await;
    world.make(CONFIGMAPS, configmap("plain")).await;
    // Taking the label off does not help.
    let path = format!("{CONFIGMAPS}/labelled");
    let unlabel = json!({"metadata": {"labels": {"watch": null}}});
    assert!(world.client.merge_patch(&path, &unlabel).await.is_err());
}

#[tokio::test]
async fn rules_mean_the_same_objects_under_other_versions() {
    let world = World::start().await;
    let hook = Hook::start(|_, review| {
        let version = review.str_at(&["request", "object", "apiVersion"]);
        let metrics = review.at(&[
            "request",
            "object",
            "spec",
            "targetCPUUtilizationPercentage",
        ]);
        match (version, metrics.and_then(Value::as_i64)) {
            (Some("autoscaling/v1"), Some(50)) => {
                patch(&json!([{"op": "add", "path": "/spec/maxReplicas", "value": 7}]))
            }
            _ => deny("not as asked for"),
        }
    })
    .await;
    let rules = |policy: &str| {
        json!({
            "rules": [{"operations": ["CREATE"], "apiGroups": ["autoscaling"], "apiVersions": ["v1"], "resources": ["horizontalpodautoscalers"]}],
            "matchPolicy": policy,
        })
    };
    let scaler = |name: &str| {
        json!({
            "metadata": {"name": name},
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"},
                "maxReplicas": 3,
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}],
            },
        })
    };
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    for (policy, want) in [("Exact", 3), ("Equivalent", 7)] {
        register(
            &world,
            "Mutating",
            "m",
            vec![webhook(hook.url("/"), rules(policy))],
        )
        .await;
        let made = world.make(path, scaler(&policy.to_lowercase())).await;
        assert_eq!(
            made.at(&["spec", "maxReplicas"]).and_then(Value::as_i64),
            Some(want)
        );
        assert_eq!(made.str_at(&["apiVersion"]), Some("autoscaling/v2"));
        unregister(&world, "Mutating", "m").await;
    }
    let asked = hook.asked();
    let request = asked[0].get("request").expect("a request");
    assert_eq!(request.str_at(&["kind", "version"]), Some("v1"));
    assert_eq!(request.str_at(&["requestKind", "version"]), Some("v2"));
}

#[tokio::test]
async fn the_older_review_is_spoken_to_those_who_ask_for_it() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| {
        // Neither uid nor kind nor patchType were looked at in v1beta1.
        Reply::Raw(200, br#"{"response":{"allowed":true,"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEveCIsInZhbHVlIjoieSJ9XQ=="}}"#.to_vec())
    })
    .await;
    let change = json!({"admissionReviewVersions": ["v1alpha9", "v1beta1", "v1"]});
    register(
        &world,
        "Mutating",
        "m",
        vec![webhook(hook.url("/"), change)],
    )
    .await;
    let made = world.make(CONFIGMAPS, configmap("one")).await;
    assert_eq!(made.str_at(&["data", "x"]), Some("y"));
    assert_eq!(
        hook.asked()[0].str_at(&["apiVersion"]),
        Some("admission.k8s.io/v1beta1")
    );
}

#[tokio::test]
async fn warnings_reach_the_client() {
    let world = World::start().await;
    let hook = Hook::start(|path, _| {
        let warnings = if path == "/many" {
            (0..40)
                .map(|it| format!("{it}{}", "x".repeat(300)))
                .collect::<Value>()
        } else {
            json!(["w1", "w2 \"q\"", "w1"])
        };
        Reply::Response(json!({"allowed": true, "warnings": warnings}))
    })
    .await;
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/few"), Value::Null)],
    )
    .await;
    let warnings = world
        .warnings(Method::POST, CONFIGMAPS, &configmap("one"))
        .await;
    assert_eq!(warnings, ["299 - \"w1\"", "299 - \"w2 \\\"q\\\"\""]);
    unregister(&world, "Validating", "v").await;
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/many"), Value::Null)],
    )
    .await;
    let warnings = world
        .warnings(Method::POST, CONFIGMAPS, &configmap("two"))
        .await;
    assert_eq!(warnings.len(), 16);
    assert_eq!(warnings[0].len(), "299 - \"\"".len() + 256);
}

/// An address of this machine that is not loopback's. Nothing is sent.
fn own_address() -> Option<String> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then(|| address.to_string())
}

#[tokio::test]
async fn a_service_is_found_through_its_endpoints() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| deny("seen")).await;
    let client = json!({
        "service": {"namespace": "default", "name": "hook", "path": "/p", "port": 8443},
        "caBundle": (&hook.bundle),
    });
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(client, Value::Null)],
    )
    .await;
    let failed = |why: &str| {
        format!(
            "500 Internal error occurred: failed calling webhook \"x.example.com\": failed to call webhook: Post \"https://hook.default.svc:8443/p?timeout=5s\": {why}"
        )
    };
    let ask = async || refusal(world.create(CONFIGMAPS, configmap("one")).await);
    assert_eq!(ask().await, failed("service \"hook\" not found"));
    let port = i64::from(hook.port);
    let Some(own) = own_address() else {
        // Endpoints may not be on loopback, and there is nothing else here.
        return;
    };
    let service =
        json!({"metadata": {"name": "hook"}, "spec": {"ports": [{"name": "https", "port": 443}]}});
    let services = "/api/v1/namespaces/default/services";
    world.make(services, service).await;
    assert_eq!(
        ask().await,
        failed("no service port 8443 found for service \"hook\"")
    );
    let ports = json!({"spec": {"ports": [{"name": "https", "port": 8443}]}});
    let patched = world
        .client
        .merge_patch(&format!("{services}/hook"), &ports)
        .await;
    patched.expect("another port");
    let slice = |ready: bool| {
        json!({
            "metadata": {"name": "hook-1", "labels": {"kubernetes.io/service-name": "hook"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [(&own)], "conditions": {"ready": ready}}],
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
        })
    };
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    world.make(slices, slice(false)).await;
    assert_eq!(
        ask().await,
        failed("no endpoints available for service \"hook\"")
    );
    let patched = world
        .client
        .merge_patch(&format!("{slices}/hook-1"), &slice(true))
        .await;
    patched.expect("ready");
    let denied = "400 admission webhook \"x.example.com\" denied the request: seen";
    assert_eq!(ask().await, denied);
    // The older Endpoints do as well.
    let deleted = world
        .client
        .delete(&format!("{slices}/hook-1"), &Value::Null)
        .await;
    deleted.expect("gone");
    let endpoints = json!({
        "metadata": {"name": "hook"},
        "subsets": [{"addresses": [{"ip": (&own)}], "ports": [{"name": "https", "port": port}]}],
    });
    world
        .make("/api/v1/namespaces/default/endpoints", endpoints)
        .await;
    assert_eq!(ask().await, denied);
}

#[tokio::test]
async fn connections_are_kept_and_all_are_asked_at_once() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| allow()).await;
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/"), Value::Null)],
    )
    .await;
    for index in 0..5 {
        world
            .make(CONFIGMAPS, configmap(&format!("c{index}")))
            .await;
    }
    assert_eq!(*hook.connections.lock().expect("no panic"), 1);
    // Two that never answer take no longer than one, and the first refusal is told.
    let silent = Hook::start(|_, _| Reply::Silence).await;
    let change = |name: &str| json!({"name": name, "timeoutSeconds": 2, "failurePolicy": "Ignore"});
    let both = vec![
        webhook(silent.url("/a"), change("a.example.com")),
        webhook(silent.url("/b"), change("b.example.com")),
    ];
    register(&world, "Validating", "w", both).await;
    let started = Instant::now();
    world.make(CONFIGMAPS, configmap("late")).await;
    assert!(started.elapsed() < Duration::from_millis(3900));
    assert_eq!(silent.asked().len(), 2);
}

#[tokio::test]
async fn conditions_without_cel_go_by_the_failure_policy() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| deny("seen")).await;
    let conditions = json!([{"name": "c", "expression": "true"}]);
    let mut change = Object::new();
    change.insert("matchConditions", conditions);
    let fail = webhook(hook.url("/"), change.clone().into());
    register(&world, "Validating", "v", vec![fail]).await;
    assert_eq!(
        refusal(world.create(CONFIGMAPS, configmap("one")).await),
        "403 configmaps \"one\" is forbidden: webhook \"x.example.com\" has matchConditions, which cannot be evaluated here"
    );
    unregister(&world, "Validating", "v").await;
    change.insert("failurePolicy", "Ignore");
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/"), change.into())],
    )
    .await;
    world.make(CONFIGMAPS, configmap("one")).await;
    assert!(hook.asked().is_empty());
}

#[tokio::test]
async fn a_namespace_is_its_own_namespace() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| deny("seen")).await;
    let change = json!({
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["namespaces"], "scope": "Cluster"}],
        "namespaceSelector": {"matchLabels": {"watch": "yes"}},
    });
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/"), change)],
    )
    .await;
    world.namespace("free", json!({})).await;
    let watched = json!({"metadata": {"name": "watched", "labels": {"watch": "yes"}}});
    assert!(world.create("/api/v1/namespaces", watched).await.is_err());
    assert_eq!(
        hook.asked()[0].str_at(&["request", "namespace"]),
        Some("watched")
    );
}

/// Widgets say `host:port` in v1, and two fields in v2.
fn convert(review: &Value) -> Reply {
    let to = review
        .str_at(&["request", "desiredAPIVersion"])
        .unwrap_or_default();
    let objects = review.at(&["request", "objects"]).and_then(Value::as_array);
    let converted = objects.into_iter().flatten().map(|object| {
        let mut object = object.clone();
        let fields = object.as_object_mut().expect("an object");
        fields.insert("apiVersion", to);
        let spec = fields.get_or_insert("spec");
        let text = |key| spec.str_at(&[key]).unwrap_or_default().to_owned();
        *spec = if to.ends_with("v2") {
            let both = text("address");
            let (host, port) = both.split_once(':').unwrap_or((&both, ""));
            json!({"host": host, "port": port})
        } else {
            json!({"address": (format!("{}:{}", text("host"), text("port")))})
        };
        object
    });
    let broken = converted
        .clone()
        .any(|it| it.str_at(&["spec", "address"]) == Some("broken:1"));
    let result = if broken {
        json!({"status": "Failure", "message": "broken"})
    } else {
        json!({"status": "Success"})
    };
    let answer = json!({
        "kind": "ConversionReview",
        "apiVersion": "apiextensions.k8s.io/v1",
        "response": {
            "uid": (review.str_at(&["request", "uid"]).unwrap_or_default()),
            "result": result,
            "convertedObjects": (converted.collect::<Value>()),
        },
    });
    Reply::Raw(200, json::to_vec(&answer))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn custom_objects_are_converted_by_their_webhook() {
    let world = World::start().await;
    let hook = Hook::start(|_, review| convert(review)).await;
    let version = |name: &str, storage: bool| {
        json!({
            "name": name,
            "served": true,
            "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}},
        })
    };
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [(version("v1", true)), (version("v2", false))],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": (hook.url("/convert")),
            }},
        },
    });
    world
        .make(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            definition,
        )
        .await;
    let path = |version: &str| format!("/apis/example.com/{version}/namespaces/default/widgets");
    // Definitions are followed in the background.
    let deadline = Instant::now() + Duration::from_secs(30);
    while world.client.get(&path("v2")).await.is_err() {
        assert!(Instant::now() < deadline, "never served");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let widget = |name: &str, host: &str| {
        json!({
            "apiVersion": "example.com/v2",
            "kind": "Widget",
            "metadata": {"name": name},
            "spec": {"host": host, "port": "1"},
        })
    };
    let made = world.make(&path("v2"), widget("one", "a")).await;
    assert_eq!(made.str_at(&["spec", "host"]), Some("a"));
    assert_eq!(made.str_at(&["apiVersion"]), Some("example.com/v2"));
    let stored = world.client.get(&format!("{}/one", path("v1"))).await;
    let stored = stored.expect("at the stored version");
    assert_eq!(stored.str_at(&["spec", "address"]), Some("a:1"));
    assert_eq!(
        stored.at(&["metadata", "uid"]),
        made.at(&["metadata", "uid"])
    );
    let changed = world
        .client
        .merge_patch(
            &format!("{}/one", path("v2")),
            &json!({"spec": {"port": "2"}}),
        )
        .await;
    assert_eq!(
        changed.expect("changed").str_at(&["spec", "port"]),
        Some("2")
    );
    let list = world.client.get(&path("v2")).await.expect("a list");
    let items = list.get("items").and_then(Value::as_array).expect("items");
    assert_eq!(items[0].str_at(&["spec", "port"]), Some("2"));
    for name in ["two", "three"] {
        world.make(&path("v2"), widget(name, name)).await;
    }
    let before = hook.asked().len();
    let list = world.client.get(&path("v2")).await.expect("a list");
    let items = list.get("items").and_then(Value::as_array).expect("items");
    assert!(
        items
            .iter()
            .all(|it| it.str_at(&["spec", "host"]).is_some())
    );
    assert_eq!(
        (items.len(), hook.asked().len() - before),
        (3, 1),
        "one call for all"
    );
    assert_eq!(
        refusal(world.create(&path("v2"), widget("four", "broken")).await),
        "500 Internal error occurred: conversion webhook for example.com/v2, Kind=Widget failed: broken"
    );
}

#[tokio::test]
async fn what_is_done_to_an_object_has_its_own_kind() {
    let world = World::start().await;
    world.namespace("ns", json!({})).await;
    let hook = Hook::start(|path, review| match path {
        "/scale" => patch(&json!([{"op": "replace", "path": "/spec/replicas", "value": 4}])),
        _ => deny(
            review
                .str_at(&["request", "kind", "kind"])
                .unwrap_or_default(),
        ),
    })
    .await;
    let rules = |resource: &str| json!({"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": [resource]}]});
    let deployments = "/apis/apps/v1/namespaces/ns/deployments";
    let deployment = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    world.make(deployments, deployment).await;
    register(
        &world,
        "Mutating",
        "m",
        vec![webhook(hook.url("/scale"), rules("deployments/scale"))],
    )
    .await;
    let scale = format!("{deployments}/d/scale");
    let scaled = world
        .client
        .merge_patch(&scale, &json!({"spec": {"replicas": 3}}))
        .await;
    let scaled = scaled.expect("scaled");
    assert_eq!(
        scaled.at(&["spec", "replicas"]).and_then(Value::as_i64),
        Some(4)
    );
    let asked = hook.asked();
    let request = asked[0].get("request").expect("a request");
    assert_eq!(request.str_at(&["kind", "kind"]), Some("Scale"));
    assert_eq!(
        request.str_at(&["resource", "resource"]),
        Some("deployments")
    );
    assert_eq!(request.str_at(&["subResource"]), Some("scale"));
    let replicas = |which| {
        request
            .at(&[which, "spec", "replicas"])
            .and_then(Value::as_i64)
    };
    assert_eq!(
        (replicas("oldObject"), replicas("object")),
        (Some(1), Some(3))
    );

    let pods = "/api/v1/namespaces/ns/pods";
    world.make(pods, json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})).await;
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/"), rules("pods/*"))],
    )
    .await;
    let denied =
        |kind: &str| format!("400 admission webhook \"x.example.com\" denied the request: {kind}");
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
    let bound = world.create(&format!("{pods}/p/binding"), binding).await;
    assert_eq!(refusal(bound), denied("Binding"));
    let eviction = json!({"metadata": {"name": "p", "namespace": "ns"}});
    let evicted = world.create(&format!("{pods}/p/eviction"), eviction).await;
    assert_eq!(refusal(evicted), denied("Eviction"));
    let executed = world
        .create(
            &format!("{pods}/p/exec?command=ls&command=-l&stdin=true"),
            Value::Null,
        )
        .await;
    assert_eq!(refusal(executed), denied("PodExecOptions"));
    let asked = hook.asked();
    let request = asked
        .last()
        .and_then(|it| it.get("request"))
        .expect("a request");
    assert_eq!(request.str_at(&["operation"]), Some("CONNECT"));
    let want = json!({"kind": "PodExecOptions", "apiVersion": "v1", "stdin": true, "command": ["ls", "-l"]});
    assert_eq!(request.get("object"), Some(&want));
}
