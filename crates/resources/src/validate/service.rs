//! Services.

use std::collections::HashSet;

use json::{Value, json};
use meta::field::Error;
use meta::names;

use super::errors::Errors;
use super::field::{Field, text};
use super::ip;
use super::object_meta::{self, Named};
use super::pod::containers::PROTOCOLS;
use super::seen::{Key, Seen};

const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";
const FOR_BALANCERS: &str = "may only be used when `type` is 'LoadBalancer'";

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::LABEL);
    service(e, it, None);
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (it, was) = (new.child("spec"), old.child("spec"));
    changed_ips(e, &it, &was);
    changed_families(e, &it, &was);
    let class = it.child("loadBalancerClass");
    let both = is_balancer(&it) && is_balancer(&was);
    if both && class.opt_str() != was.child("loadBalancerClass").opt_str() {
        e.invalid_value(&class, class.value.clone(), "may not change once set");
    }
    balancer_class(e, &it);
    let port = it.child("healthCheckNodePort");
    if needs_health_check(&it)
        && needs_health_check(&was)
        && port.int() != was.number("healthCheckNodePort")
    {
        e.forbidden(&port, "field is immutable");
    }
    service(e, new, Some(old));
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let at = ["status", "loadBalancer", "ingress"];
    let (all, had) = (new.children(&at), old.children(&at));
    if !is_balancer(&new.child("spec")) && !all.is_empty() {
        return e.forbidden(&all, "may only be used when `spec.type` is 'LoadBalancer'");
    }
    let had: HashSet<&str> = had.list().iter().map(|it| text(it, "ip")).collect();
    for it in all.items() {
        let (ip, mode, host) = (it.child("ip"), it.child("ipMode"), it.child("hostname"));
        if !ip.is_empty() {
            e.ip(&ip, had.contains(ip.str()));
        }
        match (mode.is_set(), ip.is_empty()) {
            (false, false) => e.required(&mode, "must be specified when `ip` is set"),
            (true, true) => e.forbidden(&mode, "may not be specified when `ip` is not set"),
            (true, false) => e.one_of(&mode, &["Proxy", "VIP"]),
            (false, true) => {}
        }
        host_name(e, &host);
    }
}

/// Of a load balancer, here and of ingresses.
pub(super) fn host_name(e: &mut Errors, host: &Field) {
    if !host.is_empty() {
        e.dns_subdomain(host);
        if names::parse_ip_sloppy(host.str()).is_some() {
            e.invalid(host, "must be a DNS name, not an IP address");
        }
    }
}

fn is_balancer(spec: &Field) -> bool {
    spec.text("type") == "LoadBalancer"
}

fn is_headless(spec: &Field) -> bool {
    matches!(spec.child("clusterIPs").list(), [one] if one.as_str() == Some("None"))
}

fn service(e: &mut Errors, it: &Field, old: Option<&Field>) {
    let (metadata, spec) = (it.child("metadata"), it.child("spec"));
    let annotations = metadata.child("annotations");
    let mode = annotations.entry(TOPOLOGY_MODE);
    if mode.is_set()
        && annotations.has(TOPOLOGY_HINTS)
        && mode.str() != annotations.text(TOPOLOGY_HINTS)
    {
        let why = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        e.invalid(&mode, &why);
    }
    let ports = spec.child("ports");
    if ports.is_empty() && !is_headless(&spec) && spec.text("type") != "ExternalName" {
        e.required(&ports, "");
    }
    by_type(e, &spec);
    let mut seen = Seen::default();
    for port in ports.items() {
        one_port(e, &port, ports.len() > 1, &mut seen);
    }
    e.labels(&spec.child("selector"));
    affinity(e, &spec);
    cluster_ips(e, &spec, old);
    let was = |name: &'static str| {
        old.and_then(|old| old.value.at(&["spec", name]).and_then(Value::as_array))
    };
    let had = texts(was("externalIPs"));
    for address in spec.child("externalIPs").items() {
        let before = e.len();
        e.ip(&address, had.contains(address.str()));
        if e.len() == before {
            e.invalid_all(&address, ip::wrong_endpoint(address.str()));
        }
    }
    e.required_one_of(
        &spec.child("type"),
        &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"],
    );
    duplicate_ports(e, &spec, &ports);
    source_ranges(
        e,
        &spec,
        &annotations,
        old,
        &texts(was("loadBalancerSourceRanges")),
    );
    let allocate = spec.child("allocateLoadBalancerNodePorts");
    if allocate.is_set() && !is_balancer(&spec) {
        e.forbidden(&allocate, FOR_BALANCERS);
    }
    if !allocate.is_set() && is_balancer(&spec) {
        e.required(&it.child("allocateLoadBalancerNodePorts"), "");
    }
    balancer_class(e, &spec);
    traffic(e, &spec);
}

