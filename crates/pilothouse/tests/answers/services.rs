//! Addresses and ports of Services.

use json::{Value, json};
use testkit::server::Server;

use super::refused;

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: &Value) -> Value {
    let mut all = json!({"selector": {"a": "b"}, "ports": [{"port": 80}]});
    if let (Some(into), Some(more)) = (all.as_object_mut(), spec.as_object()) {
        for (key, value) in more.iter() {
            into.insert(key.clone(), value.clone());
        }
    }
    json!({"metadata": {"name": name}, "spec": all})
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn services_are_given_what_there_is() {
    let server = Server::start().await;
    let local = server.local();
    let cases = [
        (
            json!({"ipFamilyPolicy": "RequireDualStack"}),
            "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack services",
        ),
        (
            json!({"ipFamilies": ["IPv6"]}),
            "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
        ),
        (
            json!({"ipFamilies": ["IPv4", "IPv6"]}),
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
        ),
        (
            json!({"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30556}, {"name": "b", "port": 81, "nodePort": 30556}]}),
            "spec.ports[1].nodePort: Invalid value: 30556: provided port is already allocated",
        ),
        (
            json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 100_000}]}),
            "spec.ports[0].nodePort: Invalid value: 100000: provided port is not in the valid range. The range of valid ports is 30000-32767",
        ),
        (
            json!({"type": "ExternalName", "externalName": "a.b", "clusterIP": "10.96.1.1"}),
            "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
        ),
    ];
    for (spec, why) in cases {
        let text = format!("Service \"s\" is invalid: {why}");
        let answer = local.create(SERVICES, &service("s", &spec)).await;
        refused(answer, 422, &text);
    }
    let made = async |spec: Value| {
        let made = local.create(SERVICES, &service("s", &spec)).await.unwrap();
        let one = format!("{SERVICES}/s");
        local.delete(&one, &Value::Null).await.unwrap();
        made.get("spec").cloned().unwrap()
    };
    let spec = made(json!({"ipFamilyPolicy": "PreferDualStack"})).await;
    assert_eq!(spec.get("ipFamilies"), Some(&json!(["IPv4"])));
    let spec = made(json!({"clusterIP": "None", "selector": null})).await;
    assert_eq!(spec.get("ipFamilies"), Some(&json!(["IPv4", "IPv6"])));
    let shared = json!({"type": "NodePort", "ports": [{"name": "a", "port": 53, "nodePort": 30557}, {"name": "b", "port": 53, "protocol": "UDP", "nodePort": 30557}]});
    made(shared).await;
    // A port for health checks comes with the Service, and goes with it.
    let checked = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local"});
    let spec = made(checked).await;
    let port = spec.get("healthCheckNodePort").and_then(Value::as_i64);
    assert!(port.is_some_and(|it| it >= 30000), "{spec}");
    let wanted = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30777});
    let taken = service("s", &wanted);
    local.create(SERVICES, &taken).await.unwrap();
    let again = local.create(SERVICES, &service("t", &wanted)).await;
    let text = "Internal error occurred: failed to allocate requested HealthCheck NodePort 30777: provided port is already allocated";
    refused(again, 500, text);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn services_keep_what_they_were_given() {
    let server = Server::start().await;
    let local = server.local();
    let spec = json!({"type": "NodePort", "ports": [{"name": "web", "port": 80}]});
    let made = local.create(SERVICES, &service("s", &spec)).await.unwrap();
    let port = |it: &Value| {
        let ports = it.at(&["spec", "ports"]).and_then(Value::as_array);
        let first = ports.and_then(|it| it.first());
        first.and_then(|it| it.get("nodePort")).cloned()
    };
    // Another port by the same name, from a client that knows no node ports.
    let moved = json!({"type": "NodePort", "ports": [{"name": "web", "port": 8080}]});
    let one = format!("{SERVICES}/s");
    let changed = local.update(&one, &service("s", &moved)).await.unwrap();
    assert!(port(&made).is_some());
    assert_eq!(port(&changed), port(&made));
    let ip = |it: &Value| it.at(&["spec", "clusterIP"]).cloned();
    assert_eq!(ip(&changed), ip(&made));
    let headless = json!({"clusterIP": "None"});
    let made = service("h", &headless);
    local.create(SERVICES, &made).await.unwrap();
    let open = service("h", &json!({}));
    let one = format!("{SERVICES}/h");
    let kept = local.update(&one, &open).await.unwrap();
    assert_eq!(ip(&kept), Some(json!("None")));
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn services_give_back_what_they_no_longer_want() {
    let server = Server::start().await;
    let local = server.local();
    let node_port = |it: &Value| {
        let ports = it.at(&["spec", "ports"]).and_then(Value::as_array);
        let first = ports.and_then(|it| it.first());
        first.and_then(|it| it.get("nodePort")).cloned()
    };
    let balanced = service("b", &json!({"type": "LoadBalancer"}));
    let made = local.create(SERVICES, &balanced).await.unwrap();
    let port = node_port(&made).unwrap();
    let without = json!({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false});
    let one = format!("{SERVICES}/b");
    let changed = local.update(&one, &service("b", &without)).await.unwrap();
    assert_eq!(node_port(&changed), None);
    // Free for others.
    let other = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]});
    local.create(SERVICES, &service("o", &other)).await.unwrap();

    // A client that does not know of several addresses.
    let headless = service("h", &json!({"clusterIP": "None"}));
    local.create(SERVICES, &headless).await.unwrap();
    let one = format!("{SERVICES}/h");
    let named = |more: &Value| {
        let mut named = service("h", more);
        let spec = named
            .get_mut("spec")
            .and_then(Value::as_object_mut)
            .unwrap();
        spec.insert("type", "ExternalName");
        spec.insert("externalName", "a.b");
        named
    };
    let other = named(&json!({"clusterIP": "10.96.1.1", "clusterIPs": ["10.96.1.1"]}));
    let why = "Service \"h\" is invalid: spec.clusterIPs: Forbidden: may not be set for ExternalName services";
    refused(local.update(&one, &other).await, 422, why);
    let same = named(&json!({"clusterIP": "None"}));
    let changed = local.update(&one, &same).await.unwrap();
    assert_eq!(changed.at(&["spec", "clusterIP"]), None);
    assert_eq!(changed.at(&["spec", "clusterIPs"]), None);
}
