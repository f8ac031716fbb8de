//! What goes, and what is said of it.

use apiserver::local::Local;
use json::{Value, json};
use testkit::server::Server;

use super::{JSON, MAPS, ask, map};

/// Where pods are made, once they can be.
async fn pods(local: &Local) -> &'static str {
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    while local.get(account).await.is_err() {
        tokio::task::yield_now().await;
    }
    "/api/v1/namespaces/default/pods"
}

async fn delete(local: &Local, path: &str) -> Value {
    local.delete(path, &Value::Null).await.unwrap()
}

#[testkit::requires(test_store)]
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
#[testkit::requires(test_store)]
#[tokio::test]
async fn a_pod_that_goes_at_once() {
    let server = Server::start().await;
    let local = server.local();
    let pods = pods(&local).await;
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

/// A kubelet tells how a pod ends while it does.
#[testkit::requires(test_store)]
#[tokio::test]
async fn the_status_of_a_pod_that_goes() {
    let server = Server::start().await;
    let local = server.local();
    let pods = pods(&local).await;
    let pod = json!({
        "metadata": {"name": "p", "finalizers": ["example.com/wait"]},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    local.create(pods, &pod).await.unwrap();
    let one = format!("{pods}/p");
    let mut leaving = delete(&local, &one).await;
    let status = leaving.get_mut("status").and_then(Value::as_object_mut);
    status.expect("a status").insert("phase", "Failed");
    let told = local.update(&format!("{one}/status"), &leaving).await;
    let told = told.unwrap();
    assert_eq!(told.str_at(&["status", "phase"]), Some("Failed"));
    let time = ["metadata", "deletionTimestamp"];
    assert!(told.at(&time).is_some() && told.at(&time) == leaving.at(&time));
}

/// What is not gone yet is accepted, for whoever asks so.
#[testkit::requires(test_store)]
#[tokio::test]
async fn what_waits_for_its_dependents() {
    let server = Server::start().await;
    let local = server.local();
    let held = json!({"finalizers": ["example.com/hold"]});
    local.create(MAPS, &map(&held)).await.unwrap();
    let path = format!("{MAPS}/a");
    for (options, want) in [
        (json!({"orphanDependents": false}), 202),
        (json!({"propagationPolicy": "Background"}), 200),
    ] {
        let (code, _, _) = ask(&server, "DELETE", &path, JSON, &options).await;
        assert_eq!(code, want, "{options:?}");
    }
}
