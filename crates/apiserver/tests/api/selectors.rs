//! Label and field selectors of lists, watches and deletecollection.

use json::{Value, json};

use crate::fixture::{Fixture, next};

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
const PODS: &str = "/api/v1/namespaces/n/pods";

fn labelled(name: &str, labels: Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}})
}

async fn names(fixture: &Fixture, path: &str) -> Vec<String> {
    let items = fixture.admin.items(path).await.unwrap();
    let names = items.iter().map(|it| it.str_at(&["metadata", "name"]));
    names.map(|it| it.unwrap().to_owned()).collect()
}

async fn with_maps() -> Fixture {
    let fixture = Fixture::new();
    for (name, labels) in [
        ("a", json!({"env": "prod", "size": "5"})),
        ("b", json!({"env": "test", "size": "10"})),
        ("c", json!({"env": "", "team": "x"})),
        ("d", json!({})),
    ] {
        let map = labelled(name, labels);
        fixture.admin.create(MAPS, &map).await.unwrap();
    }
    fixture
}

#[tokio::test]
async fn label_selectors_choose() {
    let fixture = with_maps().await;
    for (selector, want) in [
        ("env%3Dprod", "a"),
        ("env%3D%3Dprod", "a"),
        ("env!%3Dprod", "b c d"),
        ("env%20in%20(prod,test)", "a b"),
        ("env%20notin%20(prod,test)", "c d"),
        ("env", "a b c"),
        ("!env", "d"),
        ("env%3D", "c"),
        ("size%3E5", "b"),
        ("size%3C10", "a"),
        ("env,team", "c"),
        ("env%3Dprod,size%3D10", ""),
        ("", "a b c d"),
    ] {
        let found = names(&fixture, &format!("{MAPS}?labelSelector={selector}")).await;
        assert_eq!(found.join(" "), want, "{selector}");
    }
    for broken in [
        "env%3D%3D%3Dx",
        "a%20b",
        "env%20in%20prod",
        "size%3Ex",
        "-x",
    ] {
        let path = format!("{MAPS}?labelSelector={broken}");
        let refused = fixture.admin.items(&path).await.unwrap_err();
        assert_eq!(refused.code, 400, "{broken}: {refused}");
    }
}

#[tokio::test]
async fn field_selectors_choose() {
    let fixture = with_maps().await;
    for (selector, want) in [
        ("metadata.name%3Db", "b"),
        ("metadata.name!%3Db", "a c d"),
        ("metadata.namespace%3Dn", "a b c d"),
        ("metadata.namespace%3Dother", ""),
        ("metadata.name%3Db,metadata.name!%3Db", ""),
    ] {
        let path = format!("{MAPS}?fieldSelector={selector}");
        assert_eq!(names(&fixture, &path).await.join(" "), want, "{selector}");
    }
    for (name, node, phase) in [
        ("p", "one", "Running"),
        ("q", "two", "Pending"),
        ("r", "", "Pending"),
    ] {
        let mut pod = json!({
            "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        });
        if !node.is_empty() {
            let spec = pod.get_mut("spec").and_then(Value::as_object_mut);
            spec.unwrap().insert("nodeName", node);
        }
        fixture.admin.create(PODS, &pod).await.unwrap();
        let status = json!({"status": {"phase": phase}});
        let path = format!("{PODS}/{name}/status");
        fixture.admin.merge_patch(&path, &status).await.unwrap();
    }
    for (selector, want) in [
        ("spec.nodeName%3Done", "p"),
        ("spec.nodeName%3D", "r"),
        ("spec.nodeName!%3D,status.phase%3DPending", "q"),
        ("status.phase!%3DRunning", "q r"),
        ("spec.restartPolicy%3DAlways", "p q r"),
    ] {
        let path = format!("{PODS}?fieldSelector={selector}");
        assert_eq!(names(&fixture, &path).await.join(" "), want, "{selector}");
    }
    let both = format!("{PODS}?fieldSelector=status.phase%3DPending&labelSelector=x");
    assert!(names(&fixture, &both).await.is_empty());
    let path = format!("{PODS}?fieldSelector=spec.other%3Dx");
    let refused = fixture.admin.items(&path).await.unwrap_err();
    assert_eq!(
        (refused.code, &*refused.message),
        (400, "field label not supported: spec.other")
    );
}

#[tokio::test]
async fn a_watch_shows_how_objects_come_to_match_and_cease_to() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let mut events = admin
        .watch(&format!("{MAPS}?watch=1&labelSelector=env%3Dprod"))
        .await
        .unwrap();
    let label = async |name: &str, env: &str| {
        let patch = json!({"metadata": {"labels": {"env": env}}});
        let path = format!("{MAPS}/{name}");
        admin.merge_patch(&path, &patch).await.unwrap();
    };
    admin.create(MAPS, &labelled("a", json!({}))).await.unwrap();
    label("a", "prod").await;
    assert_eq!(next(&mut events).await, "ADDED a");
    let note = json!({"data": {"k": "v"}});
    admin
        .merge_patch(&format!("{MAPS}/a"), &note)
        .await
        .unwrap();
    assert_eq!(next(&mut events).await, "MODIFIED a");
    label("a", "test").await;
    assert_eq!(next(&mut events).await, "DELETED a");
    // Gone already for whoever watches: the end itself is not shown.
    admin
        .delete(&format!("{MAPS}/a"), &Value::Null)
        .await
        .unwrap();
    admin
        .create(MAPS, &labelled("b", json!({"env": "prod"})))
        .await
        .unwrap();
    assert_eq!(next(&mut events).await, "ADDED b");
    admin
        .delete(&format!("{MAPS}/b"), &Value::Null)
        .await
        .unwrap();
    assert_eq!(next(&mut events).await, "DELETED b");
}

#[tokio::test]
async fn deletecollection_takes_what_is_selected() {
    let fixture = with_maps().await;
    let path = format!("{MAPS}?labelSelector=env%20in%20(prod,test)");
    fixture.admin.delete(&path, &Value::Null).await.unwrap();
    assert_eq!(names(&fixture, MAPS).await, ["c", "d"]);
}

#[tokio::test]
async fn custom_objects_have_the_fields_that_their_definition_selects() {
    let fixture = Fixture::new();
    let spec = json!({"type": "object", "properties": {"color": {"type": "string"}}});
    let versions = json!([{
        "name": "v1", "served": true, "storage": true,
        "selectableFields": [{"jsonPath": ".spec.color"}],
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }]);
    fixture
        .define_versions("widgets", "Widget", "Namespaced", versions)
        .await;
    let widgets = "/apis/example.com/v1/namespaces/n/widgets";
    for (name, color) in [("a", "red"), ("b", "blue")] {
        let widget = json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": name}, "spec": {"color": color},
        });
        fixture.admin.create(widgets, &widget).await.unwrap();
    }
    let red = format!("{widgets}?fieldSelector=spec.color%3Dred");
    assert_eq!(names(&fixture, &red).await, ["a"]);
    let not = format!("{widgets}?fieldSelector=spec.color!%3Dred");
    assert_eq!(names(&fixture, &not).await, ["b"]);
    let other = format!("{widgets}?fieldSelector=spec.size%3D1");
    assert_eq!(fixture.admin.items(&other).await.unwrap_err().code, 400);
}
