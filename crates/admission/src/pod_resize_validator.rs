//! A running pod grows only as far as its node has room for it.

use json::Value;
use meta::Status;
use meta::quantity::{Format, Quantity};

use crate::limit_ranger::Amounts;
use crate::read::text;
use crate::{Admitting, Operation, Outcome, Plugin, Request};

#[derive(Clone, Copy, Debug, Default)]
pub struct PodResizeValidator;

impl Plugin for PodResizeValidator {
    fn name(&self) -> &'static str {
        "PodResizeValidator"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Update
            && request.is("", "pods")
            && request.subresource == "resize"
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
    if name.is_empty() || request.old.and_then(generation) == generation(pod) {
        return Ok(());
    }
    let forbidden = |why: String| request.forbidden(pod, why);
    let Some(node) = request.lookup.get("", "nodes", "", name) else {
        return Err(forbidden(format!(
            "node {} not found",
            meta::go::quote(name)
        )));
    };
    let system = meta::object::label(&node, "kubernetes.io/os").unwrap_or("linux");
    if system != "linux" {
        let (name, system) = (meta::go::quote(name), meta::go::quote(system));
        let why = format!("pod resize is only supported on linux nodes, node {name} is {system}");
        return Err(forbidden(why).with_cause("UnsupportedPlatform", "", ""));
    }
    let missing = missing(pod, &node);
    if missing.is_empty() {
        return Ok(());
    }
    let why = format!(
        "node didn't have enough allocatable resources: {}",
        missing.join("; ")
    );
    Err(forbidden(why).with_cause("NodeCapacity", "", ""))
}

/// What the pod asks for that its node as a whole does not have.
fn missing(pod: &Value, node: &Value) -> Vec<String> {
    let mut requests = Amounts::of_pod(pod, "requests");
    requests.add(&Amounts::of(pod, &["spec", "overhead"]));
    let allocatable = Amounts::of(node, &["status", "allocatable"]);
    let none = || Quantity::new(0, Format::DecimalSI);
    let mut missing = Vec::new();
    for name in ["cpu", "memory"] {
        let there = allocatable.get(name).cloned().unwrap_or_else(none);
        if let Some(wanted) = requests.get(name).filter(|it| **it > there) {
            let (wanted, there) = match name {
                "cpu" => (wanted.milli_value(), there.milli_value()),
                _ => (wanted.value(), there.value()),
            };
            missing.push(format!("{name}, requested: {wanted}, allocatable: {there}"));
        }
    }
    missing
}
