//! How objects go.

use json::{Object, Value};

use crate::read::Read;

/// A pod has time, if it is bound to a node and not finished.
pub(crate) fn pod_grace_period(pod: &Value, requested: Option<i64>) -> i64 {
    let own = pod.int("spec.terminationGracePeriodSeconds");
    let unbound = pod.text("spec.nodeName").is_empty();
    let finished = matches!(pod.text("status.phase"), "Failed" | "Succeeded");
    match requested.unwrap_or(own) {
        _ if unbound || finished => 0,
        ..0 => 1,
        period => period,
    }
}

/// A namespace says that it is on its way out.
pub(crate) fn mark_namespace(namespace: &mut Value) {
    let Some(fields) = namespace.as_object_mut() else {
        return;
    };
    let status = fields.get_or_insert("status");
    if status.is_null() {
        *status = Object::new().into();
    }
    if let Some(status) = status.as_object_mut() {
        status.insert("phase", "Terminating");
    }
}
