//! Who may change which part of a claim's status.

use apiserver::local::Local;
use auth::User;
use json::{Value, json};
use testkit::server::Server;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

fn message(answer: Result<Value, meta::Status>) -> String {
    answer.err().map(|it| it.message).unwrap_or_default()
}

/// Lets the driver of a node have a right on parts of claims.
async fn grant(admin: &Local, name: &str, resources: &[&str], verbs: &[&str]) {
    let list = |all: &[&str]| -> Value { all.iter().copied().collect() };
    let role = json!({
        "metadata": {"name": name},
        "rules": [{"apiGroups": ["resource.k8s.io"], "resources": (list(resources)), "verbs": (list(verbs))}],
    });
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "driver", "namespace": "default"}],
    });
    let roles = format!("{RBAC}/clusterroles");
    admin.create(&roles, &role).await.unwrap();
    let bindings = format!("{RBAC}/clusterrolebindings");
    admin.create(&bindings, &binding).await.unwrap();
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_driver_tells_of_its_devices_and_binds_nothing() {
    let server = Server::start().await;
    let admin = server.local();
    let mut user = User::new("system:serviceaccount:default:driver", &[]);
    let key = "authentication.kubernetes.io/node-name";
    user.extra.insert(key.to_owned(), vec!["n1".to_owned()]);
    let driver = Local::new(server.api().clone(), user, "test");
    let all = ["get", "update", "patch"];
    grant(&admin, "front", &["resourceclaims/status"], &all).await;
    let claim = json!({
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d"}}]}},
    });
    admin.create(CLAIMS, &claim).await.unwrap();
    let path = format!("{CLAIMS}/c/status");
    let result = json!({"request": "r", "driver": "a.b", "pool": "p", "device": "d"});
    let allocation = json!({"status": {"allocation": {
        "devices": {"results": [result]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["n1"]},
        ]}]},
    }}});
    let told = message(driver.merge_patch(&path, &allocation).await);
    let expected = "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires \
         resource=\"resourceclaims/binding\", verb=\"patch\" permission: resourceclaims.resource.k8s.io is forbidden: \
         User \"system:serviceaccount:default:driver\" cannot patch resource \"resourceclaims/binding\" in API group \
         \"resource.k8s.io\" at the cluster scope";
    assert!(told.contains(expected), "{told}");
    admin.merge_patch(&path, &allocation).await.unwrap();

    let devices = json!({"status": {"devices": [{"driver": "a.b", "pool": "p", "device": "d"}]}});
    let told = message(driver.merge_patch(&path, &devices).await);
    let expected = "status.devices: Forbidden: changing status.devices requires resource=\"resourceclaims/driver\", \
         verb=\"[associated-node:patch arbitrary-node:patch]\" permission: resourceclaims.resource.k8s.io \"a.b\" is \
         forbidden: User \"system:serviceaccount:default:driver\" cannot associated-node:patch resource \
         \"resourceclaims/driver\" in API group \"resource.k8s.io\" in the namespace \"default\"";
    assert!(told.contains(expected), "{told}");
    let verbs = ["associated-node:patch"];
    grant(&admin, "near", &["resourceclaims/driver"], &verbs).await;
    driver.merge_patch(&path, &devices).await.unwrap();
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn the_claims_of_a_pod_are_kept_by_who_does_not_know_them() {
    let server = Server::start().await;
    let admin = server.local();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "resourceClaims": [{"name": "a", "resourceClaimName": "b"}],
    }});
    admin.create(pods, &pod).await.unwrap();
    let path = format!("{pods}/p/status");
    let patched = async |claims: Value| {
        let change = json!({"status": {"resourceClaimStatuses": claims}});
        let patched = admin.merge_patch(&path, &change).await.unwrap();
        patched.at(&["status", "resourceClaimStatuses"]).cloned()
    };
    let claims = json!([{"name": "a", "resourceClaimName": "b"}]);
    assert_eq!(patched(claims.clone()).await, Some(claims.clone()));
    assert_eq!(patched(Value::Null).await, Some(claims));
    assert_eq!(patched(json!([])).await, None);
}
