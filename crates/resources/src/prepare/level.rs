//! Resources of a whole pod, and its quality of service.

use std::collections::BTreeMap;

use json::{Object, Value};

use crate::defaults::made;
use crate::quantity::{self, Quantity};
use crate::read::Read;

type Amounts = BTreeMap<String, Quantity>;

/// Fills in the pod's own requests and limits from its containers, once it has any of its own (KEP-2837).
pub(crate) fn apply_defaults(spec: &mut Object) {
    let whole = Value::Object(spec.clone());
    let has = |path: &str| {
        whole
            .find(path)
            .and_then(Value::as_object)
            .is_some_and(|it| !it.is_empty())
    };
    if !has("resources.limits") && !has("resources.requests") {
        return;
    }
    let Some(resources) = made(spec, "resources") else {
        return;
    };
    let get = |it: &Object, list: &str, key: &str| it.get(list).and_then(|it| it.get(key)).cloned();
    let limits = total(&whole, "limits");
    for (key, amount) in &limits {
        let free =
            get(resources, "requests", key).is_none() && get(resources, "limits", key).is_none();
        if is_huge_page(key) && free {
            insert(resources, "limits", key, amount);
        }
    }
    for (key, amount) in total(&whole, "requests") {
        if matches!(key.as_str(), "cpu" | "memory") && get(resources, "requests", &key).is_none() {
            insert(resources, "requests", &key, &amount);
        }
    }
    for (key, amount) in amounts(resources.get("limits")) {
        if is_supported(&key) && get(resources, "requests", &key).is_none() {
            insert(resources, "requests", &key, &amount);
        }
    }
    for (key, request) in amounts(resources.get("requests")) {
        let all_limited =
            containers(&whole).all(|it| it.at(&["resources", "limits", &key]).is_some());
        if is_supported(&key)
            && get(resources, "limits", &key).is_none()
            && all_limited
            && let Some(total) = limits.get(&key)
        {
            insert(resources, "limits", &key, total.max(&request));
        }
    }
}

/// Guaranteed: each has limits for processor and memory and asks for as much. Best effort: none asks for anything.
pub(crate) fn class(spec: &Value) -> &'static str {
    let of_pod = spec.find("resources").filter(|it| {
        let set = |list: &str| amounts(it.get(list)).keys().any(|key| is_supported(key));
        set("requests") || set("limits")
    });
    if let Some(resources) = of_pod {
        return class_of(resources);
    }
    let empty = Value::Null;
    let mut found = None;
    for container in containers(spec) {
        let one = class_of(container.find("resources").unwrap_or(&empty));
        if one == BURSTABLE || found.is_some_and(|it| it != one) {
            return BURSTABLE;
        }
        found = Some(one);
    }
    found.unwrap_or(BEST_EFFORT)
}

const BEST_EFFORT: &str = "BestEffort";
const BURSTABLE: &str = "Burstable";
const GUARANTEED: &str = "Guaranteed";

fn class_of(resources: &Value) -> &'static str {
    // Anything at all, even of another resource, is not nothing: but only these two decide.
    let shape = |key: &str| {
        let get = |list: &str| {
            let found = resources.at(&[list, key]).and_then(quantity::of);
            found.unwrap_or_else(quantity::zero)
        };
        let (request, limit) = (get("requests"), get("limits"));
        if request != limit {
            BURSTABLE
        } else if request.is_zero() {
            BEST_EFFORT
        } else {
            GUARANTEED
        }
    };
    let (cpu, memory) = (shape("cpu"), shape("memory"));
    if cpu == memory { cpu } else { BURSTABLE }
}

fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    spec.list("initContainers")
        .iter()
        .chain(spec.list("containers"))
}

/// What all containers need at once: sidecars and containers together, or the init container that needs more.
fn total(spec: &Value, list: &str) -> Amounts {
    let of = |it: &Value| amounts(it.at(&["resources", list]));
    let mut sum = Amounts::new();
    for container in spec.list("containers") {
        add(&mut sum, of(container));
    }
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in spec.list("initContainers") {
        let mut needs = of(container);
        if container.text("restartPolicy") == "Always" {
            add(&mut sum, needs.clone());
            add(&mut sidecars, needs);
            needs = sidecars.clone();
        } else {
            add(&mut needs, sidecars.clone());
        }
        raise(&mut most, needs);
    }
    raise(&mut sum, most);
    sum
}

fn amounts(list: Option<&Value>) -> Amounts {
    let pairs = list
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Object::iter);
    pairs
        .filter_map(|(key, value)| Some((key.to_string(), quantity::of(value)?)))
        .collect()
}

fn add(to: &mut Amounts, from: Amounts) {
    // What has too many digits to add counts no further.
    merge(to, from, |a, b| a.checked_add(&b).unwrap_or(a));
}

fn raise(to: &mut Amounts, from: Amounts) {
    merge(to, from, |a, b| if b > a { b } else { a });
}

fn merge(to: &mut Amounts, from: Amounts, how: fn(Quantity, Quantity) -> Quantity) {
    for (key, amount) in from {
        let merged = match to.remove(&key) {
            Some(there) => how(there, amount),
            None => amount,
        };
        to.insert(key, merged);
    }
}

fn insert(resources: &mut Object, list: &str, key: &str, amount: &Quantity) {
    if let Some(list) = made(resources, list) {
        list.insert(key, amount.to_string());
    }
}

fn is_huge_page(key: &str) -> bool {
    key.starts_with("hugepages-")
}

fn is_supported(key: &str) -> bool {
    matches!(key, "cpu" | "memory") || is_huge_page(key)
}
