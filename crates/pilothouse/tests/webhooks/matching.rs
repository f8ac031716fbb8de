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
async fn conditions_decide_who_is_called() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| deny("seen")).await;
    let with = |expressions: &[&str], failure: &str| {
        let all = expressions.iter().enumerate();
        let all: Vec<Value> = all
            .map(|(number, it)| json!({"name": (format!("c{number}")), "expression": (*it)}))
            .collect();
        let mut change = Object::new();
        change.insert("matchConditions", all);
        change.insert("failurePolicy", failure);
        webhook(hook.url("/"), change.into())
    };
    let seen = "400 admission webhook \"x.example.com\" denied the request: seen";
    let failed = "403 configmaps \"one\" is forbidden: expression 'object.x == 1' resulted in error: no such key: x";
    for (number, (expressions, failure, expected)) in [
        (
            &[
                "object.metadata.name == 'one'",
                "request.operation == 'CREATE'",
            ][..],
            "Fail",
            seen,
        ),
        (
            &["authorizer.group('').resource('pods').check('list').allowed()"],
            "Fail",
            seen,
        ),
        (&["object.x == 1", "false"], "Fail", ""),
        (&["object.x == 1", "true"], "Fail", failed),
        (&["object.x == 1", "true"], "Ignore", ""),
    ]
    .into_iter()
    .enumerate()
    {
        for kind in ["Validating", "Mutating"] {
            register(&world, kind, "v", vec![with(expressions, failure)]).await;
            let before = hook.asked().len();
            let made = world.create(CONFIGMAPS, configmap("one")).await;
            if expected.is_empty() {
                assert!(made.is_ok(), "{number} {made:?}");
                let path = format!("{CONFIGMAPS}/one");
                world.client.delete(&path, &Value::Null).await.unwrap();
            } else {
                assert_eq!(refusal(made), expected, "{number}");
            }
            let calls = usize::from(expected == seen);
            assert_eq!(hook.asked().len(), before + calls, "{number}");
            unregister(&world, kind, "v").await;
        }
    }
    // What does not compile is not taken.
    let wrong = with(&["object.metadata.name"], "Fail");
    let configuration = json!({"metadata": {"name": "w"}, "webhooks": [wrong]});
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let said = refusal(world.create(path, configuration).await);
    let text = "webhooks[0].matchConditions[0].expression: Invalid value: \"object.metadata.name\": must evaluate to bool but got dyn";
    assert!(said.contains(text), "{said}");
}
