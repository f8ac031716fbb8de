//! A policy that one server was given counts on all.

use json::{Value, json};

use super::nodes::Nodes;

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[testkit::requires(etcd)]
#[tokio::test]
async fn policies_count_on_all_servers() {
    let nodes = Nodes::start(2).await;
    let (one, two) = (nodes.client(0), nodes.client(1));
    let policy = json!({
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
            }]},
            "validations": [{"expression": "object.metadata.name != 'denied'", "message": "not here"}],
        },
    });
    let path = format!("{GROUP}/validatingadmissionpolicies");
    one.create(&path, &policy).await.unwrap();
    let binding = json!({"metadata": {"name": "p"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}});
    let path = format!("{GROUP}/validatingadmissionpolicybindings");
    one.create(&path, &binding).await.unwrap();
    let dry = format!("{MAPS}?dryRun=All");
    let map = json!({"metadata": {"name": "denied"}});
    // Whoever has seen the binding is bound by it.
    let path = format!("{path}/p");
    for client in [&one, &two] {
        client.get(&path).await.unwrap();
        let status = client.create(&dry, &map).await.unwrap_err();
        assert!(
            status.message.ends_with("denied request: not here"),
            "{status}"
        );
    }
    two.delete(&path, &Value::Null).await.unwrap();
    for client in [&one, &two] {
        assert!(client.get(&path).await.unwrap_err().is_not_found());
        client.create(&dry, &map).await.unwrap();
    }
}
