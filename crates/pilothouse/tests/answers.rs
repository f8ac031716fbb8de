//! Answers that a kube-apiserver was asked for too: each pins a difference that was found and is gone.

use apiserver::local::Local;
use json::{Value, json};
use meta::Status;
use testkit::server::Server;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(more: &Value) -> Value {
    let mut metadata = json!({"name": "a"});
    if let (Some(into), Some(more)) = (metadata.as_object_mut(), more.as_object()) {
        for (key, value) in more.iter() {
            into.insert(key.clone(), value.clone());
        }
    }
    json!({"metadata": metadata, "data": {"k": "v"}})
}

#[track_caller]
fn refused(answer: Result<Value, Status>, code: u16, message: &str) {
    let status = answer.expect_err("a refusal");
    assert_eq!((status.code, &*status.message), (code, message));
}

fn owned(object: &Value) -> String {
    let fields = object.at(&["metadata", "managedFields"]);
    let first = fields.and_then(Value::as_array).and_then(|it| it.first());
    json::to_string(
        first
            .and_then(|it| it.get("fieldsV1"))
            .unwrap_or(&Value::Null),
    )
}

#[tokio::test]
async fn versions_and_uids() {
    let server = Server::start().await;
    let local = server.local();
    let late = local
        .create(MAPS, &map(&json!({"resourceVersion": "1"})))
        .await;
    refused(
        late,
        500,
        "resourceVersion should not be set on objects to be created",
    );
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let one = format!("{MAPS}/a");
    // Who names no version takes what is there.
    local
        .update(&one, &map(&json!({"labels": {"x": "y"}})))
        .await
        .unwrap();
    let odd = local
        .update(&one, &map(&json!({"resourceVersion": "z"})))
        .await;
    refused(odd, 500, "strconv.ParseUint: parsing \"z\": invalid syntax");
    let uid = local
        .merge_patch(&one, &json!({"metadata": {"uid": "z"}}))
        .await;
    let text = "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"z\": field is immutable";
    refused(uid, 422, text);
    let nameless = local.update(&one, &json!({"data": {}})).await;
    let text = "the name of the object (a based on URL) was undeterminable: name must be provided";
    refused(nameless, 400, text);
}

#[tokio::test]
async fn owners_of_new_objects() {
    let server = Server::start().await;
    let local = server.local();
    let namespace = json!({"metadata": {"name": "n"}});
    let namespace = local
        .create("/api/v1/namespaces", &namespace)
        .await
        .unwrap();
    // Structs that are always there are nobody's: no `.` and no `f:spec` of their own.
    assert_eq!(
        owned(&namespace),
        r#"{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}"#
    );
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"a": "b"}});
    let path = "/api/v1/namespaces/default/secrets";
    let secret = local.create(path, &secret).await.unwrap();
    assert_eq!(
        owned(&secret),
        r#"{"f:data":{".":{},"f:a":{}},"f:type":{}}"#
    );
}

#[tokio::test]
async fn patches_that_cannot_be_read() {
    let server = Server::start().await;
    let local = server.local();
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let one = format!("{MAPS}/a");
    let nothing = json!([{"op": "remove", "path": "/data/none"}]);
    let text = "the server rejected our request due to an error in our request";
    refused(local.json_patch(&one, &nothing).await, 422, text);
    let wrong = local.merge_patch(&one, &json!({"data": {"k": 1}})).await;
    let status = wrong.expect_err("a number is no string");
    assert_eq!(status.code, 422);
    assert!(
        status
            .message
            .starts_with(" \"\" is invalid: patch: Invalid value: "),
        "{status}"
    );
    let list = local.merge_patch(&one, &json!([])).await;
    let text = "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
    refused(list, 400, text);
}

async fn delete(local: &Local, path: &str) -> Value {
    local.delete(path, &Value::Null).await.unwrap()
}

#[tokio::test]
async fn what_a_delete_answers() {
    let server = Server::start().await;
    let local = server.local();
    let classes = "/apis/storage.k8s.io/v1/storageclasses";
    let class = json!({"metadata": {"name": "c"}, "provisioner": "example.com/p"});
    local.create(classes, &class).await.unwrap();
    let last = delete(&local, &format!("{classes}/c")).await;
    assert_eq!(last.str_at(&["kind"]), Some("StorageClass"));
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let options = json!({"preconditions": {"uid": "z"}});
    let other = local.delete(&format!("{MAPS}/a"), &options).await;
    let status = other.expect_err("another uid");
    let begin = "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (z) does not match";
    assert!(status.message.starts_with(begin), "{status}");
    let last = delete(&local, &format!("{MAPS}/a")).await;
    assert_eq!(last.str_at(&["status"]), Some("Success"));
}

/// Whoever watches sees a pod's time come before it is gone.
#[tokio::test]
async fn a_pod_that_goes_at_once() {
    let server = Server::start().await;
    let local = server.local();
    let pods = "/api/v1/namespaces/default/pods";
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    while local.get(account).await.is_err() {
        tokio::task::yield_now().await;
    }
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pod = local.create(pods, &pod).await.unwrap();
    let version = pod.str_at(&["metadata", "resourceVersion"]).unwrap();
    let path = format!("{pods}?watch=true&resourceVersion={version}");
    let mut watch = local.watch(&path).await.unwrap();
    let last = delete(&local, &format!("{pods}/p")).await;
    let stamp = &["metadata", "deletionTimestamp"];
    assert!(last.str_at(stamp).is_some());
    let (kind, object) = watch.next().await.unwrap();
    assert_eq!(kind, "MODIFIED");
    assert!(object.str_at(stamp).is_some());
    let (kind, _) = watch.next().await.unwrap();
    assert_eq!(kind, "DELETED");
}

#[tokio::test]
async fn empty_lists_and_conversions() {
    let server = Server::start().await;
    let local = server.local();
    let node = json!({"metadata": {"name": "n"}, "spec": {"podCIDR": "10.1.0.0/24"}});
    let node = local.create("/api/v1/nodes", &node).await.unwrap();
    assert_eq!(
        node.at(&["spec", "podCIDRs"]),
        Some(&json!(["10.1.0.0/24"]))
    );
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let role = json!({"metadata": {"name": "r"}, "rules": []});
    let role = local.create(roles, &role).await.unwrap();
    assert_eq!(role.get("rules"), Some(&Value::Null));
}
