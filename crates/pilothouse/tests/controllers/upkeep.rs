use super::cluster::{Cluster, condition};
use controllers::Selection;
use json::{Value, json};

#[testkit::requires(test_store)]
#[tokio::test]
async fn every_namespace_has_its_account_and_the_authority_to_trust() {
    let cluster = Cluster::start().await;
    cluster.namespace("new").await;
    let account = "/api/v1/namespaces/new/serviceaccounts/default";
    let map = "/api/v1/namespaces/new/configmaps/kube-root-ca.crt";
    let has = |it: &Value| it.str_at(&["data", "ca.crt"]) == Some(&*cluster.authority);
    cluster.until(account, |_| true).await;
    cluster.until(map, has).await;

    cluster.delete(account, "Background").await;
    cluster.until(account, |_| true).await;
    cluster
        .patch(map, json!({"data": {"ca.crt": "no", "more": "no"}}))
        .await;
    cluster
        .until(map, |it| has(it) && it.at(&["data", "more"]).is_none())
        .await;
    cluster.delete(map, "Background").await;
    cluster.until(map, has).await;
    cluster.stop().await;
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn aggregated_roles_follow_their_parts() {
    let cluster = Cluster::start().await;
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let role = |name: &str, rest: Value| {
        let mut role = json!({"kind": "ClusterRole", "apiVersion": "rbac.authorization.k8s.io/v1"});
        let fields = role.as_object_mut().expect("an object");
        fields.insert("metadata", json!({"name": name, "labels": {"part": "yes"}}));
        for (key, value) in rest.as_object().expect("an object").iter() {
            fields.insert(key.clone(), value.clone());
        }
        role
    };
    let selector =
        json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]}});
    cluster.create(roles, role("whole", selector)).await;
    let one = |verb: &str| json!({"rules": [{"verbs": [verb], "apiGroups": [""], "resources": ["pods"]}]});
    cluster.create(roles, role("a", one("get"))).await;
    cluster.create(roles, role("b", one("list"))).await;
    let verbs = |it: &Value| {
        let found = it.get("rules").and_then(Value::as_array).cloned();
        let verbs = found
            .into_iter()
            .flatten()
            .filter_map(|it| it.get("verbs").cloned());
        verbs.collect::<Value>()
    };
    let whole = format!("{roles}/whole");
    cluster
        .until(&whole, |it| verbs(it) == json!([["get"], ["list"]]))
        .await;
    cluster.delete(&format!("{roles}/a"), "Background").await;
    cluster
        .until(&whole, |it| verbs(it) == json!([["list"]]))
        .await;
    // The roles for users are made this way.
    let view = format!("{roles}/view");
    cluster
        .until(&view, |it| {
            it.get("rules")
                .and_then(Value::as_array)
                .is_some_and(|it| it.len() > 5)
        })
        .await;
    cluster.stop().await;
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_cluster_starts_with_what_others_expect() {
    let cluster = Cluster::start().await;
    let table = [
        "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
        "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
        "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical",
        "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/exempt",
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all",
        "/apis/apiregistration.k8s.io/v1/apiservices/v1.",
        "/apis/apiregistration.k8s.io/v1/apiservices/v2.autoscaling",
    ];
    for path in table {
        cluster.until(path, |_| true).await;
    }
    let ready = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
    cluster
        .until(ready, |it| condition(it, "Ready", "status") == Some("True"))
        .await;
    let schema = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/system-nodes";
    let dangling = "This FlowSchema references the PriorityLevelConfiguration object named \"system\" and it exists";
    cluster
        .until(schema, |it| {
            condition(it, "Dangling", "message") == Some(dangling)
        })
        .await;
    let service = cluster
        .get("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps")
        .await;
    assert_eq!(condition(&service, "Available", "reason"), Some("Local"));
    cluster
        .until(
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
            |it| {
                let items = it.get("items").and_then(Value::as_array);
                items.is_some_and(|it| {
                    it.iter().any(|it| {
                        it.str_at(&["metadata", "name"])
                            .is_some_and(|it| it.starts_with("apiserver-"))
                    })
                })
            },
        )
        .await;
    cluster.stop().await;
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn the_service_of_the_server_comes_back() {
    let cluster = Cluster::start().await;
    let service = "/api/v1/namespaces/default/services/kubernetes";
    let before = cluster.get(service).await;
    cluster.delete(service, "Background").await;
    let uid = |it: &Value| it.str_at(&["metadata", "uid"]).map(str::to_owned);
    let after = cluster.until(service, |it| uid(it) != uid(&before)).await;
    let ip = |it: &Value| it.str_at(&["spec", "clusterIP"]).map(str::to_owned);
    assert_eq!(ip(&after), ip(&before));
    cluster.stop().await;
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn controllers_can_be_left_out() {
    let selection = Selection::parse(["*", "-serviceaccount"]).expect("known names");
    let cluster = Cluster::with(selection).await;
    cluster.namespace("new").await;
    let map = "/api/v1/namespaces/new/configmaps/kube-root-ca.crt";
    cluster.until(map, |_| true).await;
    let account = "/api/v1/namespaces/new/serviceaccounts/default";
    assert!(!cluster.exists(account).await);
    cluster.stop().await;
}
