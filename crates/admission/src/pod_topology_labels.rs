//! A pod knows where it is: the zone and the region of its node become its labels.

use json::{Object, Value};

use crate::read::{section, text};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const LABELS: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

#[derive(Clone, Copy, Debug, Default)]
pub struct PodTopologyLabels;

impl Plugin for PodTopologyLabels {
    fn name(&self) -> &'static str {
        "PodTopologyLabels"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Create
            && request.is("", "pods")
            && matches!(request.subresource, "" | "binding")
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        let object = &mut admitting.object;
        let node = match request.subresource {
            "" => text(object, &["spec", "nodeName"]),
            // The labels of a binding become its pod's.
            _ if text(object, &["target", "kind"]) == "Node" => text(object, &["target", "name"]),
            _ => "",
        };
        if node.is_empty() {
            return Ok(()).into();
        }
        // A node that is not there is no reason to refuse.
        let node = request.lookup.get("", "nodes", "", node);
        for label in LABELS {
            let value = node.as_ref().and_then(|it| meta::object::label(it, label));
            if let Some(value) = value
                && let Some(metadata) = section(object, "metadata")
            {
                set(metadata, label, value);
            }
        }
        Ok(()).into()
    }
}

fn set(metadata: &mut Object, label: &str, value: &str) {
    let labels = metadata.get_or_insert("labels");
    if labels.is_null() {
        *labels = Value::from(Object::new());
    }
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(label, value);
    }
}
