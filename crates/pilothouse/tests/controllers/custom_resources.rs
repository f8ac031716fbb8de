use super::cluster::{Cluster, DEFINITIONS, condition, definition, owner};
use json::json;

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_definition_goes_after_its_objects_and_takes_their_dependents_along() {
    let cluster = Cluster::start().await;
    cluster
        .create(DEFINITIONS, definition("widgets", "Widget"))
        .await;
    cluster.namespace("other").await;
    let at = |namespace: &str| format!("/apis/example.com/v1/namespaces/{namespace}/widgets");
    cluster.until(&at("default"), |_| true).await;
    let widget = |name: &str| json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": name}});
    let held = json!({
        "kind": "Widget",
        "apiVersion": "example.com/v1",
        "metadata": {"name": "held", "finalizers": ["example.com/hold"]},
    });
    cluster.create(&at("other"), held).await;
    let made = cluster.create(&at("default"), widget("free")).await;
    let uid = made.str_at(&["metadata", "uid"]).expect("a uid");
    let (dependent, _) = cluster
        .map(
            "default",
            "dependent",
            &[owner("Widget", "free", uid, true)],
        )
        .await;

    let path = format!("{DEFINITIONS}/widgets.example.com");
    cluster.delete(&path, "Background").await;
    let found = cluster
        .until(&path, |it| {
            condition(it, "Terminating", "reason") == Some("InstanceDeletionInProgress")
        })
        .await;
    assert_eq!(condition(&found, "Terminating", "status"), Some("True"));
    cluster.until_gone(&format!("{}/free", at("default"))).await;
    let refused = cluster.client.create(&at("default"), &widget("late")).await;
    let refused = refused.expect_err("no new objects");
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.message,
        "widgets.example.com \"late\" is forbidden: create not allowed while custom resource definition is terminating"
    );
    assert!(cluster.exists(&path).await);

    let release = json!({"metadata": {"finalizers": null}});
    cluster
        .patch(&format!("{}/held", at("other")), release)
        .await;
    cluster.until_gone(&path).await;
    cluster.until_gone(&dependent).await;
    cluster.stop().await;
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_name_is_free_again_when_its_definition_is_gone() {
    let cluster = Cluster::start().await;
    cluster
        .create(DEFINITIONS, definition("widgets", "Widget"))
        .await;
    cluster
        .until("/apis/example.com/v1/widgets", |_| true)
        .await;
    cluster
        .create(DEFINITIONS, definition("gadgets", "Widget"))
        .await;
    let second = format!("{DEFINITIONS}/gadgets.example.com");
    let refused = cluster.get(&second).await;
    let names = refused.at(&["status", "acceptedNames"]).cloned();
    assert_eq!(names, Some(json!({"plural": "gadgets", "kind": ""})));
    assert_eq!(
        condition(&refused, "NamesAccepted", "reason"),
        Some("ListKindConflict")
    );

    cluster
        .delete(&format!("{DEFINITIONS}/widgets.example.com"), "Background")
        .await;
    cluster
        .until(&second, |it| {
            condition(it, "Established", "status") == Some("True")
        })
        .await;
    cluster
        .until("/apis/example.com/v1/gadgets", |_| true)
        .await;
    cluster.stop().await;
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn objects_that_nobody_is_served_go_with_their_definition() {
    let cluster = Cluster::start().await;
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    cluster
        .create(DEFINITIONS, definition("widgets", "Widget"))
        .await;
    cluster.until(widgets, |_| true).await;
    let widget =
        json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "old"}});
    cluster.create(widgets, widget).await;
    let hidden = json!([{"op": "replace", "path": "/spec/versions/0/served", "value": false}]);
    let hidden = cluster.client.json_patch(&path, &hidden).await;
    hidden.expect("a version need not be served");
    cluster.delete(&path, "Background").await;
    cluster.until_gone(&path).await;
    cluster
        .create(DEFINITIONS, definition("widgets", "Widget"))
        .await;
    let found = cluster.until(widgets, |_| true).await;
    assert_eq!(found.get("items"), Some(&json!([])));
    cluster.stop().await;
}
