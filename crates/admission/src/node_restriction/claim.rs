//! How large a volume has become, only its node knows.

use json::Value;
use meta::Status;
use meta::go::quote;

use super::Kubelet;
use crate::Operation;

pub(super) fn check(kubelet: Kubelet<'_>) -> Result<(), Status> {
    if kubelet.request.subresource != "status" {
        return kubelet.refuse("may only update PVC status");
    }
    if kubelet.request.operation != Operation::Update {
        return kubelet.refuse(format!("unexpected operation {}", kubelet.operation()));
    }
    let old = kubelet.request.old.map(others).unwrap_or_default();
    let new = others(kubelet.object);
    if old == new {
        return Ok(());
    }
    let node = quote(kubelet.node);
    let differences = json::diff(&old, &new);
    let differences: Vec<String> = differences.iter().map(ToString::to_string).collect();
    kubelet.refuse(format!(
        "node {node} is not allowed to update fields other than status.quantity and status.conditions: {}",
        differences.join("; ")
    ))
}

/// All that is not a kubelet's to change.
fn others(claim: &Value) -> Value {
    let mut claim = claim.clone();
    let sections: [(&str, &[&str]); 2] = [
        ("metadata", &["resourceVersion", "managedFields"]),
        (
            "status",
            &[
                "capacity",
                "conditions",
                "allocatedResourceStatuses",
                "allocatedResources",
            ],
        ),
    ];
    for (section, fields) in sections {
        if let Some(section) = claim.get_mut(section).and_then(Value::as_object_mut) {
            section.retain(|key, value| !fields.contains(&key) && !value.is_null());
        }
    }
    claim
}
