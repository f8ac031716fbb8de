//! Changes of objects that are there: PUT, the patches, status, and what stays as it is.

use json::{Value, json};

use crate::fixture::{Answer, Fixture};

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/n/deployments";

fn deployment(image: &str) -> Value {
    json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [
                    {"name": "a", "image": image},
                    {"name": "b", "image": "b"},
                ]},
            },
        },
    })
}

async fn patch(fixture: &Fixture, path: &str, kind: &str, body: &Value) -> Answer {
    let kind = format!("application/{kind}-patch+json");
    let headers = [("content-type", &*kind)];
    fixture
        .request("PATCH", path, &headers, json::to_string(body))
        .await
}

fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    object.str_at(path).unwrap_or_default()
}

fn version(object: &Value) -> &str {
    text(object, &["metadata", "resourceVersion"])
}

#[tokio::test]
async fn a_put_of_an_old_version_is_a_conflict() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let first = admin
        .create(MAPS, &json!({"metadata": {"name": "a"}}))
        .await
        .unwrap();
    let path = format!("{MAPS}/a");
    let put = async |object: &Value| {
        let headers = [("content-type", "application/json")];
        fixture
            .request("PUT", &path, &headers, json::to_string(object))
            .await
    };
    let change = |object: &Value, value: &str| {
        let mut changed = object.clone();
        changed
            .as_object_mut()
            .unwrap()
            .insert("data", json!({"k": value}));
        changed
    };
    let second = put(&change(&first, "1")).await;
    assert_eq!(second.code, 200);
    let second = second.json();
    assert_ne!(version(&second), version(&first));
    for field in ["uid", "creationTimestamp", "name"] {
        let path = ["metadata", field];
        assert_eq!(text(&second, &path), text(&first, &path));
    }
    let late = put(&change(&first, "2")).await;
    assert_eq!(late.code, 409);
    assert!(
        late.message()
            .starts_with("Operation cannot be fulfilled on configmaps \"a\":"),
        "{late:?}"
    );
    // The same again changes nothing.
    assert_eq!(version(&put(&second).await.json()), version(&second));
    // Without a version the last one wins.
    let bare = json!({"metadata": {"name": "a"}, "data": {"k": "3"}});
    assert_eq!(put(&bare).await.code, 200);
    assert_eq!(text(&admin.get(&path).await.unwrap(), &["data", "k"]), "3");
    let other = json!({"metadata": {"name": "b"}});
    assert_eq!(put(&other).await.code, 400);
    let uid = json!({"metadata": {"name": "a", "uid": "other"}});
    assert_eq!(put(&uid).await.code, 409);
    let elsewhere = json!({"metadata": {"name": "a", "namespace": "m"}});
    assert_eq!(put(&elsewhere).await.code, 400);
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let fixture = Fixture::new();
    let map = json!({"metadata": {"name": "a"}});
    fixture.admin.create(MAPS, &map).await.unwrap();
    let again = fixture.admin.create(MAPS, &map).await.unwrap_err();
    assert_eq!(
        (again.code, &*again.message),
        (409, "configmaps \"a\" already exists")
    );
    let made = json!({"metadata": {"generateName": "a-"}});
    let one = fixture.admin.create(MAPS, &made).await.unwrap();
    let two = fixture.admin.create(MAPS, &made).await.unwrap();
    let name = |it: &Value| text(it, &["metadata", "name"]).to_owned();
    assert!(
        name(&one).starts_with("a-") && name(&one).len() == 7,
        "{}",
        name(&one)
    );
    assert_ne!(name(&one), name(&two));
    let none = fixture
        .admin
        .create(MAPS, &json!({"metadata": {}}))
        .await
        .unwrap_err();
    assert_eq!(none.code, 422, "{none}");
}