fn by_type(e: &mut Errors, spec: &Field) {
    let ips = spec.child("clusterIPs");
    match spec.text("type") {
        kind @ ("LoadBalancer" | "NodePort") if is_headless(spec) => {
            let why = format!("may not be set to 'None' for {kind} services");
            e.invalid(&ips.item(0), &why);
        }
        "ExternalName" => {
            let text = "may not be set for ExternalName services";
            if !ips.is_empty() {
                e.forbidden(&ips, text);
            }
            let families = spec.child("ipFamilies");
            if !families.is_empty() {
                e.forbidden(&families, text);
            }
            let policy = spec.child("ipFamilyPolicy");
            if policy.is_set() {
                e.forbidden(&policy, text);
            }
            let name = spec.child("externalName");
            let without_dot = name.str().strip_suffix('.').unwrap_or(name.str());
            if without_dot.is_empty() {
                e.required(&name, "");
            }
            for wrong in (!without_dot.is_empty())
                .then(|| names::dns1123_subdomain(without_dot))
                .into_iter()
                .flatten()
            {
                e.invalid_value(&name, without_dot, &wrong);
            }
        }
        _ => {}
    }
}

/// What a list has, without space around it.
fn texts(list: Option<&Vec<Value>>) -> HashSet<&str> {
    let all = list.into_iter().flatten().filter_map(Value::as_str);
    all.map(str::trim).collect()
}

fn one_port<'a>(e: &mut Errors, it: &Field<'a>, named: bool, seen: &mut Seen<&'a str>) {
    let name = it.child("name");
    if name.is_empty() {
        if named {
            e.required(&name, "");
        }
    } else {
        e.dns_label(&name);
        if !seen.insert(it.text("name")) {
            e.duplicate(&name);
        }
    }
    e.port_number(&it.child("port"));
    e.required_one_of(&it.child("protocol"), PROTOCOLS);
    e.port(&it.child("targetPort"));
    let protocol = it.child("appProtocol");
    if protocol.is_set() {
        e.qualified_name(&protocol);
    }
}

fn affinity(e: &mut Errors, spec: &Field) {
    let kind = spec.child("sessionAffinity");
    e.required_one_of(&kind, &["ClientIP", "None"]);
    let config = spec.child("sessionAffinityConfig");
    let (client, text) = (
        config.child("clientIP"),
        "when session affinity type is ClientIP",
    );
    let timeout = client.child("timeoutSeconds");
    match kind.str() {
        "ClientIP" if !config.is_set() => e.required(&config, text),
        "ClientIP" if !client.is_set() => e.required(&client, text),
        "ClientIP" if !timeout.is_set() => e.required(&timeout, text),
        "ClientIP" if !(1..=86400).contains(&timeout.int()) => {
            e.invalid(&timeout, "must be greater than 0 and less than 86400");
        }
        "None" if config.is_set() => {
            e.forbidden(&config, "must not be set when session affinity is None");
        }
        _ => {}
    }
}

