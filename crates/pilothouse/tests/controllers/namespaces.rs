use super::cluster::{Cluster, DEFINITIONS, condition, definition};
use json::json;

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_namespace_takes_its_content_along() {
    let cluster = Cluster::start().await;
    cluster
        .create(DEFINITIONS, definition("widgets", "Widget"))
        .await;
    cluster.namespace("doomed").await;
    cluster.namespace("other").await;
    let widgets = "/apis/example.com/v1/namespaces/doomed/widgets";
    cluster.until(widgets, |_| true).await;
    for at in 0..600 {
        cluster.map("doomed", &format!("map-{at}"), &[]).await;
    }
    let widget =
        json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "w"}});
    cluster.create(widgets, widget).await;
    let (kept, _) = cluster.map("other", "kept", &[]).await;

    cluster
        .delete("/api/v1/namespaces/doomed", "Background")
        .await;
    cluster.until_gone("/api/v1/namespaces/doomed").await;

    let maps = "/api/v1/namespaces/doomed/configmaps";
    for path in [maps, widgets] {
        let left = cluster.client.items(path).await.expect("a list");
        assert!(left.is_empty(), "{path}: {left:?}");
    }
    assert!(cluster.exists(&kept).await);
    cluster.stop().await;
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn content_with_finalizers_holds_the_namespace_until_it_is_released() {
    let cluster = Cluster::start().await;
    cluster.namespace("stuck").await;
    let (path, _) = cluster.map("stuck", "held", &[]).await;
    let hold = json!({"metadata": {"finalizers": ["example.com/one", "example.com/two"]}});
    cluster.patch(&path, hold).await;
    cluster
        .delete("/api/v1/namespaces/stuck", "Background")
        .await;

    let namespace = cluster
        .until("/api/v1/namespaces/stuck", |it| {
            condition(it, "NamespaceContentRemaining", "status") == Some("True")
        })
        .await;
    let table = [
        (
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        (
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        (
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: example.com/one in 1 resource instances, example.com/two in 1 resource instances",
        ),
    ];
    for (kind, status, reason, message) in table {
        let found = ["status", "reason", "message"].map(|it| condition(&namespace, kind, it));
        assert_eq!(found, [Some(status), Some(reason), Some(message)], "{kind}");
    }
    assert_eq!(namespace.str_at(&["status", "phase"]), Some("Terminating"));

    cluster
        .patch(&path, json!({"metadata": {"finalizers": null}}))
        .await;
    cluster.until_gone("/api/v1/namespaces/stuck").await;
    cluster.stop().await;
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_finalizer_of_others_on_the_namespace_outlives_its_content() {
    let cluster = Cluster::start().await;
    let namespace = json!({
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {"name": "kept", "finalizers": ["example.com/keep"]},
    });
    cluster.create("/api/v1/namespaces", namespace).await;
    let (map, _) = cluster.map("kept", "content", &[]).await;
    let path = "/api/v1/namespaces/kept";
    cluster.delete(path, "Background").await;
    let found = cluster
        .until(path, |it| {
            let left = it
                .at(&["spec", "finalizers"])
                .and_then(json::Value::as_array);
            left.is_none_or(Vec::is_empty)
        })
        .await;
    assert_eq!(
        condition(&found, "NamespaceContentRemaining", "status"),
        Some("False")
    );
    assert!(!cluster.exists(&map).await);
    cluster
        .patch(path, json!({"metadata": {"finalizers": null}}))
        .await;
    cluster.until_gone(path).await;
    cluster.stop().await;
}
