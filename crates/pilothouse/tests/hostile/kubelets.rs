//! A kubelet that was taken over: it gets no further than its own node and the pods on it.

use apiserver::local::Local;
use auth::User;
use json::{Object, Value, json};
use meta::Status;

use crate::client::Client;

const PODS: &str = "/api/v1/namespaces/default/pods";
const NODES: &str = "/api/v1/nodes";

fn kubelet(client: &Client, node: &str) -> Local {
    let user = User::new(
        &format!("system:node:{node}"),
        &["system:nodes", "system:authenticated"],
    );
    Local::new(client.server.api().clone(), user, "kubelet")
}

/// On a node, with a secret, a claim and a token.
fn pod(name: &str, node: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "nodeName": node,
            "serviceAccountName": "runner",
            "automountServiceAccountToken": false,
            "containers": [{
                "name": "c",
                "image": "i",
                "env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": (format!("{name}-secret")), "key": "k"}}}],
            }],
            "volumes": [
                {"name": "v", "persistentVolumeClaim": {"claimName": (format!("{name}-claim"))}},
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"audience": "vault", "path": "t"}}]}},
            ],
        },
    })
}

#[track_caller]
fn says(answer: Result<Value, Status>, code: u16, text: &str) {
    let status = answer.expect_err(text);
    assert_eq!((status.code, &*status.message), (code, text));
}

fn cannot(node: &str, verb: &str, what: &str, resource: &str, why: &str) -> String {
    format!(
        "{what} is forbidden: User \"system:node:{node}\" cannot {verb} resource \"{resource}\" in API group \"\" {why}"
    )
}

async fn make(client: &Client) -> Local {
    let admin = client.server.local();
    let default = "/api/v1/namespaces/default";
    let account = json!({"metadata": {"name": "runner"}});
    let accounts = format!("{default}/serviceaccounts");
    admin.create(&accounts, &account).await.unwrap();
    for (name, node) in [("mine", "n"), ("theirs", "m")] {
        admin.create(PODS, &pod(name, node)).await.unwrap();
        let secret = json!({"metadata": {"name": (format!("{name}-secret"))}});
        let secrets = format!("{default}/secrets");
        admin.create(&secrets, &secret).await.unwrap();
    }
    admin
}

#[tokio::test]
async fn reads_what_its_pods_use() {
    let client = Client::start().await;
    let admin = make(&client).await;
    let (mine, theirs) = (kubelet(&client, "n"), kubelet(&client, "m"));
    let secret = |name: &str| format!("/api/v1/namespaces/default/secrets/{name}-secret");
    mine.get(&secret("mine")).await.unwrap();
    theirs.get(&secret("theirs")).await.unwrap();
    let there = "in the namespace \"default\"";
    let why = format!("{there}: node: no relationship found between node 'm' and this object");
    let what = "secrets \"mine-secret\"";
    let refused = cannot("m", "get", what, "secrets", &why);
    says(theirs.get(&secret("mine")).await, 403, &refused);
    let all = "/api/v1/namespaces/default/secrets";
    let why = format!("{there}: node: No Object name found");
    let refused = cannot("n", "list", "secrets", "secrets", &why);
    says(mine.get(all).await, 403, &refused);
    // By its name, a list is as good as one.
    let one = format!("{all}?fieldSelector=metadata.name%3Dmine-secret");
    mine.get(&one).await.unwrap();
    let why =
        "at the cluster scope: node: can only list/watch pods with spec.nodeName field selector";
    let refused = cannot("n", "list", "pods", "pods", why);
    says(mine.get("/api/v1/pods").await, 403, &refused);
    let own = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn";
    let found = mine.get(own).await.unwrap();
    let items = found.get("items").and_then(Value::as_array).unwrap();
    assert_eq!(items.len(), 1);
    // Through a claim to a volume, and to what the volume needs.
    let volume = json!({
        "metadata": {"name": "pv"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": "default", "name": "mine-claim"},
            "csi": {"driver": "d", "volumeHandle": "h", "nodeStageSecretRef": {"namespace": "kube-system", "name": "stage"}},
        },
    });
    let volumes = "/api/v1/persistentvolumes";
    admin.create(volumes, &volume).await.unwrap();
    let stage = "/api/v1/namespaces/kube-system/secrets";
    let secret = json!({"metadata": {"name": "stage"}});
    admin.create(stage, &secret).await.unwrap();
    let stage = format!("{stage}/stage");
    mine.get(&format!("{volumes}/pv")).await.unwrap();
    mine.get(&stage).await.unwrap();
    assert!(theirs.get(&format!("{volumes}/pv")).await.is_err());
    assert!(theirs.get(&stage).await.is_err());
    // When the pod is gone, so is what it led to.
    let now = json!({"gracePeriodSeconds": 0});
    admin.delete(&format!("{PODS}/mine"), &now).await.unwrap();
    admin.host().wait_until_caught_up().await.unwrap();
    assert!(mine.get(&stage).await.is_err());
}