pub(super) fn cluster_ips(e: &mut Errors, spec: &Field, old: Option<&Field>) {
    if spec.text("type") == "ExternalName" {
        return;
    }
    let (one, all) = (spec.text("clusterIP"), spec.child("clusterIPs"));
    let (families, policy) = (spec.child("ipFamilies"), spec.child("ipFamilyPolicy"));
    match all.texts().next() {
        None if !one.is_empty() => e.required(&all, ""),
        Some(_) if one.is_empty() => {
            e.invalid(&all, "must be empty when `clusterIP` is not specified");
        }
        Some(first) if first != one => e.invalid(&all, "first value must match `clusterIP`"),
        _ => {}
    }
    let mut seen = Seen::default();
    for family in families.items() {
        e.one_of(&family, &["IPv4", "IPv6"]);
        if !seen.insert(Key::from(family.value)) {
            e.duplicate(&family);
        }
    }
    e.optional_one_of(
        &policy,
        &["PreferDualStack", "RequireDualStack", "SingleStack"],
    );
    let had = old.map(|old| old.children(&["spec", "clusterIPs"]).texts().collect());
    let had: HashSet<&str> = had.unwrap_or_default();
    let mut wrong = false;
    for (index, address) in all.items().enumerate() {
        let before = e.len();
        if index == 0 && address.str() == "None" {
            if all.len() > 1 {
                e.invalid(&all, "'None' must be the first and only value");
            }
        } else {
            e.ip(&address, had.contains(address.str()));
        }
        wrong |= e.len() > before;
    }
    if all.len() > 2 {
        e.invalid(&all, "may only hold up to 2 values");
    }
    if wrong {
        return;
    }
    if all.len() > 1 && !ip::is_dual_stack(all.texts()) {
        e.invalid(&all, "may specify no more than one IP for each IP family");
    }
    if is_headless(spec) {
        return;
    }
    for (index, (address, family)) in all.items().zip(families.texts()).enumerate() {
        let six = ip::is_ipv6(address.str());
        if family == "IPv4" && six || family == "IPv6" && !six {
            let why = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            e.invalid(&address, &why);
        }
    }
}

fn duplicate_ports(e: &mut Errors, spec: &Field, ports: &Field) {
    if spec.text("type") == "ClusterIP" {
        for port in ports.items() {
            let node = port.child("nodePort");
            if node.int() != 0 {
                e.forbidden(&node, "may not be used when `type` is 'ClusterIP'");
            }
        }
    }
    let mut seen = Seen::default();
    for port in ports.items() {
        let node = port.child("nodePort");
        let again = !seen.insert((port.text("protocol"), port.number("nodePort")));
        if node.int() != 0 && again {
            e.duplicate(&node);
        }
    }
    let mut seen = Seen::default();
    for port in ports.items() {
        if !seen.insert((port.text("protocol"), port.number("port"))) {
            // Upstream shows its internal type with only these set.
            let (protocol, number) = (port.text("protocol"), port.number("port"));
            let shown = json!({
                "Name": "", "Protocol": protocol, "AppProtocol": null, "Port": number, "TargetPort": 0, "NodePort": 0
            });
            e.duplicate_value(&port, shown);
        }
    }
}

fn source_ranges(
    e: &mut Errors,
    spec: &Field,
    annotations: &Field,
    old: Option<&Field>,
    had: &HashSet<&str>,
) {
    let ranges = spec.child("loadBalancerSourceRanges");
    let annotation = annotations.entry(SOURCE_RANGES);
    let check = |e: &mut Errors, at: &Field, range: &str, had: bool| {
        let range = range.trim();
        e.push_all(names::cidr_for_legacy_field(&at.path, range, true, had));
    };
    if !ranges.is_empty() {
        let at = spec.child_as("loadBalancerSourceRanges", "LoadBalancerSourceRanges");
        if !is_balancer(spec) {
            e.forbidden(&at, FOR_BALANCERS);
        }
        for range in at.items() {
            check(e, &range, range.str(), had.contains(range.str().trim()));
        }
    } else if annotation.is_set() {
        if !is_balancer(spec) {
            e.forbidden(&annotation, FOR_BALANCERS);
        }
        let unchanged = old.is_some_and(|old| {
            old.children(&["metadata", "annotations"])
                .text(SOURCE_RANGES)
                == annotation.str()
        });
        if !unchanged && !annotation.str().trim().is_empty() {
            for range in annotation.str().trim().split(',') {
                check(e, &annotation, range, false);
            }
        }
    }
}

