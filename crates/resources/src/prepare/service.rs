//! A service that changes its type gives back what only the old type needs, unless the user changes that too.

use json::{Object, Value, json};

use super::kinds::put;
use crate::defaults::made;
use crate::read::Read;

pub(crate) fn update(new: &mut Object, old: &Value) {
    let now = Value::Object(new.clone());
    let Some(spec) = made(new, "spec") else {
        return;
    };
    let equal = |key: &str| {
        let find = |it: &Value| {
            it.get("spec")
                .and_then(|it| it.get(key))
                .filter(|it| !it.is_null())
                .cloned()
        };
        find(old) == find(&now)
    };
    let lost = |needs: fn(&Value) -> bool| needs(old) && !needs(&now);
    if lost(needs_cluster_ip) {
        if equal("clusterIP") && equal("clusterIPs") {
            spec.remove("clusterIP");
            spec.remove("clusterIPs");
        }
        for key in ["ipFamilies", "ipFamilyPolicy"] {
            if equal(key) {
                spec.remove(key);
            }
        }
    }
    if lost(needs_node_port) && no_new_node_ports(&now, old) {
        crate::defaults::each(spec, "ports", |port| put(port, "nodePort", None));
    }
    if lost(needs_health_check) && equal("healthCheckNodePort") {
        spec.remove("healthCheckNodePort");
    }
    if lost(is_balanced) {
        for key in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if equal(key) {
                spec.remove(key);
            }
        }
    }
    if lost(is_exposed) && equal("externalTrafficPolicy") {
        spec.remove("externalTrafficPolicy");
    }
    hide_internal_policy(spec);
    if !is_balanced(&now)
        && let Some(status) = made(new, "status")
    {
        status.insert("loadBalancer", Object::new());
    }
}

pub(crate) fn create(new: &mut Object) {
    if let Some(spec) = made(new, "spec") {
        hide_internal_policy(spec);
    }
}

/// From before there were several addresses, and families of them.
pub(crate) fn stored(service: &mut Value) {
    if !needs_cluster_ip(service) {
        return;
    }
    let ip = service.text("spec.clusterIP").to_owned();
    let selects = service
        .find("spec.selector")
        .and_then(Value::as_object)
        .is_some_and(|it| !it.is_empty());
    let has = |field: &str| !service.list(field).is_empty();
    let (has_ips, has_families) = (has("spec.clusterIPs"), has("spec.ipFamilies"));
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if !ip.is_empty() && !has_ips {
        spec.insert("clusterIPs", json!([(ip.clone())]));
    }
    if has_families {
        return;
    }
    let (policy, families) = match &*ip {
        "None" if !selects => ("RequireDualStack", json!(["IPv4", "IPv6"])),
        ip if ip.contains(':') => ("SingleStack", json!(["IPv6"])),
        _ => ("SingleStack", json!(["IPv4"])),
    };
    spec.insert("ipFamilyPolicy", policy);
    spec.insert("ipFamilies", families);
}

/// Upstream stores it, and hides it from all who read. What is none of its values is left to be refused.
fn hide_internal_policy(spec: &mut Object) {
    let text = |key| spec.get(key).and_then(Value::as_str);
    if text("type") == Some("ExternalName")
        && matches!(text("internalTrafficPolicy"), Some("Cluster" | "Local"))
    {
        spec.remove("internalTrafficPolicy");
    }
}

fn kind(service: &Value) -> &str {
    service.text("spec.type")
}

fn needs_cluster_ip(service: &Value) -> bool {
    kind(service) != "ExternalName"
}

fn needs_node_port(service: &Value) -> bool {
    matches!(kind(service), "NodePort" | "LoadBalancer")
}

fn needs_health_check(service: &Value) -> bool {
    is_balanced(service) && service.text("spec.externalTrafficPolicy") == "Local"
}

fn is_balanced(service: &Value) -> bool {
    kind(service) == "LoadBalancer"
}

fn is_exposed(service: &Value) -> bool {
    needs_node_port(service)
        || kind(service) == "ClusterIP" && !service.list("spec.externalIPs").is_empty()
}

fn no_new_node_ports(new: &Value, old: &Value) -> bool {
    let ports = |it: &Value| -> Vec<i64> {
        it.list("spec.ports")
            .iter()
            .map(|it| it.int("nodePort"))
            .collect()
    };
    let before = ports(old);
    ports(new)
        .iter()
        .all(|port| *port == 0 || before.contains(port))
}
