//! Autoscalers, in the words of autoscaling/v2.

use json::Value;

use super::cell::{NONE, UNKNOWN, UNSET, cells, name, quantity, quantity_pointer, some_of};
use crate::clock::Now;
use crate::read::Read;

pub(crate) fn autoscaler(it: &Value, now: Now) -> Vec<Value> {
    let least = it
        .find("spec.minReplicas")
        .map_or_else(|| UNSET.into(), Value::to_string);
    cells![
        name(it),
        format!(
            "{}/{}",
            it.text("spec.scaleTargetRef.kind"),
            it.text("spec.scaleTargetRef.name")
        ),
        metrics(it.list("spec.metrics"), it.list("status.currentMetrics")),
        least,
        it.int("spec.maxReplicas"),
        it.int("status.currentReplicas"),
        now.age(it),
    ]
}

fn metrics(specs: &[Value], statuses: &[Value]) -> String {
    if specs.is_empty() {
        return NONE.into();
    }
    let texts: Vec<_> = (specs.iter().enumerate())
        .map(|(index, spec)| metric(spec, statuses.get(index)))
        .collect();
    some_of(&texts, 2, ", ")
}

fn metric(spec: &Value, status: Option<&Value>) -> String {
    let (key, named) = match spec.text("type") {
        "External" => ("external", false),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".into(),
    };
    let target = |field: &str| spec.at(&[key, "target", field]).filter(|it| !it.is_null());
    let now = status.and_then(|it| it.find(key));
    let current = |field: &str| now.and_then(|it| it.at(&["current", field]));
    let average = target("averageValue");
    if named {
        let name = spec
            .at(&[key, "name"])
            .and_then(Value::as_str)
            .unwrap_or_default();
        if let Some(average) = average {
            let current = now.map_or_else(
                || UNKNOWN.into(),
                |_| quantity_pointer(current("averageValue")),
            );
            return format!("{name}: {current}/{}", quantity(Some(average)));
        }
        let percent = |value: Option<&Value>, other: &str| {
            value.map_or_else(|| other.to_owned(), |it| format!("{it}%"))
        };
        let current = percent(current("averageUtilization"), UNKNOWN);
        let target = percent(target("averageUtilization"), "<auto>");
        return format!("{name}: {current}/{target}");
    }
    if let (Some(average), "external" | "object") = (average, key) {
        let current =
            current("averageValue").map_or_else(|| UNKNOWN.into(), |it| quantity(Some(it)));
        return format!("{current}/{} (avg)", quantity(Some(average)));
    }
    let field = if key == "pods" {
        "averageValue"
    } else {
        "value"
    };
    let current = now.map_or_else(|| UNKNOWN.into(), |_| quantity_pointer(current(field)));
    format!("{current}/{}", quantity_pointer(target(field)))
}
