//! What is done to pods: by whom, where to, and how often.

use json::{Value, json};

use crate::client::{Client, message, says};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

fn pod(client: &Client, name: &str) {
    client.make(
        PODS,
        &json!({
            "metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"automountServiceAccountToken": false, "containers": [{"name": "c", "image": "i"}]},
        }),
    );
}

fn patch(client: &Client, path: &str, change: &Value) -> Value {
    let kind = "application/merge-patch+json";
    let (code, body) = client.admin("PATCH", path, kind, &json::to_vec(change));
    assert_eq!(code, 200, "{body}");
    json::parse(body.as_bytes()).unwrap()
}

fn post(client: &Client, path: &str, body: &Value) -> (u16, String) {
    client.admin("POST", path, "application/json", &json::to_vec(body))
}

/// Waits for the account that pods run as.
fn with_account(client: &Client) {
    let started = std::time::Instant::now();
    while client
        .get("/api/v1/namespaces/default/serviceaccounts/default")
        .0
        != 200
    {
        assert!(started.elapsed() < crate::client::DEADLINE);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[tokio::test]
async fn pods_are_bound_once_and_by_whom_it_is_given_to() {
    let client = Client::start().await;
    with_account(&client);
    pod(&client, "b");
    let path = format!("{PODS}/b/binding");
    let to =
        |node: &str| json!({"metadata": {"name": "b"}, "target": {"kind": "Node", "name": node}});
    client.grant(
        "pods",
        &[
            ("", "pods", "create"),
            ("", "pods", "patch"),
            ("", "pods", "update"),
        ],
    );
    says(
        &client.alice("POST", &path, &to("n")),
        403,
        "pods \"b\" is forbidden: User \"alice\" cannot create resource \"pods/binding\" in API group \"\" in the namespace \"default\"",
    );
    let other = json!({"metadata": {"name": "other"}, "target": {"kind": "Node", "name": "n"}});
    says(
        &post(&client, &path, &other),
        400,
        "name in URL does not match name in Binding object",
    );
    let elsewhere = json!({"metadata": {"name": "b", "namespace": "kube-system"}, "target": {"kind": "Node", "name": "n"}});
    says(
        &post(&client, &path, &elsewhere),
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    );
    let no_node = json!({"metadata": {"name": "b"}, "target": {"kind": "Pod", "name": "n"}});
    says(
        &post(&client, &path, &no_node),
        500,
        "target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\"",
    );
    let stale =
        json!({"metadata": {"name": "b", "uid": "x"}, "target": {"kind": "Node", "name": "n"}});
    assert_eq!(post(&client, &path, &stale).0, 409);
    assert_eq!(post(&client, &path, &to("one")).0, 201);
    says(
        &post(&client, &path, &to("two")),
        409,
        "Operation cannot be fulfilled on pods/binding \"b\": pod b is already assigned to node \"one\"",
    );
    // Nor by the main resource, nor what only subresources change.
    for change in [
        json!({"spec": {"nodeName": "two"}}),
        json!({"spec": {"ephemeralContainers": [{"name": "x", "image": "y"}]}}),
    ] {
        let (code, body) = client.alice("PATCH", &format!("{PODS}/b"), &change);
        assert_eq!(code, 422, "{body}");
        assert!(
            body.contains("pod updates may not change fields other than"),
            "{body}"
        );
    }
    let (code, body) = client.alice(
        "PATCH",
        &format!("{PODS}/b"),
        &json!({"status": {"phase": "Failed"}}),
    );
    assert_eq!(code, 200);
    assert!(body.contains("\"phase\":\"Pending\""), "{body}");
    for (sub, verb) in [
        ("status", "patch"),
        ("ephemeralcontainers", "patch"),
        ("resize", "patch"),
    ] {
        says(
            &client.alice("PATCH", &format!("{PODS}/b/{sub}"), &json!({})),
            403,
            &format!(
                "pods \"b\" is forbidden: User \"alice\" cannot {verb} resource \"pods/{sub}\" in API group \"\" in the namespace \"default\""
            ),
        );
    }
    let finalize = json!({"metadata": {"name": "default"}, "spec": {"finalizers": []}});
    says(
        &client.alice("PUT", "/api/v1/namespaces/default/finalize", &finalize),
        403,
        "namespaces \"default\" is forbidden: User \"alice\" cannot update resource \"namespaces/finalize\" in API group \"\" in the namespace \"default\"",
    );
}

#[tokio::test]
async fn evictions_keep_to_the_budget() {
    let client = Client::start().await;
    with_account(&client);
    for name in ["e1", "e2", "e3"] {
        pod(&client, name);
        let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        patch(&client, &format!("{PODS}/{name}/status"), &ready);
    }
    let path = |pod: &str| format!("{PODS}/{pod}/eviction");
    let evict = |pod: &str| post(&client, &path(pod), &json!({"metadata": {"name": pod}}));
    says(
        &client.alice("POST", &path("e1"), &json!({"metadata": {"name": "e1"}})),
        403,
        "pods \"e1\" is forbidden: User \"alice\" cannot create resource \"pods/eviction\" in API group \"\" in the namespace \"default\"",
    );
    for name in ["", "e2"] {
        says(
            &post(&client, &path("e1"), &json!({"metadata": {"name": name}})),
            400,
            "name in URL does not match name in Eviction object",
        );
    }
    let refused = |pod: &str, cause: &str| {
        let answer = evict(pod);
        assert_eq!(answer.0, 429, "{}", answer.1);
        assert_eq!(
            message(&answer),
            "Cannot evict pod as it would violate the pod's disruption budget."
        );
        let status = json::parse(answer.1.as_bytes()).unwrap();
        let causes = status
            .at(&["details", "causes"])
            .and_then(Value::as_array)
            .unwrap();
        assert_eq!(causes[0].str_at(&["message"]), Some(cause));
    };
    client.make(
        BUDGETS,
        &json!({"metadata": {"name": "pdb"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}}),
    );
    refused(
        "e1",
        "The disruption budget pdb is still being processed by the server.",
    );
    let status = format!("{BUDGETS}/pdb/status");
    let one_left = json!({"status": {
        "observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3,
    }});
    patch(&client, &status, &one_left);
    let allowed = || {
        let (_, body) = client.get(&format!("{BUDGETS}/pdb"));
        let budget = json::parse(body.as_bytes()).unwrap();
        let number = budget
            .at(&["status", "disruptionsAllowed"])
            .and_then(Value::as_i64);
        let pods = budget
            .at(&["status", "disruptedPods"])
            .cloned()
            .unwrap_or_default();
        (
            number.unwrap(),
            pods.as_object().map_or(0, json::Object::len),
        )
    };
    // A dry run takes nothing; two at once do not get one place.
    let dry = format!("{}?dryRun=All", path("e1"));
    assert_eq!(
        post(&client, &dry, &json!({"metadata": {"name": "e1"}})).0,
        201
    );
    assert_eq!(allowed(), (1, 0));
    let codes = std::thread::scope(|scope| {
        let both = ["e1", "e2"].map(|pod| scope.spawn(move || evict(pod).0));
        let mut codes = both.map(|it| it.join().unwrap());
        codes.sort_unstable();
        codes
    });
    assert_eq!(codes, [201, 429]);
    assert_eq!(allowed(), (0, 1));
    refused(
        "e3",
        "The disruption budget pdb does not allow evicting pods currently",
    );
    patch(&client, &status, &json!({"status": {"currentHealthy": 2}}));
    refused(
        "e3",
        "The disruption budget pdb needs 2 healthy pods and has 2 currently",
    );
    // A pod that is not ready disrupts nobody.
    let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    patch(&client, &format!("{PODS}/e3/status"), &unready);
    let (code, body) = evict("e3");
    assert_eq!(code, 201, "{body}");
    assert_eq!(allowed(), (0, 1));
}