#[tokio::test]
async fn the_generation_counts_changes_of_the_spec() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let made = admin.create(DEPLOYMENTS, &deployment("a")).await.unwrap();
    let generation = |it: &Value| it.at(&["metadata", "generation"]).and_then(Value::as_i64);
    assert_eq!(generation(&made), Some(1));
    let path = format!("{DEPLOYMENTS}/web");
    let labelled = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(
        generation(&admin.merge_patch(&path, &labelled).await.unwrap()),
        Some(1)
    );
    let scaled = json!({"spec": {"replicas": 3}});
    assert_eq!(
        generation(&admin.merge_patch(&path, &scaled).await.unwrap()),
        Some(2)
    );
    // Of a status only the status is taken, of the rest everything else.
    let both = json!({"spec": {"replicas": 9}, "status": {"observedGeneration": 2}});
    let status = format!("{path}/status");
    let told = admin.merge_patch(&status, &both).await.unwrap();
    let number = |it: &Value, path: &[&str]| it.at(path).and_then(Value::as_i64);
    assert_eq!(generation(&told), Some(2));
    assert_eq!(number(&told, &["spec", "replicas"]), Some(3));
    assert_eq!(number(&told, &["status", "observedGeneration"]), Some(2));
    let both = json!({"spec": {"replicas": 4}, "status": {"observedGeneration": 7}});
    let changed = admin.merge_patch(&path, &both).await.unwrap();
    assert_eq!(number(&changed, &["spec", "replicas"]), Some(4));
    assert_eq!(number(&changed, &["status", "observedGeneration"]), Some(2));
}

#[tokio::test]
async fn each_kind_of_patch_does_what_its_name_says() {
    let fixture = Fixture::new();
    fixture
        .admin
        .create(DEPLOYMENTS, &deployment("a"))
        .await
        .unwrap();
    let path = format!("{DEPLOYMENTS}/web");
    let images = |object: &Value| {
        let all = object.at(&["spec", "template", "spec", "containers"]);
        let all = all.and_then(Value::as_array).unwrap().iter();
        all.map(|it| format!("{}={}", text(it, &["name"]), text(it, &["image"])))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let containers = |list: Value| json!({"spec": {"template": {"spec": {"containers": list}}}});
    // A strategic merge finds the container by its name.
    let one = containers(json!([{"name": "b", "image": "new"}]));
    let merged = patch(&fixture, &path, "strategic-merge", &one).await;
    assert_eq!(images(&merged.json()), "a=a b=new");
    // A merge patch replaces the list.
    let replaced = patch(&fixture, &path, "merge", &one).await;
    assert_eq!(images(&replaced.json()), "b=new");
    let place = "/spec/template/spec/containers/0/image";
    let steps = json!([
        {"op": "test", "path": place, "value": "new"},
        {"op": "replace", "path": place, "value": "newer"},
        {"op": "add", "path": "/metadata/labels", "value": {"x": "y"}},
    ]);
    let stepped = patch(&fixture, &path, "json", &steps).await.json();
    assert_eq!(images(&stepped), "b=newer");
    assert_eq!(text(&stepped, &["metadata", "labels", "x"]), "y");
    let failed = patch(&fixture, &path, "json", &steps).await;
    assert_eq!(failed.code, 422, "the test fails: {failed:?}");
    let gone = json!([{"op": "remove", "path": "/metadata/labels/none"}]);
    assert_eq!(patch(&fixture, &path, "json", &gone).await.code, 422);
    let null = json!({"metadata": {"labels": {"x": null}}});
    let cleared = patch(&fixture, &path, "merge", &null).await.json();
    assert_eq!(cleared.at(&["metadata", "labels"]), None);
    for (kind, body) in [
        ("merge", json!([])),
        ("json", json!({})),
        ("strategic-merge", json!("x")),
    ] {
        let refused = patch(&fixture, &path, kind, &body).await;
        assert_eq!(refused.code, 400, "{kind}: {refused:?}");
    }
    let headers = [("content-type", "application/json")];
    let plain = fixture.request("PATCH", &path, &headers, "{}").await;
    assert_eq!(plain.code, 415);
    let missing = patch(
        &fixture,
        &format!("{DEPLOYMENTS}/other"),
        "merge",
        &json!({}),
    )
    .await;
    assert_eq!(missing.code, 404);
}

#[tokio::test]
async fn what_does_not_validate_is_not_stored() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let made = admin.create(DEPLOYMENTS, &deployment("a")).await.unwrap();
    let path = format!("{DEPLOYMENTS}/web");
    let selector = json!({"spec": {"selector": {"matchLabels": {"app": "other"}}}});
    let refused = admin.merge_patch(&path, &selector).await.unwrap_err();
    assert_eq!(refused.code, 422);
    assert!(refused.message.contains("spec.selector"), "{refused}");
    let negative = json!({"spec": {"replicas": (-1)}});
    assert_eq!(
        admin.merge_patch(&path, &negative).await.unwrap_err().code,
        422
    );
    // A dry run answers, and changes nothing.
    let tried = admin
        .merge_patch(
            &format!("{path}?dryRun=All"),
            &json!({"spec": {"replicas": 7}}),
        )
        .await;
    let tried = tried.unwrap();
    assert_eq!(tried.at(&["spec", "replicas"]), Some(&json!(7)));
    assert_eq!(admin.get(&path).await.unwrap(), made);
    let other = admin
        .merge_patch(&format!("{path}?dryRun=Some"), &json!({}))
        .await;
    assert_eq!(other.unwrap_err().code, 422);
}

