//! Allocation of cluster IPs, which are `IPAddress` objects, and of node ports, which are a bitmap. Both change in the same
//! transaction as the Service: nothing leaks, nothing is given twice.

mod extra_writes;
mod families;
mod ports;

use std::net::{IpAddr, Ipv4Addr};

use json::{Object, Value, json};
use meta::Status;
use meta::field;
use resources::Action;
use store::Condition;

use crate::catalog::Resource;
use crate::catalog::convert;
use crate::catalog::object;
use crate::runtime::clock;
use crate::runtime::random;
use crate::state::Api;
pub use crate::state::service_ranges::ServiceRanges;
pub use extra_writes::ExtraWrites;
use extra_writes::text;

fn is_service(resource: &Resource) -> bool {
    resource.strategy.action == Action::Allocates
}

/// The addresses that it holds.
fn ips(object: &Value) -> Vec<String> {
    if !has_ip(object) {
        return Vec::new();
    }
    let all = object.at(&["spec", "clusterIPs"]).and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_str);
    let mut all: Vec<String> = all.filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let one = text(object, &["spec", "clusterIP"]);
    if all.is_empty() && !one.is_empty() {
        all.push(one.to_owned());
    }
    all.retain(|it| it != "None");
    all
}

/// Whether it is of a type that has an address, be it none.
fn has_ip(object: &Value) -> bool {
    matches!(
        text(object, &["spec", "type"]),
        "ClusterIP" | "NodePort" | "LoadBalancer"
    )
}

fn wants_ip(object: &Value) -> bool {
    has_ip(object) && text(object, &["spec", "clusterIP"]) != "None"
}

/// Keeps what an update leaves out, so that clients need not repeat what they were given.
pub fn carry_over(resource: &Resource, object: &mut Value, live: &Value) {
    if !is_service(resource) {
        return;
    }
    let keeps = has_ip(object) && has_ip(live);
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
        && keeps
    {
        let is_empty = |it: Option<&Value>| {
            it.and_then(Value::as_str).is_none_or(str::is_empty)
                && it.and_then(Value::as_array).is_none_or(Vec::is_empty)
        };
        for field in ["clusterIP", "clusterIPs"] {
            if let Some(value) = live.at(&["spec", field])
                && is_empty(spec.get(field))
            {
                spec.insert(field, value.clone());
            }
        }
    }
    ports::carry_over(object, live);
    normalize(Some(live), object);
}

/// `clusterIP` is the first of `clusterIPs`: a client that writes only one of the two means both.
fn normalize(live: Option<&Value>, object: &mut Value) {
    let one = text(object, &["spec", "clusterIP"]).to_owned();
    let all = |it: &Value| it.at(&["spec", "clusterIPs"]).cloned().unwrap_or_default();
    let several = all(object);
    let none = several.as_array().is_none_or(Vec::is_empty);
    let new = match live {
        None => (!one.is_empty() && none).then(|| json!([(one.clone())])),
        Some(live) if text(live, &["spec", "clusterIP"]) == one => none.then(|| all(live)),
        Some(live) if several != all(live) => None,
        Some(_) if one.is_empty() => Some(Value::Null),
        Some(_) => Some(json!([(one.clone())])),
    };
    if let Some(new) = new
        && let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
    {
        if new.is_null() {
            spec.remove("clusterIPs");
        } else {
            spec.insert("clusterIPs", new);
        }
    }
}

/// Gives a Service what it asks for, or refuses.
pub fn assign(
    api: &Api,
    resource: &Resource,
    live: Option<&Value>,
    object: &mut Value,
) -> Result<ExtraWrites, Status> {
    let mut beside = ExtraWrites::default();
    if !is_service(resource) {
        return Ok(beside);
    }
    if live.is_none_or(|live| live.get("spec") != object.get("spec")) {
        if live.is_none() {
            normalize(None, object);
        }
        families::init(resource, live, object)?;
    }
    let before = live.map(ips).unwrap_or_default();
    if wants_ip(object) {
        let asked = ips(object);
        if asked.is_empty() {
            let ip = free(api)
                .ok_or_else(|| Status::internal("failed to allocate a serviceIP: range is full"))?;
            take(api, &mut beside, object, ip.into());
            set_ips(object, &ip.to_string());
        } else {
            for ip in asked.iter().filter(|ip| !before.contains(ip)) {
                let address = check(api, resource, object, ip)?;
                take(api, &mut beside, object, address);
            }
            let first = asked[0].clone();
            set_ips(object, &first);
        }
    } else if text(object, &["spec", "clusterIP"]) == "None" {
        set_ips(object, "None");
    }
    let now = ips(object);
    for ip in before.iter().filter(|ip| !now.contains(ip)) {
        give_back(api, &mut beside, ip);
    }
    ports::assign(api, resource, &mut beside, live, object)?;
    Ok(beside)
}

