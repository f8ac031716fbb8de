//! Server-side apply to custom objects whose definition has changed.

use json::{Value, json};

use crate::fixture::{DEFINITIONS, Fixture};

fn version(name: &str, served: bool, storage: bool) -> Value {
    json!({
        "name": name, "served": served, "storage": storage,
        "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": {
                "a": {"type": "string"}, "b": {"type": "string"},
            }}},
        }},
    })
}

fn widget(version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": (format!("example.com/{version}")), "kind": "Widget",
        "metadata": {"name": "w"}, "spec": spec,
    })
}

fn managers(object: &Value) -> Vec<(&str, &str)> {
    let all = object.at(&["metadata", "managedFields"]);
    let all = all.and_then(Value::as_array).map_or(&[][..], |it| it);
    let text = |it: &'_ Value, key: &str| it.str_at(&[key]).is_some();
    assert!(
        all.iter()
            .all(|it| text(it, "manager") && text(it, "apiVersion"))
    );
    let pairs = all.iter();
    pairs
        .filter_map(|it| Some((it.str_at(&["manager"])?, it.str_at(&["apiVersion"])?)))
        .collect()
}

#[tokio::test]
async fn owners_in_versions_that_are_gone() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let versions = json!([(version("v1", true, true)), (version("v2", true, false))]);
    fixture
        .define_versions("widgets", "Widget", "Namespaced", versions)
        .await;
    let path = |version: &str| format!("/apis/example.com/{version}/namespaces/n/widgets/w");
    let old = widget("v1", json!({"a": "1"}));
    admin.apply(&path("v1"), &old, "old").await.unwrap();
    // Not served, but there.
    let definition = format!("{DEFINITIONS}/widgets.example.com");
    let versions = json!([(version("v1", false, false)), (version("v2", true, true))]);
    let change = json!({"spec": {"versions": versions}});
    admin.merge_patch(&definition, &change).await.unwrap();
    fixture.api.wait_until_caught_up().await.unwrap();
    let new = widget("v2", json!({"b": "1"}));
    let applied = admin.apply(&path("v2"), &new, "new").await.unwrap();
    assert_eq!(
        managers(&applied),
        [("new", "example.com/v2"), ("old", "example.com/v1")]
    );
    // There no more.
    let stored = json!({"status": {"storedVersions": ["v2"]}});
    admin
        .merge_patch(&format!("{definition}/status"), &stored)
        .await
        .unwrap();
    let change = json!({"spec": {"versions": [(version("v2", true, true))]}});
    admin.merge_patch(&definition, &change).await.unwrap();
    fixture.api.wait_until_caught_up().await.unwrap();
    let newer = widget("v2", json!({"b": "2"}));
    let refused = admin.apply(&path("v2"), &newer, "new").await.unwrap_err();
    assert_eq!(
        (refused.code, &*refused.message),
        (
            500,
            "request to convert CR to an invalid group/version: example.com/v1"
        )
    );
    // A write that is no apply never fails for want of tracking, and keeps what was known.
    let patched = admin
        .merge_patch(&path("v2"), &json!({"spec": {"b": "3"}}))
        .await
        .unwrap();
    assert_eq!(patched.str_at(&["spec", "b"]), Some("3"));
    assert_eq!(managers(&patched), managers(&applied));
    // Whoever takes the old owners away may apply again.
    let reset = json!({"metadata": {"managedFields": [{}]}});
    admin.merge_patch(&path("v2"), &reset).await.unwrap();
    admin.apply(&path("v2"), &newer, "new").await.unwrap();
}
