//! Whether two values mean the same to Kubernetes.

use json::{Object, Value};

use super::words::read_quantity;

/// What is absent, null or empty is the same, and quantities are compared by what they say.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    compare(a, b, "")
}

fn compare(a: &Value, b: &Value, key: &str) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => objects(a, b, key),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| compare(a, b, key))
        }
        _ if a == b => true,
        _ if is_empty(a, key) && is_empty(b, key) => true,
        _ => quantities(a, b, key),
    }
}

fn objects(a: &Object, b: &Object, key: &str) -> bool {
    let below = |name: &'_ str| {
        if QUANTITIES.contains(&key) {
            key.to_owned()
        } else {
            name.to_owned()
        }
    };
    let missing = &Value::Null;
    let covers = |a: &Object, b: &Object| {
        a.iter()
            .all(|(name, value)| compare(value, b.get(name).unwrap_or(missing), &below(name)))
    };
    covers(a, b)
        && b.iter()
            .all(|(name, value)| a.contains_key(name) || is_empty(value, name))
}

/// Go has no pointer there, so that nothing and zero cannot be told apart.
const ZERO_IS_NOTHING: &[&str] = &[
    "defaultMode",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostPort",
    "initialDelaySeconds",
    "minReadySeconds",
    "nodePort",
    "publishNotReadyAddresses",
    "readOnly",
    "stdin",
    "stdinOnce",
    "tty",
    "unschedulable",
];

fn is_empty(value: &Value, key: &str) -> bool {
    match value {
        Value::Null => true,
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.values().all(Value::is_null),
        Value::Bool(it) => !it && ZERO_IS_NOTHING.contains(&key),
        Value::Number(it) => it.as_i64() == Some(0) && ZERO_IS_NOTHING.contains(&key),
    }
}

const QUANTITIES: &[&str] = &[
    "averageValue",
    "capacity",
    "default",
    "defaultRequest",
    "divisor",
    "hard",
    "limits",
    "max",
    "maxLimitRequestRatio",
    "min",
    "overhead",
    "requests",
    "sizeLimit",
    "used",
    // And as Go names them.
    "Divisor",
    "Limits",
    "Overhead",
    "Requests",
    "SizeLimit",
];

fn quantities(a: &Value, b: &Value, key: &str) -> bool {
    QUANTITIES.contains(&key)
        && matches!((read_quantity(a), read_quantity(b)), (Some(a), Some(b)) if a == b)
}