fn balancer_class(e: &mut Errors, spec: &Field) {
    let class = spec.child("loadBalancerClass");
    if class.is_set() {
        if is_balancer(spec) {
            e.qualified_name(&class);
        } else {
            e.forbidden(&class, FOR_BALANCERS);
        }
    }
}

fn needs_health_check(spec: &Field) -> bool {
    is_balancer(spec) && spec.text("externalTrafficPolicy") == "Local"
}

fn traffic(e: &mut Errors, spec: &Field) {
    let kind = spec.text("type");
    let external = spec.child("externalTrafficPolicy");
    let reachable = matches!(kind, "LoadBalancer" | "NodePort")
        || kind == "ClusterIP" && !spec.child("externalIPs").is_empty();
    if reachable {
        e.required_one_of(&external, &["Cluster", "Local"]);
    } else if !external.is_empty() {
        e.invalid(
            &external,
            "may only be set for externally-accessible services",
        );
    }
    let port = spec.child("healthCheckNodePort");
    if !needs_health_check(spec) {
        if port.int() != 0 {
            let text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            e.invalid(&port, text);
        }
    } else if port.int() == 0 {
        e.required(&port, "");
    } else {
        e.port_number(&port);
    }
    let internal = spec.child("internalTrafficPolicy");
    if internal.is_set() {
        e.one_of(&internal, &["Cluster", "Local"]);
    } else if matches!(kind, "NodePort" | "LoadBalancer" | "ClusterIP") {
        e.required(&internal, "");
    }
    let distribution = spec.child("trafficDistribution");
    e.optional_one_of(
        &distribution,
        &["PreferClose", "PreferSameZone", "PreferSameNode"],
    );
}

/// The first stays; a second may come and, said so, go.
fn changed_ips(e: &mut Errors, it: &Field, was: &Field) {
    let external = |spec: &Field| spec.text("type") == "ExternalName";
    if external(it) || external(was) || is_headless(it) && is_headless(was) {
        return;
    }
    let (all, had) = (it.child("clusterIPs"), was.child("clusterIPs"));
    let shown = || all.value.clone();
    let text = "may not change once set";
    if all.len() == had.len() {
        for (index, (new, old)) in all.texts().zip(had.texts()).enumerate() {
            if new != old {
                e.push_with(|| Error::invalid(all.path.index(index), shown(), text));
            }
        }
        return;
    }
    let moved = all
        .texts()
        .next()
        .zip(had.texts().next())
        .is_some_and(|(new, old)| new != old);
    if all.is_empty() {
        e.invalid_value(&all.item(0), shown(), "primary clusterIP can not be unset");
    }
    if moved {
        e.invalid_value(&all.item(0), shown(), text);
    }
    let policy = it.child("ipFamilyPolicy");
    if all.len() < had.len() && all.len() == 1 && policy.str() != "SingleStack" {
        let text = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        e.invalid_value(&policy, policy.value.clone(), text);
    }
}

fn changed_families(e: &mut Errors, it: &Field, was: &Field) {
    let external = |spec: &Field| spec.text("type") == "ExternalName";
    if external(it) || external(was) || is_headless(it) || is_headless(was) {
        return;
    }
    let (all, had) = (it.child("ipFamilies"), was.child("ipFamilies"));
    let ips = it.child("clusterIPs");
    let text = "may not change once set";
    if all.len() == had.len() {
        for _ in all.texts().zip(had.texts()).filter(|(new, old)| new != old) {
            e.push_with(|| Error::invalid(all.path.index(0), all.value.clone(), text));
        }
        return;
    }
    if all.len() < had.len() && ips.is_empty() {
        e.invalid_value(
            &all.item(0),
            all.value.clone(),
            "primary ipFamily can not be unset",
        );
    }
    if all
        .texts()
        .next()
        .zip(had.texts().next())
        .is_some_and(|(new, old)| new != old)
    {
        e.invalid_value(&all.item(0), ips.value.clone(), text);
    }
    let policy = it.child("ipFamilyPolicy");
    if all.len() < had.len() && all.len() == 1 && policy.str() != "SingleStack" {
        let text = "must be set to 'SingleStack' when releasing the secondary ipFamily";
        e.invalid_value(&policy, policy.value.clone(), text);
    }
}
