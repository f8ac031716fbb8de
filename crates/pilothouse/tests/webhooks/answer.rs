//! What a webhook says is done: changes, refusals, warnings, in both forms of the review.

use http::Method;
use json::{Value, json};

use crate::hook::{Hook, Reply, allow, deny, patch};
use crate::world::{World, refusal};
use crate::{CONFIGMAPS, GROUP, configmap, register, unregister, webhook};

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
    assert_eq!(last.str_at(&["options", "kind"]), Some("UpdateOptions"));
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

/// Whoever makes nonsense of who owns which field is not heard.
#[tokio::test]
async fn managers_are_not_for_a_webhook_to_break() {
    let world = World::start().await;
    let path = "/metadata/managedFields/0/fieldsType";
    let spoil = json!([{"op": "remove", "path": path}]);
    let hook = Hook::start(move |_, _| patch(&spoil)).await;
    register(
        &world,
        "Mutating",
        "m",
        vec![webhook(hook.url("/"), Value::Null)],
    )
    .await;
    let said = world
        .warnings(Method::POST, CONFIGMAPS, &configmap("one"))
        .await;
    let begin = ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: missing fieldsType";
    assert!(said.len() == 1 && said[0].contains(begin), "{said:?}");
    let made = world.client.get(&format!("{CONFIGMAPS}/one")).await;
    let made = made.expect("it is there");
    let managers = made.at(&["metadata", "managedFields"]);
    let managers = managers.and_then(Value::as_array).expect("managers");
    assert_eq!(managers[0].str_at(&["fieldsType"]), Some("FieldsV1"));
}

/// What is made or gone is told by what happens, not by how it was asked for.
#[tokio::test]
async fn whatever_the_verb() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| allow()).await;
    let every = json!({"rules": [
        {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["leases", "configmaps"]},
    ]});
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/"), every)],
    )
    .await;
    let last = |field: &[&str]| {
        let asked = hook.asked();
        let request = asked.last().and_then(|it| it.get("request"));
        let found = request.and_then(|it| it.str_at(field));
        found.map(str::to_owned)
    };
    let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    let new = json!({"metadata": {"name": "l"}});
    world.client.update(lease, &new).await.expect("made");
    assert_eq!(last(&["operation"]).as_deref(), Some("CREATE"));
    assert_eq!(last(&["options", "kind"]).as_deref(), Some("CreateOptions"));
    world.make(CONFIGMAPS, configmap("one")).await;
    let some = format!("{CONFIGMAPS}?fieldSelector=metadata.name%3Done");
    world
        .client
        .delete(&some, &Value::Null)
        .await
        .expect("gone");
    let gone = last(&["oldObject", "metadata", "name"]);
    assert_eq!(gone.as_deref(), Some("one"));
    assert_eq!(last(&["name"]), None);
}
