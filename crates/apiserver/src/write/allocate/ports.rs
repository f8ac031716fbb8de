//! Node ports. The ports in use are one object, as kube-apiserver keeps them: a bitmap over the range.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};
use meta::Status;
use meta::field;
use store::Condition;

use super::extra_writes::{ExtraWrites, text};
use crate::catalog::Resource;
use crate::catalog::convert;
use crate::catalog::object;
use crate::runtime::random;
use crate::state::Api;

const KEY: &str = "/ranges/servicenodeports";

/// The ports of the range that are taken.
struct Bitmap {
    range: (u16, u16),
    taken: Vec<bool>,
    condition: Condition,
}

impl Bitmap {
    fn read(api: &Api) -> Self {
        let range = api.settings().services.ports;
        let mut taken = vec![false; usize::from(range.1 - range.0) + 1];
        let latest = api.store().latest();
        let entry = latest.get(KEY.as_bytes());
        let condition = match entry {
            Some(entry) => Condition::Unchanged(KEY.into(), entry.modified),
            None => Condition::Absent(KEY.into()),
        };
        let known = entry.and_then(|entry| convert::read(&entry.value).ok());
        let text = format!("{}-{}", range.0, range.1);
        match known.filter(|it| it.str_at(&["range"]) == Some(&text)) {
            Some(known) => {
                let data = STANDARD
                    .decode(super::extra_writes::text(&known, &["data"]))
                    .unwrap_or_default();
                // A big-endian number whose lowest bit is the first port.
                for (index, taken) in taken.iter_mut().enumerate() {
                    let byte = data
                        .len()
                        .checked_sub(1 + index / 8)
                        .map_or(0, |at| data[at]);
                    *taken = byte >> (index % 8) & 1 == 1;
                }
            }
            // Not there yet, or of another range: the Services know.
            None => {
                for service in api.list_all("", "services", "") {
                    for port in ports(&service) {
                        if let Some(at) = port.checked_sub(range.0).filter(|_| port <= range.1) {
                            taken[usize::from(at)] = true;
                        }
                    }
                }
            }
        }
        Self {
            range,
            taken,
            condition,
        }
    }

    fn at(&mut self, port: u16) -> Option<&mut bool> {
        let at = port.checked_sub(self.range.0)?;
        self.taken.get_mut(usize::from(at))
    }

    fn free(&mut self) -> Option<u16> {
        let count = self.taken.len();
        let start = usize::from(u16::from_le_bytes(random::bytes())) % count;
        let at = (0..count)
            .map(|step| (start + step) % count)
            .find(|at| !self.taken[*at])?;
        self.taken[at] = true;
        Some(self.range.0 + u16::try_from(at).ok()?)
    }

    fn write(self, beside: &mut ExtraWrites) {
        let mut data = vec![0_u8; self.taken.len().div_ceil(8)];
        let last = data.len() - 1;
        for (index, _) in self.taken.iter().enumerate().filter(|(_, taken)| **taken) {
            data[last - index / 8] |= 1 << (index % 8);
        }
        let value = json!({
            "kind": "RangeAllocation",
            "apiVersion": "v1",
            "metadata": {},
            "range": (format!("{}-{}", self.range.0, self.range.1)),
            "data": (STANDARD.encode(data)),
        });
        beside.conditions.push(self.condition);
        beside.puts.push((KEY.to_owned(), json::to_vec(&value)));
    }
}

fn list(service: &Value) -> &[Value] {
    let all = service.at(&["spec", "ports"]).and_then(Value::as_array);
    all.map_or(&[], |it| it)
}

/// Zero for none; what is no port at all is out of every range.
fn node_port(port: &Value) -> u16 {
    let number = port.get("nodePort").and_then(Value::as_i64).unwrap_or(0);
    u16::try_from(number).unwrap_or(1)
}

/// The port that the Service itself has. None if there is no number.
fn own_port(port: &Value) -> Option<i64> {
    port.get("port").and_then(Value::as_i64)
}

fn health_port(service: &Value) -> u16 {
    let port = service.at(&["spec", "healthCheckNodePort"]);
    let port = port.and_then(Value::as_i64).unwrap_or(0);
    u16::try_from(port).unwrap_or(1)
}

