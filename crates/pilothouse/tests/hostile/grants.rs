//! Nobody grants what they do not hold, whichever way they try.

use json::{Value, json};

use crate::client::{Answer, Client, says};

const GROUP: &str = "/apis/rbac.authorization.k8s.io/v1";
const WHO: &str = "user \"alice\" (groups=[\"dev\" \"ops\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n";
const ALL: &str = "{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}";
const URLS: &str = "{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}";
const SECRETS: &str = "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}";

/// A server on which alice may write roles and bindings, and nothing else.
async fn start() -> Client {
    let client = Client::start().await;
    let rbac = "rbac.authorization.k8s.io";
    let resources = [
        "roles",
        "rolebindings",
        "clusterroles",
        "clusterrolebindings",
    ];
    let verbs = ["create", "update", "patch", "get"];
    let rules = resources.into_iter();
    let rules = rules.flat_map(|it| verbs.map(|verb| (rbac, it, verb)));
    client.grant("writer", &rules.collect::<Vec<_>>());
    client
}

#[track_caller]
fn forbidden(answer: &Answer, plural: &str, name: &str, why: &str) {
    let text = format!("{plural}.rbac.authorization.k8s.io \"{name}\" is forbidden: {why}");
    says(answer, 403, &text);
}

fn to_alice(name: &str, kind: &str, role: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}],
    })
}