#[tokio::test]
async fn writes_what_is_its_own() {
    let client = Client::start().await;
    make(&client).await;
    let mine = kubelet(&client, "n");
    let labels = |label: &str| Value::from(Object::from_iter([(label, "x")]));
    let node =
        |name: &str, label: &str| json!({"metadata": {"name": name, "labels": (labels(label))}});
    let role = "node-role.kubernetes.io/control-plane";
    says(
        mine.create(NODES, &node("n", role)).await,
        403,
        "nodes \"n\" is forbidden: node \"n\" is not allowed to set the following labels: node-role.kubernetes.io/control-plane",
    );
    says(
        mine.create(NODES, &node("m", "a")).await,
        403,
        "nodes \"m\" is forbidden: node \"n\" is not allowed to modify node \"m\"",
    );
    let hostname = node("n", "kubernetes.io/hostname");
    mine.create(NODES, &hostname).await.unwrap();
    let own = format!("{NODES}/n");
    let untaint = json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}});
    says(
        mine.merge_patch(&own, &untaint).await,
        403,
        "nodes \"n\" is forbidden: node \"n\" is not allowed to modify taints",
    );
    let relabel = json!({"metadata": {"labels": (labels(role))}});
    says(
        mine.merge_patch(&own, &relabel).await,
        403,
        "nodes \"n\" is forbidden: is not allowed to modify labels: node-role.kubernetes.io/control-plane",
    );
    says(
        mine.create(PODS, &pod("new", "n")).await,
        403,
        "pods \"new\" is forbidden: pod does not have \"kubernetes.io/config.mirror\" annotation, node \"n\" can only create mirror pods",
    );
    let running = json!({"status": {"phase": "Running"}});
    let status = |name: &str| format!("{PODS}/{name}/status");
    mine.merge_patch(&status("mine"), &running).await.unwrap();
    says(
        mine.merge_patch(&status("theirs"), &running).await,
        403,
        "pods \"theirs\" is forbidden: node \"n\" can only update pod status for pods with spec.nodeName set to itself",
    );
    let relabel = json!({"metadata": {"labels": {"a": "b"}}});
    says(
        mine.merge_patch(&status("mine"), &relabel).await,
        403,
        "pods \"mine\" is forbidden: node \"n\" cannot update labels through pod status",
    );
    let eviction = json!({"metadata": {"name": "theirs"}});
    says(
        mine.create(&format!("{PODS}/theirs/eviction"), &eviction)
            .await,
        403,
        "pods \"theirs\" is forbidden: node n can only evict pods with spec.nodeName set to itself",
    );
    says(
        mine.delete(&format!("{PODS}/theirs"), &Value::Null).await,
        403,
        "pods \"theirs\" is forbidden: node \"n\" can only delete pods with spec.nodeName set to itself",
    );
    mine.delete(&format!("{PODS}/mine"), &Value::Null)
        .await
        .unwrap();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    let lease = |name: &str| json!({"metadata": {"name": name}});
    mine.create(leases, &lease("n")).await.unwrap();
    says(
        mine.create(leases, &lease("m")).await,
        403,
        "leases.coordination.k8s.io \"m\" is forbidden: can only access node lease with the same name as the requesting node",
    );
}

#[tokio::test]
async fn tokens_are_for_its_pods() {
    let client = Client::start().await;
    let admin = make(&client).await;
    let mine = kubelet(&client, "n");
    let path = "/api/v1/namespaces/default/serviceaccounts/runner/token";
    let token = |name: &str, uid: &str, audiences: Value| {
        let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid});
        json!({"spec": {"audiences": audiences, "boundObjectRef": bound}})
    };
    let pod = admin.get(&format!("{PODS}/mine")).await.unwrap();
    let uid = meta::object::uid(&pod);
    let fine = token("mine", uid, json!(["vault"]));
    mine.create(path, &fine).await.unwrap();
    let cases = [
        (
            json!({"spec": {"audiences": ["vault"]}}),
            "node requested token not bound to a pod",
        ),
        (
            token("mine", "", json!(["vault"])),
            "node requested token with a pod binding without a uid",
        ),
        (
            token("mine", "x", json!(["vault"])),
            "the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated",
        ),
        (
            token("mine", uid, json!(["other"])),
            "error validating audience \"other\": persistentvolumeclaim \"mine-claim\" not found",
        ),
        (
            token("mine", uid, json!(["a", "b"])),
            "node may only request 0 or 1 audiences",
        ),
    ];
    for (request, why) in cases {
        let refused = format!("serviceaccounts \"runner\" is forbidden: {why}");
        says(mine.create(path, &request).await, 403, &refused);
    }
    let pod = admin.get(&format!("{PODS}/theirs")).await.unwrap();
    let theirs = token("theirs", meta::object::uid(&pod), json!(["vault"]));
    says(
        mine.create(path, &theirs).await,
        403,
        "serviceaccounts \"runner\" is forbidden: node requested token bound to a pod scheduled on a different node",
    );
    // Whoever lets kubelets ask for all tokens does not let them find out which accounts there are.
    let role = json!({
        "metadata": {"name": "all-tokens"},
        "rules": [{"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}],
    });
    let binding = json!({
        "metadata": {"name": "all-tokens"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "all-tokens"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:node:n"}],
    });
    for (plural, object) in [("clusterroles", role), ("clusterrolebindings", binding)] {
        let path = format!("/apis/rbac.authorization.k8s.io/v1/{plural}");
        admin.create(&path, &object).await.unwrap();
    }
    says(
        mine.create(
            "/api/v1/namespaces/default/serviceaccounts/nobody/token",
            &json!({}),
        )
        .await,
        403,
        "serviceaccounts \"nobody\" is forbidden: node requested token not bound to a pod",
    );
}