/// All that a Service has, its health check's included, in order.
fn ports(service: &Value) -> Vec<u16> {
    let health = std::iter::once(health_port(service));
    let mut all: Vec<u16> = list(service).iter().map(node_port).chain(health).collect();
    all.retain(|it| *it != 0);
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether ports without a node port are given one.
fn wants(service: &Value) -> bool {
    match text(service, &["spec", "type"]) {
        "NodePort" => true,
        "LoadBalancer" => {
            let flag = service.at(&["spec", "allocateLoadBalancerNodePorts"]);
            flag.and_then(Value::as_bool) != Some(false)
        }
        _ => false,
    }
}

fn wants_health(service: &Value) -> bool {
    text(service, &["spec", "type"]) == "LoadBalancer"
        && text(service, &["spec", "externalTrafficPolicy"]) == "Local"
}

/// Ports that an update leaves without a node port keep theirs: they go by their names.
pub(super) fn carry_over(object: &mut Value, live: &Value) {
    if wants_health(object) && wants_health(live) && health_port(object) == 0 {
        let kept = health_port(live);
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("healthCheckNodePort", i64::from(kept));
        }
    }
    if !wants(object) || !wants(live) {
        return;
    }
    let used: HashSet<u16> = list(object).iter().map(node_port).collect();
    // Of several with one name the last counts.
    let named = list(live)
        .iter()
        .map(|it| (text(it, &["name"]), node_port(it)));
    let named: HashMap<&str, u16> = named.collect();
    let Some(ports) = object
        .at_mut(&["spec", "ports"])
        .and_then(Value::as_array_mut)
    else {
        return;
    };
    for port in ports.iter_mut().filter(|port| node_port(port) == 0) {
        let old = named.get(text(port, &["name"])).copied().unwrap_or(0);
        if old != 0
            && !used.contains(&old)
            && let Some(fields) = port.as_object_mut()
        {
            fields.insert("nodePort", i64::from(old));
        }
    }
}

pub(super) fn assign(
    api: &Api,
    resource: &Resource,
    beside: &mut ExtraWrites,
    live: Option<&Value>,
    object: &mut Value,
) -> Result<(), Status> {
    let before = live.map(ports).unwrap_or_default();
    let missing = wants(object) && list(object).iter().any(|port| node_port(port) == 0);
    let health = wants_health(object) && health_port(object) == 0;
    if !missing && !health && ports(object) == before {
        return Ok(());
    }
    let mut bitmap = Bitmap::read(api);
    let mut asked = HashSet::new();
    for (index, port) in list(object).iter().enumerate() {
        let number = node_port(port);
        // A new Service shares a node port between protocols of one port only.
        let repeats = !asked.insert((number, live.is_none().then(|| own_port(port))));
        if number == 0 || before.binary_search(&number).is_ok() {
            continue;
        }
        let refuse = |why: String| {
            let path = format!("spec.ports[{index}].nodePort");
            let asked = port.get("nodePort").cloned().unwrap_or_default();
            let error = field::Error::invalid(path, asked, why);
            Status::invalid(&resource.group_kind(), object::name(object), &[error])
        };
        let (from, to) = bitmap.range;
        match bitmap.at(number) {
            Some(taken) if !*taken || repeats => *taken = true,
            Some(_) => return Err(refuse("provided port is already allocated".into())),
            None => {
                return Err(refuse(format!(
                    "provided port is not in the valid range. The range of valid ports is {from}-{to}"
                )));
            }
        }
    }
    let full = || Status::internal("failed to allocate a nodePort: range is full");
    if wants(object)
        && let Some(all) = object
            .at_mut(&["spec", "ports"])
            .and_then(Value::as_array_mut)
    {
        // The same port for two protocols shares a node port.
        let mut given = HashMap::new();
        for port in all.iter_mut() {
            let number = own_port(port);
            let known = given.get(&number).copied();
            let own = node_port(port);
            let chosen = match (own, known) {
                (0, Some(known)) => known,
                (0, None) => bitmap.free().ok_or_else(full)?,
                (own, _) => own,
            };
            given.entry(number).or_insert(chosen);
            if let Some(fields) = port.as_object_mut() {
                fields.insert("nodePort", i64::from(chosen));
            }
        }
    }
    let asked = health_port(object);
    if wants_health(object) && asked != 0 && before.binary_search(&asked).is_err() {
        let refuse = |why: &str| {
            let text = format!("failed to allocate requested HealthCheck NodePort {asked}: {why}");
            Status::internal(text)
        };
        let (from, to) = bitmap.range;
        match bitmap.at(asked) {
            Some(taken) if !*taken => *taken = true,
            Some(_) => return Err(refuse("provided port is already allocated")),
            None => {
                return Err(refuse(&format!(
                    "provided port is not in the valid range. The range of valid ports is {from}-{to}"
                )));
            }
        }
    }
    if health {
        let port = bitmap.free().ok_or_else(full)?;
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("healthCheckNodePort", i64::from(port));
        }
    }
    let now = ports(object);
    for port in before
        .iter()
        .filter(|port| now.binary_search(port).is_err())
    {
        if let Some(taken) = bitmap.at(*port) {
            *taken = false;
        }
    }
    bitmap.write(beside);
    Ok(())
}

pub(super) fn release(api: &Api, beside: &mut ExtraWrites, object: &Value) {
    let held = ports(object);
    if held.is_empty() {
        return;
    }
    let mut bitmap = Bitmap::read(api);
    for port in held {
        if let Some(taken) = bitmap.at(port) {
            *taken = false;
        }
    }
    bitmap.write(beside);
}