#[tokio::test]
async fn roles_do_not_grow_beyond_their_writers() {
    let client = start().await;
    let roles = format!("{GROUP}/clusterroles");
    let mine = format!("{roles}/mine");
    let role = |rules: Value| json!({"metadata": {"name": "mine"}, "rules": rules});
    let secrets = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]);
    let all = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    let why = format!("{WHO}{SECRETS}");
    forbidden(
        &client.alice("POST", &roles, &role(secrets.clone())),
        "clusterroles",
        "mine",
        &why,
    );
    let own = json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]}]);
    assert_eq!(client.alice("POST", &roles, &role(own)).0, 201);
    forbidden(
        &client.alice("PUT", &mine, &role(secrets.clone())),
        "clusterroles",
        "mine",
        &why,
    );
    forbidden(
        &client.alice("PATCH", &mine, &json!({"rules": (secrets.clone())})),
        "clusterroles",
        "mine",
        &why,
    );
    let patch = json!([{"op": "replace", "path": "/rules", "value": all}]);
    let kind = "application/json-patch+json";
    let answer = client.user("alice", "PATCH", &mine, kind, &json::to_vec(&patch));
    forbidden(&answer, "clusterroles", "mine", &format!("{WHO}{ALL}"));
    let apply = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "mine"},
        "rules": [{"nonResourceURLs": ["*"], "verbs": ["*"]}],
    });
    let kind = "application/apply-patch+yaml";
    let path = format!("{mine}?fieldManager=x&force=true");
    let answer = client.user("alice", "PATCH", &path, kind, &json::to_vec(&apply));
    forbidden(&answer, "clusterroles", "mine", &format!("{WHO}{URLS}"));
    // A role that gathers others' rules, and the labels by which it is gathered.
    let gather = json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]});
    let full = "must have cluster-admin privileges to use the aggregationRule";
    let gatherer = json!({"metadata": {"name": "gatherer"}, "aggregationRule": (gather.clone())});
    forbidden(
        &client.alice("POST", &roles, &gatherer),
        "clusterroles",
        "gatherer",
        full,
    );
    forbidden(
        &client.alice("PATCH", &mine, &json!({"aggregationRule": gather})),
        "clusterroles",
        "mine",
        full,
    );
    let label =
        json!({"metadata": {"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}});
    let answer = client.alice("PATCH", &format!("{roles}/cluster-admin"), &label);
    forbidden(
        &answer,
        "clusterroles",
        "cluster-admin",
        &format!("{WHO}{ALL}\n{URLS}"),
    );
    // Who may escalate may.
    client.grant(
        "escalate",
        &[("rbac.authorization.k8s.io", "clusterroles", "escalate")],
    );
    assert_eq!(
        client.alice("PATCH", &mine, &json!({"rules": secrets})).0,
        200
    );
}

#[tokio::test]
async fn bindings_do_not_give_what_their_writers_lack() {
    let client = start().await;
    let bindings = format!("{GROUP}/clusterrolebindings");
    let why = format!("{WHO}{ALL}\n{URLS}");
    let admin = to_alice("me", "ClusterRole", "cluster-admin");
    forbidden(
        &client.alice("POST", &bindings, &admin),
        "clusterrolebindings",
        "me",
        &why,
    );
    let local = format!("{GROUP}/namespaces/default/rolebindings");
    forbidden(
        &client.alice("POST", &local, &admin),
        "rolebindings",
        "me",
        &why,
    );
    let subjects = json!({"subjects": (admin.get("subjects").cloned().unwrap())});
    let answer = client.alice("PATCH", &format!("{bindings}/cluster-admin"), &subjects);
    forbidden(&answer, "clusterrolebindings", "cluster-admin", &why);
    let other = json!({"roleRef": {"name": "cluster-admin"}});
    let answer = client.alice("PATCH", &format!("{bindings}/writer"), &other);
    forbidden(&answer, "clusterrolebindings", "writer", &why);
    let mut apply = admin.clone();
    apply
        .as_object_mut()
        .unwrap()
        .insert("kind", "ClusterRoleBinding");
    let path = format!("{bindings}/me?fieldManager=x");
    let kind = "application/apply-patch+yaml";
    let answer = client.user("alice", "PATCH", &path, kind, &json::to_vec(&apply));
    forbidden(&answer, "clusterrolebindings", "me", &why);
    // A role that is not there yet may be anything tomorrow.
    says(
        &client.alice("POST", &local, &to_alice("later", "Role", "nope")),
        404,
        "rolebindings.rbac.authorization.k8s.io \"nope\" not found",
    );
    client.grant(
        "bind",
        &[("rbac.authorization.k8s.io", "clusterroles", "bind")],
    );
    assert_eq!(client.alice("POST", &local, &admin).0, 201);
}

#[tokio::test]
async fn who_may_change_may_not_yet_make() {
    let client = Client::start().await;
    client.grant(
        "changer",
        &[
            ("", "configmaps", "patch"),
            ("coordination.k8s.io", "leases", "update"),
        ],
    );
    let map = "/api/v1/namespaces/default/configmaps/m";
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    let apply = || {
        let kind = "application/apply-patch+yaml";
        let path = format!("{map}?fieldManager=f");
        client.user("alice", "PATCH", &path, kind, &json::to_vec(&applied))
    };
    let text = "configmaps \"m\" is forbidden: User \"alice\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"default\"";
    says(&apply(), 403, text);
    let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    let put = || client.alice("PUT", lease, &json!({"metadata": {"name": "l"}}));
    let text = "leases.coordination.k8s.io \"l\" is forbidden: User \"alice\" cannot create resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"default\"";
    says(&put(), 403, text);
    client.grant(
        "maker",
        &[
            ("", "configmaps", "create"),
            ("coordination.k8s.io", "leases", "create"),
        ],
    );
    assert_eq!(apply().0, 201);
    assert_eq!(put().0, 201);
}

#[tokio::test]
async fn who_may_read_may_not_run_anything() {
    let client = Client::start().await;
    client.grant("reader", &[("", "pods/exec", "get")]);
    let exec = "/api/v1/namespaces/default/pods/p/exec?command=id&stdout=true";
    let ask = || client.alice("GET", exec, &Value::Null);
    says(&ask(), 403, "pods \"p\" is forbidden: ");
    client.grant("runner", &[("", "pods/exec", "create")]);
    assert_eq!(ask().0, 404);
}
