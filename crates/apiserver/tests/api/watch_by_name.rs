//! A watch or list of one object shows no other, whatever its name begins with.

use json::{Value, json};

use crate::fixture::{Fixture, next};

const SECRETS: &str = "/api/v1/namespaces/n/secrets";

fn named(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

/// Creates `db`, `db-root` and `other` around the beginning of a watch of `db`.
async fn watches_one(
    fixture: &Fixture,
    collection: &str,
    watch: &str,
    object: impl Fn(&str) -> Value,
) {
    let admin = &fixture.admin;
    for name in ["db", "db-root", "other"] {
        admin.create(collection, &object(name)).await.unwrap();
    }
    let mut events = admin.watch(watch).await.unwrap();
    assert_eq!(next(&mut events).await, "ADDED db", "{watch}");
    let label = json!({"metadata": {"labels": {"changed": "yes"}}});
    for name in ["db-root", "other", "db"] {
        let path = format!("{collection}/{name}");
        admin.merge_patch(&path, &label).await.unwrap();
    }
    assert_eq!(next(&mut events).await, "MODIFIED db", "{watch}");
    for name in ["db-root", "other", "db"] {
        let path = format!("{collection}/{name}");
        admin.delete(&path, &Value::Null).await.unwrap();
    }
    assert_eq!(next(&mut events).await, "DELETED db", "{watch}");
}

#[tokio::test]
async fn a_watch_of_one_secret_does_not_show_its_neighbours() {
    let fixture = Fixture::new();
    let watch = "/api/v1/watch/namespaces/n/secrets/db";
    watches_one(&fixture, SECRETS, watch, named).await;
    let watch = format!("{SECRETS}?watch=1&fieldSelector=metadata.name%3Ddb");
    watches_one(&fixture, SECRETS, &watch, named).await;
}

#[tokio::test]
async fn a_watch_of_one_cluster_scoped_object_does_not_show_its_neighbours() {
    let fixture = Fixture::new();
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let watch = "/apis/rbac.authorization.k8s.io/v1/watch/clusterroles/db";
    watches_one(&fixture, roles, watch, named).await;
    let nodes = "/api/v1/nodes";
    watches_one(&fixture, nodes, "/api/v1/watch/nodes/db", named).await;
}

#[tokio::test]
async fn a_watch_of_one_custom_object_does_not_show_its_neighbours() {
    let fixture = Fixture::new();
    for (plural, kind, scope) in [
        ("gadgets", "Gadget", "Namespaced"),
        ("gears", "Gear", "Cluster"),
    ] {
        let spec = json!({"type": "object"});
        fixture.define(plural, kind, scope, spec).await;
        let custom = |name: &str| json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name}});
        let base = "/apis/example.com/v1";
        if scope == "Cluster" {
            let collection = format!("{base}/{plural}");
            let watch = format!("{base}/watch/{plural}/db");
            watches_one(&fixture, &collection, &watch, custom).await;
        } else {
            let collection = format!("{base}/namespaces/n/{plural}");
            let watch = format!("{base}/watch/namespaces/n/{plural}/db");
            watches_one(&fixture, &collection, &watch, custom).await;
            // In all namespaces: upstream serves this for custom resources only.
            let watch = format!("{base}/watch/{plural}/db");
            watches_one(&fixture, &collection, &watch, custom).await;
        }
    }
}

#[tokio::test]
async fn lists_and_deletecollection_by_name_take_that_name_only() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    for name in ["db", "db-root"] {
        admin.create(SECRETS, &named(name)).await.unwrap();
    }
    let one = format!("{SECRETS}?fieldSelector=metadata.name%3Ddb");
    let names = |list: &[Value]| -> Vec<String> {
        let names = list.iter().map(|it| it.str_at(&["metadata", "name"]));
        names.map(|it| it.unwrap().to_owned()).collect()
    };
    assert_eq!(names(&admin.items(&one).await.unwrap()), ["db"]);
    admin.delete(&one, &Value::Null).await.unwrap();
    assert_eq!(names(&admin.items(SECRETS).await.unwrap()), ["db-root"]);
}

#[tokio::test]
async fn a_selector_cannot_widen_what_a_name_allows() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    for name in ["db", "db-root"] {
        admin.create(SECRETS, &named(name)).await.unwrap();
    }
    let rule = json!({
        "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["db"], "verbs": ["list", "watch"],
    });
    fixture.grant("jane", rule).await;
    let jane = fixture.user("jane");
    let list = async |selector: &str| {
        jane.items(&format!("{SECRETS}?fieldSelector={selector}"))
            .await
    };
    assert_eq!(list("metadata.name%3Ddb").await.unwrap().len(), 1);
    // No list of one name: the comma is escaped, and the term behind it is none.
    for selector in [
        "metadata.namespace!%3Dx%5C%2Cmetadata.name%3Ddb",
        "metadata.namespace!%3D%5C%5C%5C%2Cmetadata.name%3Ddb",
        "metadata.name!%3Dx%5C%2Cmetadata.name%3Ddb",
    ] {
        let refused = list(selector).await.unwrap_err();
        assert_eq!(refused.code, 403, "{selector}: {refused}");
    }
    // The path names the object: a selector beside it may only say the same.
    let watch = "/api/v1/watch/namespaces/n/secrets/db?fieldSelector=";
    for selector in [
        "metadata.name%3Ddb-root",
        "metadata.namespace%3Dn",
        "metadata.name!%3Ddb",
    ] {
        let refused = jane.watch(&format!("{watch}{selector}")).await.unwrap_err();
        assert_eq!(
            (refused.code, &*refused.message),
            (
                400,
                "fieldSelector metadata.name doesn't match requested name"
            ),
            "{selector}"
        );
    }
    let mut events = jane
        .watch(&format!("{watch}metadata.name%3Ddb"))
        .await
        .unwrap();
    assert_eq!(next(&mut events).await, "ADDED db");
}
