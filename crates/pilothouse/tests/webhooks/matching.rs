//! Which webhooks are asked about what.

use json::{Object, Value, json};

use crate::hook::{Hook, deny, patch};
use crate::world::{World, refusal};
use crate::{CONFIGMAPS, configmap, register, unregister, webhook};

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
