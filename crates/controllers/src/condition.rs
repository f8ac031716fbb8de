//! `status.conditions`, and the time they carry.

use std::time::{SystemTime, UNIX_EPOCH};

use json::{Object, Value, json};
use meta::time::Time;

pub(crate) struct Condition<'a> {
    pub kind: &'a str,
    pub status: &'a str,
    pub reason: &'a str,
    pub message: &'a str,
}

/// Puts a condition into an object's status; the time changes with the status only. Whether anything changed.
pub(crate) fn set(object: &mut Value, condition: &Condition<'_>) -> bool {
    let Some(fields) = object.as_object_mut() else {
        return false;
    };
    let status = fields.get_or_insert("status");
    if status.is_null() {
        *status = Object::new().into();
    }
    let Some(status) = status.as_object_mut() else {
        return false;
    };
    let all = status.get_or_insert("conditions");
    if all.is_null() {
        *all = Value::Array(Vec::new());
    }
    let Some(all) = all.as_array_mut() else {
        return false;
    };
    let found = all
        .iter()
        .position(|it| it.str_at(&["type"]) == Some(condition.kind));
    let old = found.map(|at| &all[at]);
    let is = |field: &str, want: &str| old.is_some_and(|it| it.str_at(&[field]) == Some(want));
    let same = is("status", condition.status);
    if same && is("reason", condition.reason) && is("message", condition.message) {
        return false;
    }
    let time = old.and_then(|it| it.get("lastTransitionTime"));
    let time = time
        .filter(|_| same)
        .cloned()
        .unwrap_or_else(|| now().into());
    let new = json!({
        "type": (condition.kind),
        "status": (condition.status),
        "lastTransitionTime": time,
        "reason": (condition.reason),
        "message": (condition.message),
    });
    match found {
        Some(at) => all[at] = new,
        None => all.push(new),
    }
    true
}

pub(crate) fn get<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let all = object.at(&["status", "conditions"])?.as_array()?;
    all.iter().find(|it| it.str_at(&["type"]) == Some(kind))
}

pub(crate) fn now() -> String {
    Time::from_unix(unix(), 0).to_string()
}

/// With microseconds, as leases and events have it.
pub(crate) fn now_micro() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |it| it.subsec_nanos());
    Time::from_unix(unix(), nanos).to_micro_string()
}

/// Seconds since 1970.
pub(crate) fn unix() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX))
}
