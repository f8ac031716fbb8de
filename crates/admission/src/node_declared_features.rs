//! What a running pod is changed to must be something that its node can do (KEP-5328).

use json::Value;
use meta::Status;

use crate::read::{items, text};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

#[derive(Clone, Copy, Debug, Default)]
pub struct NodeDeclaredFeatureValidator;

impl Plugin for NodeDeclaredFeatureValidator {
    fn name(&self) -> &'static str {
        "NodeDeclaredFeatureValidator"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Update
            && request.is("", "pods")
            && matches!(request.subresource, "" | "resize")
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        check(request, &admitting.object).into()
    }
}

fn check(request: &Request<'_>, pod: &Value) -> Result<(), Status> {
    let name = text(pod, &["spec", "nodeName"]);
    // It grows with each change of the spec.
    let generation = |it: &Value| it.at(&["metadata", "generation"]).and_then(Value::as_i64);
    let Some(old) = request.old.filter(|it| generation(it) != generation(pod)) else {
        return Ok(());
    };
    let needed = needed(old, pod);
    if name.is_empty() || needed.is_empty() {
        return Ok(());
    }
    let quoted = meta::go::quote(name);
    let Some(node) = request.lookup.get("", "nodes", "", name) else {
        return Err(request.forbidden(pod, format!("node {quoted} not found")));
    };
    let declared = items(&node, &["status", "declaredFeatures"]);
    let has = |feature: &&str| declared.iter().any(|it| it.as_str() == Some(feature));
    let missing: Vec<_> = needed.into_iter().filter(|it| !has(it)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let why = format!(
        "pod update requires features {} which are not available on node {quoted}",
        missing.join(", ")
    );
    Err(request.forbidden(pod, why))
}

/// Of the features that nodes declare, those without which the change would stay on paper. Others are of fields that
/// do not change.
fn needed(old: &Value, new: &Value) -> Vec<&'static str> {
    let mut needed = Vec::new();
    let of_pod = |pod: &Value| pod.at(&["spec", "resources"]).cloned().unwrap_or_default();
    if of_pod(old) != of_pod(new) {
        needed.push("InPlacePodLevelResourcesVerticalScaling");
    }
    let containers = |pod| items(pod, &["spec", "initContainers"]);
    let mut both = containers(old).iter().zip(containers(new));
    let resized = both.any(|(old, new)| {
        text(old, &["restartPolicy"]) != "Always" && old.get("resources") != new.get("resources")
    });
    if resized {
        needed.push("InPlacePodVerticalScalingInitContainers");
    }
    needed
}
