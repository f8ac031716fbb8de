//! Features with different ways to be cleaned.

use apiserver::local::Local;
use features::Registry;
use json::{Value, json};

use super::{FEATURES, LONG, condition, dynamic, set, settled, until, until_state};

const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const GATE: &str = "MaxUnavailableStatefulSet";

fn stateful_set(name: &str, rolling_update: &Value) -> Value {
    json!({
        "kind": "StatefulSet", "apiVersion": "apps/v1",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "serviceName": "web",
            "selector": {"matchLabels": {"app": "web"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": (rolling_update.clone())},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx"}]},
            },
        },
    })
}

/// Comes back when an Event tells of the feature's change. It is written after the change itself.
async fn until_event(client: &Local, reason: &str) {
    let path = "/api/v1/namespaces/kube-system/events?watch=true&resourceVersion=0";
    let mut watch = client.watch(path).await.expect("a watch");
    let wait = async {
        while let Some((_, event)) = watch.next().await {
            let about = event.str_at(&["involvedObject", "name"]);
            if about == Some(GATE) && event.str_at(&["reason"]) == Some(reason) {
                return true;
            }
        }
        false
    };
    let found = tokio::time::timeout(LONG, wait).await;
    assert_eq!(found, Ok(true), "an Event with the reason {reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_is_removed_with_its_owners_when_its_feature_is_turned_off() {
    let server = dynamic("", "1.37").await;
    let client = server.local();
    until_state(&client, GATE, "On").await;
    let with = stateful_set("web", &json!({"maxUnavailable": 2, "partition": 1}));
    client
        .apply(&format!("{SETS}/web"), &with, "me")
        .await
        .expect("applied");
    set(&client, GATE, "Disabled").await.expect("it may be set");
    let off = until_state(&client, GATE, "Off").await;
    assert_eq!(condition(&off, "Clean").0, "True", "{off}");
    assert_eq!(off.str_at(&["status", "source"]), Some("Dynamic"));
    let history = off.at(&["status", "history"]).and_then(Value::as_array);
    let states: Vec<&str> = history
        .into_iter()
        .flatten()
        .filter_map(|it| it.str_at(&["to"]))
        .collect();
    assert_eq!(states, ["On", "TurningOff", "Off"]);
    let found = client
        .get(&format!("{SETS}/web"))
        .await
        .expect("it is there");
    let text = found.to_string();
    assert!(!text.contains("maxUnavailable"), "{text}");
    assert_eq!(
        found
            .at(&["metadata", "generation"])
            .and_then(Value::as_i64),
        Some(1)
    );
    // Who owned the field can apply what is left of it.
    let path = format!("{SETS}/web");
    let again = stateful_set("web", &json!({"partition": 1}));
    client
        .apply(&path, &again, "other")
        .await
        .expect("no conflict with who owned it");
    // New uses are dropped now.
    let late = stateful_set("late", &json!({"maxUnavailable": 2}));
    let late = client.create(SETS, &late).await.expect("created");
    assert!(!late.to_string().contains("maxUnavailable"));
    until_event(&client, "TurningOff").await;
    until_event(&client, "Off").await;
    set(&client, GATE, "Enabled").await.expect("it may be set");
    until_state(&client, GATE, "On").await;
    let again = stateful_set("again", &json!({"maxUnavailable": 2}));
    let again = client.create(SETS, &again).await.expect("created");
    assert!(again.to_string().contains("maxUnavailable"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_source_is_waited_for_and_its_pods_are_named_and_kept() {
    // Locked since 1.36.
    let server = dynamic("", "1.35").await;
    let client = server.local();
    until_state(&client, "ImageVolume", "On").await;
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "models", "namespace": "default"},
        "spec": {
            "containers": [{"name": "c", "image": "nginx", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
            "volumes": [{"name": "v", "image": {"reference": "example.com/model:1", "pullPolicy": "IfNotPresent"}}],
        },
    });
    client.create(pods, &pod).await.expect("created");
    set(&client, "ImageVolume", "Disabled")
        .await
        .expect("it may be set");
    let blocked = until(&client, "ImageVolume", |it| {
        condition(it, "Blocked").0 == "True"
    })
    .await;
    assert_eq!(blocked.str_at(&["status", "state"]), Some("TurningOff"));
    let (_, reason, message) = condition(&blocked, "Blocked");
    assert_eq!(reason, "WaitingForObjects");
    assert!(message.contains("pods/default/models"), "{message}");
    client
        .get(&format!("{pods}/models"))
        .await
        .expect("nothing is deleted");
    let now = json!({"gracePeriodSeconds": 0});
    client
        .delete(&format!("{pods}/models"), &now)
        .await
        .expect("deleted");
    let off = until_state(&client, "ImageVolume", "Off").await;
    assert_eq!(condition(&off, "Clean").0, "True");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_goes_with_its_feature_after_those_that_need_it() {
    let server = dynamic("", "1.37").await;
    let client = server.local();
    let (base, dependent) = ("ClusterTrustBundle", "ClusterTrustBundleProjection");
    until_state(&client, dependent, "On").await;
    until(&client, base, |it| {
        it.at(&["status", "dependents"]).is_some()
    })
    .await;
    let refused = set(&client, base, "Disabled")
        .await
        .expect_err("another needs it");
    assert!(refused.message.contains(dependent), "{}", refused.message);
    let bundles = "/apis/certificates.k8s.io/v1/clustertrustbundles";
    assert_eq!(client.items(bundles).await.expect("served").len(), 0);
    let bundle = json!({
        "kind": "ClusterTrustBundle", "apiVersion": "certificates.k8s.io/v1",
        "metadata": {"name": "roots"}, "spec": {"trustBundle": (server_certificate(&client).await)},
    });
    client.create(bundles, &bundle).await.expect("created");
    set(&client, dependent, "Disabled")
        .await
        .expect("it may be set");
    until_state(&client, dependent, "Off").await;
    until(&client, base, |it| {
        it.at(&["status", "dependents"]).is_none()
    })
    .await;
    set(&client, base, "Disabled")
        .await
        .expect("nobody needs it");
    let off = until_state(&client, base, "Off").await;
    assert_eq!(condition(&off, "Clean").0, "True");
    let gone = client.items(bundles).await.expect_err("not served");
    assert!(gone.is_not_found() || gone.code == 404, "{gone}");
    set(&client, base, "Enabled").await.expect("it may be set");
    until_state(&client, base, "On").await;
    assert_eq!(client.items(bundles).await.expect("served").len(), 0);
}

/// Some certificate.
async fn server_certificate(client: &apiserver::local::Local) -> String {
    let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    loop {
        if let Ok(map) = client.get(path).await
            && let Some(found) = map.str_at(&["data", "client-ca-file"])
        {
            return found.to_owned();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feature_brings_its_definition_along_and_takes_it_away() {
    let server = dynamic("", "1.37").await;
    let client = server.local();
    let gate = "StorageVersionAPI";
    let objects = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
    until_state(&client, gate, "Off").await;
    // It depends on another one, and its own status says whether that is on.
    until(&client, gate, |it| {
        let found = it.at(&["status", "dependencies"]);
        let mut found = found.and_then(Value::as_array).into_iter().flatten();
        found.any(|it| it.get("satisfied") == Some(&Value::from(true)))
    })
    .await;
    client.items(objects).await.expect_err("not served");
    set(&client, gate, "Enabled").await.expect("it may be set");
    until_state(&client, gate, "On").await;
    let object = json!({
        "kind": "StorageVersion", "apiVersion": "internal.apiserver.k8s.io/v1alpha1",
        "metadata": {"name": "apps.deployments"}, "spec": {}, "status": {},
    });
    client.create(objects, &object).await.expect("served");
    set(&client, gate, "Disabled").await.expect("it may be set");
    until_state(&client, gate, "Off").await;
    client.items(objects).await.expect_err("not served");
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_that_are_accepted_stay_and_are_counted() {
    let server = dynamic("StatefulSetRecreateStrategy=true", "1.37").await;
    let client = server.local();
    let gate = "StatefulSetRecreateStrategy";
    until_state(&client, gate, "On").await;
    let mut web = stateful_set("web", &Value::Null);
    let spec = web.get_mut("spec").and_then(Value::as_object_mut);
    spec.expect("it has one")
        .insert("updateStrategy", json!({"type": "Recreate"}));
    client.create(SETS, &web).await.expect("created");
    set(&client, gate, "Disabled").await.expect("it may be set");
    until(&client, gate, |it| condition(it, "Blocked").0 == "True").await;
    let accept = json!({"spec": {"onDangling": "Accept"}});
    client
        .merge_patch(&format!("{FEATURES}/{gate}"), &accept)
        .await
        .expect("accepted");
    let off = until_state(&client, gate, "Off").await;
    assert_eq!(condition(&off, "Clean").0, "False");
    let dangling = off
        .at(&["status", "dangling", "count"])
        .and_then(Value::as_i64);
    assert_eq!(dangling, Some(1), "{off}");
    let sample = off
        .at(&["status", "dangling", "samples"])
        .and_then(Value::as_array);
    let sample = sample.and_then(|it| it.first()).expect("a sample");
    assert_eq!(sample.str_at(&["name"]), Some("web"));
    assert_eq!(
        sample.str_at(&["fieldPath"]),
        Some("spec.updateStrategy.type")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_set_is_refused_with_what_to_do() {
    let server = testkit::server::Server::start().await;
    let client = server.local();
    until_state(&client, GATE, "On").await;
    let refused = set(&client, GATE, "Disabled")
        .await
        .expect_err("not opted in");
    assert!(
        refused
            .message
            .contains("--dynamic-features=kube-system/MaxUnavailableStatefulSet"),
        "{}",
        refused.message
    );
    let path = format!("{FEATURES}/{GATE}");
    // The main resource does not set what is desired.
    let change = json!({"spec": {"desired": "Disabled", "onDangling": "Accept"}});
    let changed = client.merge_patch(&path, &change).await.expect("taken");
    assert_eq!(changed.get("spec"), Some(&json!({"onDangling": "Accept"})));
    let announced = json!({
        "kind": "Feature", "apiVersion": "features.k8s.io/v1alpha1", "metadata": {"name": "Mine"},
    });
    let refused = client
        .create(FEATURES, &announced)
        .await
        .expect_err("not a server");
    assert_eq!(refused.code, 403, "{}", refused.message);
    let refused = client
        .delete(&path, &Value::Null)
        .await
        .expect_err("not a server");
    assert_eq!(refused.code, 403, "{}", refused.message);
    let own = FEATURES.replace("kube-system", "default");
    client
        .create(&own, &announced)
        .await
        .expect("any other namespace");
    let mut other = announced;
    let metadata = other.get_mut("metadata").and_then(Value::as_object_mut);
    metadata.expect("it has some").insert("name", "MINE");
    let refused = client
        .create(&own, &other)
        .await
        .expect_err("the same name");
    assert!(
        refused.message.contains("must differ by more than case"),
        "{}",
        refused.message
    );
}

const REVIEWS: &str = "/apis/features.k8s.io/v1alpha1/featureupgradereviews";

/// What happened in 1.35: on by default up to 1.35.3, off since 1.35.4.
#[tokio::test(flavor = "multi_thread")]
async fn a_patch_release_that_turns_a_used_feature_off_is_unsafe_until_it_is_clean() {
    let server = dynamic("MaxUnavailableStatefulSet=true", "1.35").await;
    let client = server.local();
    until_state(&client, GATE, "On").await;
    settled(&client).await;
    let count = 40;
    for index in 0..count {
        let name = format!("web-{index}");
        let set = stateful_set(&name, &json!({"maxUnavailable": 2}));
        client.create(SETS, &set).await.expect("created");
    }
    let mut registry = Registry::kubernetes().to_json();
    registry
        .as_object_mut()
        .expect("an object")
        .insert("version", "1.35");
    let review = |flags: &[&str]| {
        let flags: Vec<Value> = flags.iter().map(|it| (*it).into()).collect();
        json!({
            "kind": "FeatureUpgradeReview", "apiVersion": "features.k8s.io/v1alpha1",
            "spec": {"targetVersion": "1.35.4", "targetRegistry": (registry.clone()), "targetFlags": flags},
        })
    };
    let reasons = |answer: &Value| -> Vec<Value> {
        let all = answer.at(&["status", "reasons"]).and_then(Value::as_array);
        let all = all.into_iter().flatten();
        all.filter(|it| it.str_at(&["feature"]) == Some(GATE))
            .cloned()
            .collect()
    };
    let answer = client
        .create(REVIEWS, &review(&[]))
        .await
        .expect("answered");
    assert_eq!(
        answer.str_at(&["status", "verdict"]),
        Some("Unsafe"),
        "{answer}"
    );
    let found = reasons(&answer);
    let [reason] = &found[..] else {
        panic!("{answer}")
    };
    assert_eq!(reason.str_at(&["code"]), Some("DefaultFlips"));
    let message = reason.str_at(&["message"]).expect("a message");
    assert!(message.starts_with("40 uses are stored"), "{message}");
    let blockers = reason
        .get("blockers")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    assert_eq!(blockers, 20);
    let kept = client
        .create(REVIEWS, &review(&["MaxUnavailableStatefulSet=true"]))
        .await;
    assert_eq!(
        kept.expect("answered").str_at(&["status", "verdict"]),
        Some("Safe")
    );
    set(&client, GATE, "Disabled").await.expect("it may be set");
    until_state(&client, GATE, "Off").await;
    let answer = client
        .create(REVIEWS, &review(&[]))
        .await
        .expect("answered");
    assert_eq!(
        answer.str_at(&["status", "verdict"]),
        Some("Safe"),
        "{answer}"
    );
}