#[tokio::test]
async fn a_delete_can_be_for_one_state_only() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let made = admin
        .create(MAPS, &json!({"metadata": {"name": "a"}}))
        .await
        .unwrap();
    let path = format!("{MAPS}/a");
    let uid = text(&made, &["metadata", "uid"]);
    for preconditions in [
        json!({"uid": "other"}),
        json!({"resourceVersion": "99999"}),
        json!({"uid": uid, "resourceVersion": "99999"}),
    ] {
        let options = json!({"preconditions": preconditions});
        let refused = admin.delete(&path, &options).await.unwrap_err();
        assert_eq!(refused.code, 409, "{refused}");
    }
    let tried = json!({"dryRun": ["All"]});
    admin.delete(&path, &tried).await.unwrap();
    assert_eq!(admin.get(&path).await.unwrap(), made);
    let fits = json!({"preconditions": {"uid": uid, "resourceVersion": (version(&made))}});
    admin.delete(&path, &fits).await.unwrap();
    assert_eq!(admin.get(&path).await.unwrap_err().code, 404);
    assert_eq!(
        admin.delete(&path, &Value::Null).await.unwrap_err().code,
        404
    );
}

#[tokio::test]
async fn a_finalizer_holds_an_object() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let map = json!({"metadata": {"name": "a", "finalizers": ["example.com/x"]}});
    admin.create(MAPS, &map).await.unwrap();
    let path = format!("{MAPS}/a");
    let held = admin.delete(&path, &Value::Null).await.unwrap();
    assert!(held.at(&["metadata", "deletionTimestamp"]).is_some());
    let more = json!({"metadata": {"finalizers": ["example.com/x", "example.com/y"]}});
    assert_eq!(
        admin.merge_patch(&path, &more).await.unwrap_err().code,
        422,
        "none joins"
    );
    let none = json!({"metadata": {"finalizers": null}});
    admin.merge_patch(&path, &none).await.unwrap();
    assert_eq!(admin.get(&path).await.unwrap_err().code, 404);
}

#[tokio::test]
async fn a_service_gets_its_address_and_gives_it_back() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let services = "/api/v1/namespaces/n/services";
    let service = |name: &str, more: Value| {
        let mut service = json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}});
        let more = more.as_object().unwrap().clone();
        service
            .get_mut("spec")
            .and_then(Value::as_object_mut)
            .unwrap()
            .extend(more);
        service
    };
    let made = admin
        .create(services, &service("a", json!({})))
        .await
        .unwrap();
    let ip = text(&made, &["spec", "clusterIP"]).to_owned();
    assert!(ip.starts_with("10.96."), "{ip}");
    assert_eq!(made.at(&["spec", "clusterIPs"]), Some(&json!([(&*ip)])));
    let same = service("b", json!({"clusterIP": (&*ip)}));
    let refused = admin.create(services, &same).await.unwrap_err();
    assert_eq!(refused.code, 422);
    assert!(
        refused.message.contains("provided IP is already allocated"),
        "{refused}"
    );
    admin
        .delete(&format!("{services}/a"), &Value::Null)
        .await
        .unwrap();
    let again = admin.create(services, &same).await.unwrap();
    assert_eq!(text(&again, &["spec", "clusterIP"]), ip);
    let node = service("c", json!({"type": "NodePort"}));
    let made = admin.create(services, &node).await.unwrap();
    let ports = made
        .at(&["spec", "ports"])
        .and_then(Value::as_array)
        .unwrap();
    let port = ports[0].get("nodePort").and_then(Value::as_i64).unwrap();
    assert!((30000..=32767).contains(&port), "{port}");
    let taken = service(
        "d",
        json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]}),
    );
    assert_eq!(admin.create(services, &taken).await.unwrap_err().code, 422);
    let headless = service("e", json!({"clusterIP": "None"}));
    let made = admin.create(services, &headless).await.unwrap();
    assert_eq!(text(&made, &["spec", "clusterIP"]), "None");
    // A dry run takes nothing.
    let tried = service("f", json!({"clusterIP": "10.96.77.7"}));
    admin
        .create(&format!("{services}?dryRun=All"), &tried)
        .await
        .unwrap();
    admin.create(services, &tried).await.unwrap();
}
