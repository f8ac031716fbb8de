use super::cluster::{Cluster, DEFINITIONS, definition, owner};
use json::{Value, json};

const NS: &str = "default";

#[tokio::test]
async fn dependents_follow_their_last_owner() {
    let cluster = Cluster::start().await;
    let (first, a) = cluster.map(NS, "first", &[]).await;
    let (second, b) = cluster.map(NS, "second", &[]).await;
    let (one, child) = cluster
        .map(NS, "one", &[owner("ConfigMap", "first", &a, true)])
        .await;
    let (grandchild, _) = cluster
        .map(
            NS,
            "grandchild",
            &[owner("ConfigMap", "one", &child, false)],
        )
        .await;
    let both = [
        owner("ConfigMap", "first", &a, true),
        owner("ConfigMap", "second", &b, true),
    ];
    let (shared, _) = cluster.map(NS, "shared", &both).await;

    cluster.delete(&first, "Background").await;
    cluster.until_gone(&one).await;
    cluster.until_gone(&grandchild).await;
    let left = cluster
        .until(&shared, |it| meta_owners(it).len() == 1)
        .await;
    assert_eq!(meta_owners(&left), ["second"]);

    cluster.delete(&second, "Background").await;
    cluster.until_gone(&shared).await;
    cluster.stop().await;
}

fn meta_owners(object: &Value) -> Vec<&str> {
    let all = object.at(&["metadata", "ownerReferences"]);
    let all = all.and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|it| it.str_at(&["name"])).collect()
}

#[tokio::test]
async fn an_owner_in_the_foreground_waits_for_what_blocks_it() {
    let cluster = Cluster::start().await;
    let (parent, uid) = cluster.map(NS, "parent", &[]).await;
    let (held, held_uid) = cluster
        .map(NS, "held", &[owner("ConfigMap", "parent", &uid, true)])
        .await;
    cluster
        .patch(
            &held,
            json!({"metadata": {"finalizers": ["example.com/hold"]}}),
        )
        .await;
    let (free, _) = cluster
        .map(NS, "free", &[owner("ConfigMap", "parent", &uid, false)])
        .await;
    let (deep, _) = cluster
        .map(NS, "deep", &[owner("ConfigMap", "held", &held_uid, true)])
        .await;

    cluster.delete(&parent, "Foreground").await;
    cluster.until_gone(&free).await;
    cluster.until_gone(&deep).await;
    let is_deleting = |it: &Value| it.at(&["metadata", "deletionTimestamp"]).is_some();
    cluster.until(&held, is_deleting).await;
    cluster.settle(NS).await;
    let waiting = cluster.get(&parent).await;
    let finalizers = waiting.at(&["metadata", "finalizers"]).cloned();
    assert_eq!(finalizers, Some(json!(["foregroundDeletion"])));

    cluster
        .patch(&held, json!({"metadata": {"finalizers": null}}))
        .await;
    cluster.until_gone(&held).await;
    cluster.until_gone(&parent).await;
    cluster.stop().await;
}

#[tokio::test]
async fn orphans_live_on_without_their_owner() {
    let cluster = Cluster::start().await;
    let (parent, uid) = cluster.map(NS, "parent", &[]).await;
    let mut children = Vec::new();
    for at in 0..70 {
        let (child, _) = cluster
            .map(
                NS,
                &format!("child-{at}"),
                &[owner("ConfigMap", "parent", &uid, true)],
            )
            .await;
        children.push(child);
    }
    cluster.delete(&parent, "Orphan").await;
    cluster.until_gone(&parent).await;
    cluster.settle(NS).await;
    for child in children {
        let child = cluster.get(&child).await;
        assert!(meta_owners(&child).is_empty(), "{child:?}");
    }
    cluster.stop().await;
}

#[tokio::test]
async fn a_name_is_not_enough_to_be_an_owner() {
    let cluster = Cluster::start().await;
    let (_, uid) = cluster.map(NS, "real", &[]).await;
    let wrong = "11111111-1111-4111-8111-111111111111";
    let (stranger, _) = cluster
        .map(NS, "stranger", &[owner("ConfigMap", "real", wrong, false)])
        .await;
    let (child, _) = cluster
        .map(NS, "child", &[owner("ConfigMap", "real", &uid, false)])
        .await;
    cluster.until_gone(&stranger).await;
    assert!(cluster.exists(&child).await);
    cluster.stop().await;
}

#[tokio::test]
async fn an_owner_in_another_namespace_is_none_and_an_event_says_so() {
    let cluster = Cluster::start().await;
    cluster.namespace("elsewhere").await;
    let (_, uid) = cluster.map("elsewhere", "far", &[]).await;
    let (child, _) = cluster
        .map(NS, "child", &[owner("ConfigMap", "far", &uid, false)])
        .await;
    cluster.until_gone(&child).await;
    let events =
        "/api/v1/namespaces/default/events?fieldSelector=reason%3DOwnerRefInvalidNamespace";
    let found = cluster
        .until(events, |it| {
            it.get("items")
                .and_then(Value::as_array)
                .is_some_and(|it| !it.is_empty())
        })
        .await;
    let event = &found.get("items").and_then(Value::as_array).expect("items")[0];
    let want = format!(
        "ownerRef [v1/ConfigMap, namespace: default, name: far, uid: {uid}] does not exist in namespace \"default\""
    );
    assert_eq!(event.str_at(&["message"]), Some(&*want));
    assert_eq!(event.str_at(&["involvedObject", "name"]), Some("child"));
    cluster.stop().await;
}

#[tokio::test]
async fn owners_in_a_circle_do_not_wait_for_each_other() {
    let cluster = Cluster::start().await;
    let (first, a) = cluster.map(NS, "first", &[]).await;
    let (second, b) = cluster
        .map(NS, "second", &[owner("ConfigMap", "first", &a, true)])
        .await;
    let back = json!({"metadata": {"ownerReferences": [(owner("ConfigMap", "second", &b, true))]}});
    cluster.patch(&first, back).await;
    cluster.delete(&first, "Foreground").await;
    cluster.until_gone(&first).await;
    cluster.until_gone(&second).await;
    cluster.stop().await;
}

#[tokio::test]
async fn custom_resources_own_and_are_owned() {
    let cluster = Cluster::start().await;
    cluster
        .create(DEFINITIONS, definition("widgets", "Widget"))
        .await;
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    cluster.until(widgets, |_| true).await;
    let widget = |name: &str, owners: Value| {
        json!({
            "kind": "Widget",
            "apiVersion": "example.com/v1",
            "metadata": {"name": name, "ownerReferences": owners},
        })
    };
    let made = cluster.create(widgets, widget("boss", json!([]))).await;
    let uid = made.str_at(&["metadata", "uid"]).expect("a uid").to_owned();
    let (map, map_uid) = cluster
        .map(NS, "map", &[owner("Widget", "boss", &uid, true)])
        .await;
    let of_map = json!([(owner("ConfigMap", "map", &map_uid, true))]);
    cluster.create(widgets, widget("last", of_map)).await;

    // With its definition, the owner goes, and with it all others.
    let boss = format!("{widgets}/boss");
    cluster.delete(&boss, "Foreground").await;
    cluster.until_gone(&boss).await;
    assert!(!cluster.exists(&map).await);
    cluster.until_gone(&format!("{widgets}/last")).await;
    cluster.stop().await;
}