/// What a Service that goes gives back.
pub fn release(api: &Api, resource: &Resource, object: &Value) -> ExtraWrites {
    let mut beside = ExtraWrites::default();
    if is_service(resource) {
        for ip in ips(object) {
            give_back(api, &mut beside, &ip);
        }
        ports::release(api, &mut beside, object);
    }
    beside
}

fn set_ips(object: &mut Value, ip: &str) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    spec.insert("clusterIP", ip);
    let several = spec.get("clusterIPs").and_then(Value::as_array);
    if several.is_none_or(Vec::is_empty) {
        spec.insert("clusterIPs", json!([ip]));
    }
}

fn free(api: &Api) -> Option<Ipv4Addr> {
    let ranges = &api.settings().services;
    let (base, count) = (u32::from(ranges.network.0), ranges.count() - 2);
    let start = u32::from_le_bytes(random::bytes()) % count;
    let latest = api.store().latest();
    (0..count)
        .map(|step| Ipv4Addr::from(base + 1 + (start + step) % count))
        .find(|ip| latest.get(key(ip).as_bytes()).is_none())
}

fn key(ip: &impl ToString) -> String {
    format!("/ipaddresses/{}", ip.to_string())
}

fn check(api: &Api, resource: &Resource, object: &Value, ip: &str) -> Result<IpAddr, Status> {
    let refuse = |why: String| {
        let all: Value = ips(object).into_iter().collect();
        let error = field::Error::invalid(
            "spec.clusterIPs",
            all,
            format!("failed to allocate IP {ip}: {why}"),
        );
        Status::invalid(&resource.group_kind(), object::name(object), &[error])
    };
    let address: IpAddr = ip.parse().map_err(|_| refuse("not an IP address".into()))?;
    let ranges = &api.settings().services;
    if !ranges.contains(address) {
        return Err(refuse(
            "the provided network does not match the current range".into(),
        ));
    }
    if api.store().latest().get(key(&address).as_bytes()).is_some() {
        return Err(refuse("provided IP is already allocated".into()));
    }
    Ok(address)
}

fn take(api: &Api, beside: &mut ExtraWrites, service: &Value, ip: IpAddr) {
    let Some(resource) = api.preferred("networking.k8s.io", "ipaddresses") else {
        return;
    };
    let family = if ip.is_ipv4() { "IPv4" } else { "IPv6" };
    let address = json!({
        "kind": "IPAddress",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {
            "name": (ip.to_string()),
            "uid": (random::uid()),
            "creationTimestamp": (clock::now()),
            "labels": {
                "ipaddress.kubernetes.io/ip-family": family,
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            },
            "managedFields": [{
                "manager": "kube-apiserver",
                "operation": "Update",
                "apiVersion": "networking.k8s.io/v1",
                "time": (clock::now()),
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {
                        ".": {},
                        "f:ipaddress.kubernetes.io/ip-family": {},
                        "f:ipaddress.kubernetes.io/managed-by": {},
                    }},
                    "f:spec": {"f:parentRef": {
                        ".": {}, "f:name": {}, "f:namespace": {}, "f:resource": {},
                    }},
                },
            }],
        },
        "spec": {
            "parentRef": {
                "resource": "services",
                "namespace": (text(service, &["metadata", "namespace"])),
                "name": (text(service, &["metadata", "name"])),
            },
        },
    });
    if let Ok(value) = convert::encode(&resource, &address) {
        let key = key(&ip);
        beside
            .conditions
            .push(Condition::Absent(key.clone().into()));
        beside.puts.push((key, value.to_vec()));
    }
}

fn give_back(api: &Api, beside: &mut ExtraWrites, ip: &str) {
    let key = key(&ip);
    if let Some(entry) = api.store().latest().get(key.as_bytes()) {
        beside
            .conditions
            .push(Condition::Unchanged(key.clone().into(), entry.modified));
        beside.deletes.push(key);
    }
}

/// The `ServiceCIDR` that the flags stand for.
pub fn service_cidr(ranges: &ServiceRanges) -> Value {
    let (network, length) = ranges.network;
    let mut spec = Object::new();
    spec.insert("cidrs", json!([(format!("{network}/{length}"))]));
    json!({
        "kind": "ServiceCIDR",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": "kubernetes"},
        "spec": spec,
    })
}
