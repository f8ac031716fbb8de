//! Services, endpoints, ingresses and what belongs to them.

use std::collections::BTreeSet;

use json::Value;

use super::cell::{NONE, UNSET, cells, join, labels, name, or, selector_text, some_of, text_or};
use crate::clock::Now;
use crate::read::{Read, annotation, texts};

pub(crate) fn service(it: &Value, now: Now) -> Vec<Value> {
    let ports = it.list("spec.ports").iter().map(|port| {
        let (number, protocol) = (port.int("port"), port.text("protocol"));
        match port.int("nodePort") {
            node @ 1.. => format!("{number}:{node}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    });
    cells![
        name(it),
        it.text("spec.type"),
        texts(it, "spec.clusterIPs")
            .first()
            .copied()
            .unwrap_or(NONE),
        external_ip(it),
        or(&ports.collect::<Vec<_>>().join(","), NONE),
        now.age(it),
        labels(it, "spec.selector"),
    ]
}

fn external_ip(it: &Value) -> String {
    let mut addresses: Vec<String> = Vec::new();
    let kind = it.text("spec.type");
    match kind {
        "ClusterIP" | "NodePort" => {}
        "LoadBalancer" => addresses.extend(balancer_addresses(it)),
        "ExternalName" => return it.text("spec.externalName").into(),
        _ => return "<unknown>".into(),
    }
    addresses.extend(texts(it, "spec.externalIPs").into_iter().map(str::to_owned));
    let missing = if kind == "LoadBalancer" {
        "<pending>"
    } else {
        NONE
    };
    or(&addresses.join(","), missing).to_owned()
}

fn balancer_addresses(it: &Value) -> BTreeSet<String> {
    let all = it.list("status.loadBalancer.ingress").iter();
    let all = all.map(|it| or(it.text("ip"), it.text("hostname")).to_owned());
    all.filter(|it| !it.is_empty()).collect()
}

pub(crate) fn endpoints(it: &Value, now: Now) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in it.list("subsets") {
        let addresses = subset.list("addresses").iter().map(|it| it.text("ip"));
        let ports = subset.list("ports");
        if ports.is_empty() {
            all.extend(addresses.clone().map(str::to_owned));
        }
        for port in ports {
            let port = port.int("port");
            all.extend(addresses.clone().map(|ip| {
                if ip.contains(':') {
                    format!("[{ip}]:{port}")
                } else {
                    format!("{ip}:{port}")
                }
            }));
        }
    }
    let text = if it.list("subsets").is_empty() {
        NONE.into()
    } else {
        some_of(&all, 3, ",")
    };
    cells![name(it), text, now.age(it)]
}

pub(crate) fn endpoint_slice(it: &Value, now: Now) -> Vec<Value> {
    let port = |it: &Value| match it.find("port") {
        Some(port) => port.to_string(),
        None => text_or(it, "name", "*").to_owned(),
    };
    let ports: Vec<_> = it.list("ports").iter().map(port).collect();
    let addresses = it
        .list("endpoints")
        .iter()
        .flat_map(|it| texts(it, "addresses"));
    let addresses: Vec<_> = addresses.map(str::to_owned).collect();
    cells![
        name(it),
        it.text("addressType"),
        or(&some_of(&ports, 3, ","), UNSET),
        or(&some_of(&addresses, 3, ","), UNSET),
        now.age(it),
    ]
}

pub(crate) fn ingress(it: &Value, now: Now) -> Vec<Value> {
    let tls = !it.list("spec.tls").is_empty();
    cells![
        name(it),
        text_or(it, "spec.ingressClassName", NONE),
        hosts(it.list("spec.rules")),
        balancer_addresses(it)
            .into_iter()
            .collect::<Vec<_>>()
            .join(","),
        if tls { "80, 443" } else { "80" },
        now.age(it),
    ]
}

/// The rest counts rules, whether or not they name a host, as upstream has it.
fn hosts(rules: &[Value]) -> String {
    let mut shown = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= shown.len() == 3;
        if !more && !rule.text("host").is_empty() {
            shown.push(rule.text("host"));
        }
    }
    match shown.is_empty() {
        true => "*".into(),
        false if more => format!("{} + {} more...", shown.join(","), rules.len() - 3),
        false => shown.join(","),
    }
}

pub(crate) fn ingress_class(it: &Value, now: Now) -> Vec<Value> {
    let default = annotation(it, "ingressclass.kubernetes.io/is-default-class") == Some("true");
    let parameters = it.find("spec.parameters").map_or_else(
        || NONE.into(),
        |it| match it.find("apiGroup").and_then(Value::as_str) {
            Some(group) => format!("{}.{group}/{}", it.text("kind"), it.text("name")),
            None => format!("{}/{}", it.text("kind"), it.text("name")),
        },
    );
    cells![
        format!("{}{}", name(it), if default { " (default)" } else { "" }),
        it.text("spec.controller"),
        parameters,
        now.age(it),
    ]
}

pub(crate) fn network_policy(it: &Value, now: Now) -> Vec<Value> {
    cells![
        name(it),
        selector_text(it.find("spec.podSelector")),
        now.age(it)
    ]
}

pub(crate) fn service_cidr(it: &Value, now: Now) -> Vec<Value> {
    cells![name(it), join(texts(it, "spec.cidrs"), ","), now.age(it)]
}

/// One cell more than there are columns, as upstream has it; clients ignore it.
pub(crate) fn ip_address(it: &Value, now: Now) -> Vec<Value> {
    let parent = it.find("spec.parentRef").map_or_else(
        || NONE.into(),
        |parent| {
            let mut text = parent.text("resource").to_lowercase();
            for (separator, part) in [(".", parent.text("group")), ("/", parent.text("namespace"))]
            {
                if !part.is_empty() {
                    text = format!("{text}{separator}{part}");
                }
            }
            format!("{text}/{}", parent.text("name"))
        },
    );
    cells![name(it), parent, now.age(it)]
}
