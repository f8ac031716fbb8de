//! Requests and limits.

use std::collections::HashMap;

use json::Value;
use meta::quantity::Quantity;

use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::quota_names::{
    is_extended, is_huge_pages, is_integer, is_native, is_standard, is_standard_for_containers,
    overcommit_allowed,
};
use crate::validate::seen::Seen;
use crate::validate::words::{quantity, read_quantity};

pub(super) fn container(e: &mut Errors, it: &Field, claims: &Seen<&str>) {
    if it.is_set() {
        requirements(e, it, claims, container_resource_name);
    }
}

pub(crate) fn resource_name(e: &mut Errors, at: &Field, name: &str) -> bool {
    let before = e.len();
    for wrong in meta::names::qualified_name(name) {
        e.invalid_value(at, name, &wrong);
    }
    if e.len() == before && !name.contains('/') && !is_standard(name) {
        e.invalid_value(
            at,
            name,
            "must be a standard resource type or fully qualified",
        );
    }
    e.len() == before
}

pub(crate) fn container_resource_name(e: &mut Errors, at: &Field, name: &str) {
    resource_name(e, at, name);
    if !name.contains('/') {
        if !is_standard_for_containers(name) {
            e.invalid_value(at, name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        e.invalid_value(at, name, "doesn't follow extended resource name standard");
    }
}

fn pod_resource_name(e: &mut Errors, at: &Field, name: &str) {
    if resource_name(e, at, name) && !matches!(name, "cpu" | "memory") && !is_huge_pages(name) {
        let supported = ["cpu", "hugepages-", "memory"];
        e.push(meta::field::Error::not_supported(at.path, name, supported));
    }
}

pub(crate) fn quantity_value(e: &mut Errors, at: &Field, name: &str) {
    e.non_negative_quantity(at);
    if is_integer(name)
        && let Some(quantity) = quantity(at)
        && quantity.milli_value() % 1000 != 0
    {
        e.invalid_value(at, quantity.to_string(), "must be an integer");
    }
}

type NameRule = fn(&mut Errors, &Field, &str);

fn requirements(e: &mut Errors, it: &Field, claims: &Seen<&str>, name_rule: NameRule) {
    let (limits, requests) = (it.child("limits"), it.child("requests"));
    let (mut compute, mut huge) = (false, false);
    for (name, at) in limits.entries() {
        name_rule(e, &at, name);
        quantity_value(e, &at, name);
        huge |= huge_pages(e, &at, name);
        compute |= matches!(name, "cpu" | "memory");
    }
    for (name, at) in requests.entries() {
        name_rule(e, &at, name);
        quantity_value(e, &at, name);
        within_limit(e, &requests, &limits, name);
        huge |= huge_pages(e, &at, name);
        compute |= matches!(name, "cpu" | "memory");
    }
    if huge && !compute {
        e.forbidden(it, "HugePages require cpu or memory");
    }
    claim_names(e, &it.child("claims"), claims);
}

fn within_limit(e: &mut Errors, requests: &Field, limits: &Field, name: &str) {
    let (request, limit) = (requests.value.get(name), limits.value.get(name));
    let read = |it: Option<&Value>| it.and_then(read_quantity);
    match (read(request), read(limit)) {
        (Some(request), Some(limit)) => {
            let relation = if request != limit && !overcommit_allowed(name) {
                "equal to"
            } else if request > limit {
                "less than or equal to"
            } else {
                return;
            };
            let why = format!("must be {relation} {name} limit of {limit}");
            e.invalid_value(requests, request.to_string(), &why);
        }
        (_, None) if !overcommit_allowed(name) => {
            e.required(limits, "Limit must be set for non overcommitable resources");
        }
        _ => {}
    }
}

/// Whole pages only. Says whether it is about huge pages.
fn huge_pages(e: &mut Errors, at: &Field, name: &str) -> bool {
    let Some(size) = name.strip_prefix("hugepages-") else {
        return false;
    };
    if let Some(quantity) = quantity(at) {
        let whole = |it: &Quantity| it.sign() > 0 && it.milli_value() % 1000 == 0;
        let size = Quantity::parse(size).ok().filter(whole);
        if size.is_none_or(|size| size.value() == 0 || quantity.value() % size.value() != 0) {
            let why = format!("{quantity} is not positive integer multiple of {name}");
            e.invalid_value(at, quantity.to_string(), &why);
        }
    }
    true
}

fn claim_names(e: &mut Errors, all: &Field, known: &Seen<&str>) {
    let mut seen: Seen<(&str, &str)> = Seen::default();
    // How many requests of a claim were named.
    let mut named: HashMap<&str, usize> = HashMap::new();
    for it in all.items() {
        let (name, request) = (it.text("name"), it.text("request"));
        if name.is_empty() {
            e.required(&it, "");
            continue;
        }
        if seen.contains(&(name, "")) {
            e.duplicate_value(&it, name);
        } else {
            if !request.is_empty() {
                e.dns_label(&it.child("request"));
            }
            if seen.contains(&(name, request)) {
                e.duplicate_value(&it, format!("{name}/{request}"));
            } else if request.is_empty() {
                for _ in 0..named.get(name).copied().unwrap_or_default() {
                    e.duplicate_value(&it, name);
                }
            }
            seen.insert((name, request));
            *named.entry(name).or_default() += 1;
        }
        if !known.contains(&name) {
            e.push_with(|| {
                let mut known: Vec<&str> = known.iter().copied().collect();
                known.sort_unstable();
                let mut error = meta::field::Error::not_found(it.path, name);
                let which = if known.is_empty() {
                    " which is empty".into()
                } else {
                    format!(": {}", known.join(", "))
                };
                error.detail =
                    format!("must be one of the names in pod.spec.resourceClaims{which}");
                error
            });
        }
    }
}

/// What a pod costs beyond its containers.
pub(crate) fn overhead(e: &mut Errors, it: &Field) {
    for (name, at) in it.entries() {
        // Upstream reads it as the limits of a container.
        let path = it.path.child("limits");
        let at = Field {
            value: at.value,
            path: path.key(name),
        };
        container_resource_name(e, &at, name);
        quantity_value(e, &at, name);
        huge_pages(e, &at, name);
    }
}

pub(super) fn of_pod(e: &mut Errors, spec: &Field, claims: &Seen<&str>) {
    let it = spec.child("resources");
    if !it.is_set() {
        return;
    }
    if spec.child("os").text("name") == "windows" {
        return e.forbidden(&it, "may not be set for a windows pod");
    }
    if it.has("claims") {
        let text = "claims may not be set for Resources at pod-level";
        e.forbidden(&it.child("claims"), text);
    }
    requirements(e, &it, claims, pod_resource_name);
    consistency(e, spec, &it);
}

/// The containers must fit into the pod.
fn consistency(e: &mut Errors, spec: &Field, it: &Field) {
    let requests = it.child("requests");
    let sums = aggregate(spec, "requests", &requests);
    for (name, at) in requests.entries() {
        if let (Some(pod), Some(sum)) = (quantity(&at), sums.get(name))
            && *sum > pod
        {
            let why =
                format!("must be greater than or equal to aggregate container requests of {sum}");
            e.invalid_value(&at, pod.to_string(), &why);
        }
    }
    let limits = it.child("limits");
    let sums = aggregate(spec, "limits", &limits);
    for (name, at) in limits.entries().filter(|(name, _)| is_huge_pages(name)) {
        if let (Some(pod), Some(sum)) = (quantity(&at), sums.get(name))
            && *sum > pod
        {
            let why =
                format!("must be greater than or equal to aggregate container limits of {sum}");
            e.invalid_value(&at, pod.to_string(), &why);
        }
    }
    for (index, container) in spec.child("containers").list().iter().enumerate() {
        let of = container
            .at(&["resources", "limits"])
            .and_then(Value::as_object);
        for (name, limit) in of.into_iter().flat_map(json::Object::iter) {
            let pod = limits.value.get(name).and_then(read_quantity);
            if let (Some(limit), Some(pod)) = (read_quantity(limit), pod)
                && limit > pod
            {
                let why = format!("must be less than or equal to pod limits of {pod}");
                let at = it.path.child("containers");
                let at = at.index(index);
                let at = at.key(name);
                e.push(meta::field::Error::invalid(
                    at.child("limits"),
                    limit.to_string(),
                    why,
                ));
            }
        }
    }
}

/// How much of one resource the containers of a pod take.
#[derive(Default)]
struct Sums {
    total: Option<Quantity>,
    sidecars: Option<Quantity>,
    most: Option<Quantity>,
}

impl Sums {
    /// Of init containers the greediest counts, with the sidecars before it.
    fn init(&mut self, amount: Option<Quantity>, is_sidecar: bool) {
        let mut peak = amount;
        if is_sidecar {
            add(&mut self.sidecars, peak.clone());
            add(&mut self.total, peak.take());
            peak.clone_from(&self.sidecars);
        } else {
            add(&mut peak, self.sidecars.clone());
        }
        self.most = self.most.take().max(peak);
    }
}

fn add(sum: &mut Option<Quantity>, more: Option<Quantity>) {
    *sum = match (sum.take(), more) {
        (Some(a), Some(b)) => a.checked_add(&b),
        (a, b) => a.or(b),
    };
}

/// Containers and sidecars run together. Only what the pod says something of is added up; what no container says
/// something of is not there.
fn aggregate<'a>(spec: &Field<'a>, of: &str, said: &Field<'a>) -> HashMap<&'a str, Quantity> {
    let mut sums: HashMap<&str, Sums> = HashMap::new();
    let amounts = |container: &'a Value| {
        let all = container.at(&["resources", of]).and_then(Value::as_object);
        let all = all.into_iter().flat_map(json::Object::iter);
        let all = all.filter(|(name, _)| said.has(name));
        all.filter_map(|(name, value)| Some((name.as_str(), read_quantity(value)?)))
    };
    let list = |name: &str| {
        let all = spec.value.get(name).and_then(Value::as_array);
        all.into_iter().flatten()
    };
    for container in list("containers") {
        for (name, amount) in amounts(container) {
            add(&mut sums.entry(name).or_default().total, Some(amount));
        }
    }
    for container in list("initContainers") {
        let is_sidecar = container.str_at(&["restartPolicy"]) == Some("Always");
        for (name, amount) in amounts(container) {
            sums.entry(name).or_default().init(Some(amount), is_sidecar);
        }
    }
    let total = |(name, sums): (&'a str, Sums)| Some((name, sums.total.max(sums.most)?));
    sums.into_iter().filter_map(total).collect()
}
