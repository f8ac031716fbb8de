//! The steps of upstream's conformance tests "should support `FlowSchema` API operations" and "should support
//! `PriorityLevelConfiguration` API operations".

use json::{Value, json};

use crate::client::Client;
use crate::{LEVELS, SCHEMAS};

const GROUP: &str = "/apis/flowcontrol.apiserver.k8s.io";

#[tokio::test]
async fn flow_schemas() {
    let rule = json!({
        "subjects": [{"kind": "User", "user": {"name": "example-e2e-non-existent-user"}}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    });
    let spec = json!({
        "matchingPrecedence": 10000,
        "priorityLevelConfiguration": {"name": "global-default"},
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [rule],
    });
    operations(
        SCHEMAS,
        "flowschemas",
        &["spec", "matchingPrecedence"],
        spec,
        [9999, 9000],
    )
    .await;
}

#[tokio::test]
async fn priority_level_configurations() {
    let spec = json!({
        "type": "Limited",
        "limited": {"nominalConcurrencyShares": 2, "limitResponse": {"type": "Reject"}},
    });
    let field = ["spec", "limited", "nominalConcurrencyShares"];
    operations(LEVELS, "prioritylevelconfigurations", &field, spec, [4, 6]).await;
}

fn names(list: &Value, key: &str, field: &str) -> Vec<String> {
    let all = list
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    all.filter_map(|it| it.str_at(&[field]))
        .map(str::to_owned)
        .collect()
}

/// A merge patch that sets one field.
fn patch(field: &[&str], value: i64) -> Value {
    let inner = field.iter().rev().fold(Value::from(value), |inner, key| {
        let mut object = json::Object::new();
        object.insert(*key, inner);
        object.into()
    });
    let mut patch = json!({"metadata": {"annotations": {"patched": "true"}}});
    patch
        .as_object_mut()
        .unwrap()
        .extend(inner.as_object().unwrap().clone());
    patch
}

async fn operations(path: &str, plural: &str, field: &[&str], spec: Value, steps: [i64; 2]) {
    let client = Client::start().await;
    let local = client.server.local();
    let groups = local.get("/apis").await.unwrap();
    assert!(names(&groups, "groups", "name").contains(&GROUP["/apis/".len()..].to_owned()));
    let versions = local.get(GROUP).await.unwrap();
    assert!(names(&versions, "versions", "version").contains(&"v1".to_owned()));
    let resources = local.get(&format!("{GROUP}/v1")).await.unwrap();
    let resources = names(&resources, "resources", "name");
    for name in [plural.to_owned(), format!("{plural}/status")] {
        assert!(resources.contains(&name), "{name}");
    }
    let template = json!({
        "metadata": {"generateName": "e2e-example-", "labels": {"example-e2e": "x"}},
        "spec": spec,
    });
    let mut created = Value::Null;
    for _ in 0..3 {
        created = local.create(path, &template).await.unwrap();
    }
    let text = |it: &Value, key: &str| it.str_at(&["metadata", key]).unwrap().to_owned();
    let number = |it: &Value| it.at(field).and_then(Value::as_i64);
    let one = format!("{path}/{}", text(&created, "name"));
    let read = local.get(&one).await.unwrap();
    assert_eq!(text(&read, "uid"), text(&created, "uid"));
    let some = format!("{path}?labelSelector=example-e2e%3Dx");
    let list = local.get(&some).await.unwrap();
    let count = |it: &Value| {
        it.get("items")
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
    };
    assert_eq!(count(&list), 3);
    let from = text(&list, "resourceVersion");
    let watch = format!("{some}&watch=true&resourceVersion={from}");
    let mut watch = local.watch(&watch).await.unwrap();
    let patched = local
        .merge_patch(&one, &patch(field, steps[0]))
        .await
        .unwrap();
    let annotation = |it: &Value, key: &str| {
        let found = it.str_at(&["metadata", "annotations", key]);
        found == Some("true")
    };
    assert!(annotation(&patched, "patched") && number(&patched) == Some(steps[0]));
    let version = |it: &Value| text(it, "resourceVersion").parse::<u64>().unwrap();
    assert!(version(&created) < version(&patched));
    let updated = retry(&local, &one, &one, |object| {
        let annotations = object.at_mut(&["metadata", "annotations"]).unwrap();
        annotations
            .as_object_mut()
            .unwrap()
            .insert("updated", "true");
        *object.at_mut(field).unwrap() = steps[1].into();
    })
    .await;
    assert!(annotation(&updated, "updated") && number(&updated) == Some(steps[1]));
    loop {
        let (kind, object) = watch.next().await.expect("the watch goes on");
        assert_eq!(kind, "MODIFIED");
        if annotation(&object, "patched") {
            break;
        }
    }
    let status = format!("{one}/status");
    let read = local.get(&status).await.unwrap();
    assert_eq!(text(&read, "uid"), text(&created, "uid"));
    let failed = json!({"status": {"conditions": [{"type": "PatchStatusFailed", "status": "False", "reason": "e2e"}]}});
    let patched = local.merge_patch(&status, &failed).await.unwrap();
    let types = |it: &Value| {
        names(
            it.get("status").unwrap_or(&Value::Null),
            "conditions",
            "type",
        )
    };
    assert!(types(&patched).contains(&"PatchStatusFailed".to_owned()));
    let updated = retry(&local, &one, &status, |object| {
        let condition = json!({"type": "StatusUpdateFailed", "status": "False", "reason": "E2E", "message": "Set from an e2e test"});
        let all = object.at_mut(&["status", "conditions"]).unwrap();
        all.as_array_mut().unwrap().push(condition);
    })
    .await;
    assert!(types(&updated).contains(&"StatusUpdateFailed".to_owned()));
    local.delete(&one, &Value::Null).await.unwrap();
    assert_eq!(local.get(&one).await.unwrap_err().code, 404);
    assert_eq!(count(&local.get(&some).await.unwrap()), 2);
    local.delete(&some, &Value::Null).await.unwrap();
    assert_eq!(count(&local.get(&some).await.unwrap()), 0);
}

/// Reads, changes and writes, until nobody gets in between.
async fn retry(
    local: &apiserver::local::Local,
    read: &str,
    write: &str,
    change: impl Fn(&mut Value),
) -> Value {
    for _ in 0..100 {
        let mut object = local.get(read).await.unwrap();
        change(&mut object);
        match local.update(write, &object).await {
            Ok(updated) => return updated,
            Err(status) => assert_eq!(status.code, 409, "{status}"),
        }
    }
    panic!("somebody always gets in between");
}
