//! `HorizontalPodAutoscaler`: v1 knows one metric, so the others travel in annotations.

use json::{Object, Value, json};

use crate::defaults::{is_zero, made};
use crate::quantity;
use crate::read::Read;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// All that earlier versions of the API put there; none of it is the user's.
const ROUND_TRIP: [&str; 6] = [
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// How much nesting an annotation may bring.
const LIMITS: json::Limits = json::Limits { depth: 32 };

pub(super) fn to_v1(object: &mut Object) {
    // v1 always has it.
    if take_zero(object) {
        put(object, "status", "currentReplicas", Some(0.into()));
    }
    let metrics = take(object, "spec", "metrics");
    let behavior = take(object, "spec", "behavior");
    let current = take(object, "status", "currentMetrics");
    let conditions = take(object, "status", "conditions");
    let list = |it: Option<Value>| match it {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let (metrics, current) = (list(metrics), list(current));
    let is_cpu = |it: &&Value| {
        it.text("type") == "Resource"
            && it.text("resource.name") == "cpu"
            && it.has("resource.target.averageUtilization")
    };
    let target = metrics
        .iter()
        .find(is_cpu)
        .and_then(|it| it.find("resource.target.averageUtilization"));
    put(
        object,
        "spec",
        "targetCPUUtilizationPercentage",
        target.cloned(),
    );
    let used = current.iter().rfind(|it| {
        it.text("type") == "Resource"
            && it.text("resource.name") == "cpu"
            && it.has("resource.current.averageUtilization")
    });
    let used = used.and_then(|it| it.find("resource.current.averageUtilization"));
    put(
        object,
        "status",
        "currentCPUUtilizationPercentage",
        used.cloned(),
    );

    drop_annotations(object);
    let others: Vec<_> = metrics
        .iter()
        .filter(|it| !is_cpu(it))
        .map(|it| metric(it, SPECS, false))
        .collect();
    annotate(object, METRICS, others);
    annotate(
        object,
        CURRENT_METRICS,
        current
            .iter()
            .map(|it| metric(it, STATUSES, false))
            .collect(),
    );
    annotate(object, CONDITIONS, list(conditions));
    if let Some(behavior) = behavior.filter(|it| !it.is_null()) {
        put_annotation(object, BEHAVIOR, &capitalized(&behavior));
    }
}

pub(super) fn to_v2(object: &mut Object) {
    let target = take(object, "spec", "targetCPUUtilizationPercentage").filter(|it| !it.is_null());
    let used = take(object, "status", "currentCPUUtilizationPercentage").filter(|it| !it.is_null());
    let cpu = |target: Value| {
        let target = json!({"type": "Utilization", "averageUtilization": target});
        json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    };
    let mut metrics: Vec<Value> = Vec::new();
    if let Some(Value::Array(others)) = annotation(object, METRICS) {
        metrics.extend(others.iter().map(|it| metric(it, SPECS, true)));
    }
    metrics.extend(target.map(cpu));
    if metrics.is_empty() {
        metrics.push(cpu(80.into()));
    }
    put(object, "spec", "metrics", Some(metrics.into()));
    let behavior = annotation(object, BEHAVIOR)
        .map(|it| uncapitalized(&it))
        .filter(|it| !is_zero(it));
    put(object, "spec", "behavior", behavior);
    let current = match annotation(object, CURRENT_METRICS) {
        Some(Value::Array(all)) => Some(all.iter().map(|it| metric(it, STATUSES, true)).collect()),
        _ => used.map(|used| {
            let current = json!({"averageUtilization": used});
            json!([{"type": "Resource", "resource": {"name": "cpu", "current": current}}])
        }),
    };
    // v1 always has it, v2 only when it is something.
    let replicas = object
        .get("status")
        .and_then(|it| it.get("currentReplicas"));
    if replicas.is_some_and(is_zero) {
        take(object, "status", "currentReplicas");
    }
    // Never left out.
    put(
        object,
        "status",
        "currentMetrics",
        Some(current.unwrap_or(Value::Null)),
    );
    put(
        object,
        "status",
        "conditions",
        annotation(object, CONDITIONS).filter(|it| it.as_array().is_some()),
    );
    drop_annotations(object);
}

/// A source: its key, the flat names of v1 and the paths of v2, and which of them v1 cannot leave out.
type Source = (
    &'static str,
    &'static [(&'static str, &'static [&'static str], bool)],
);

const METRIC_NAME: (&str, &[&str], bool) = ("metricName", &["metric", "name"], false);
const SELECTOR: (&str, &[&str], bool) = ("selector", &["metric", "selector"], false);
const METRIC_SELECTOR: (&str, &[&str], bool) = ("metricSelector", &["metric", "selector"], false);
const OBJECT: (&str, &[&str], bool) = ("target", &["describedObject"], false);
const NAME: (&str, &[&str], bool) = ("name", &["name"], false);
const CONTAINER: (&str, &[&str], bool) = ("container", &["container"], false);
const TARGET_UTILIZATION: (&str, &[&str], bool) = (
    "targetAverageUtilization",
    &["target", "averageUtilization"],
    false,
);
const TARGET_AVERAGE: (&str, &[&str], bool) =
    ("targetAverageValue", &["target", "averageValue"], false);
const CURRENT_UTILIZATION: (&str, &[&str], bool) = (
    "currentAverageUtilization",
    &["current", "averageUtilization"],
    false,
);
const CURRENT_AVERAGE: (&str, &[&str], bool) =
    ("currentAverageValue", &["current", "averageValue"], true);

const SPECS: &[Source] = &[
    (
        "object",
        &[
            OBJECT,
            METRIC_NAME,
            ("targetValue", &["target", "value"], true),
            SELECTOR,
            ("averageValue", &["target", "averageValue"], false),
        ],
    ),
    (
        "pods",
        &[
            METRIC_NAME,
            ("targetAverageValue", &["target", "averageValue"], true),
            SELECTOR,
        ],
    ),
    ("resource", &[NAME, TARGET_UTILIZATION, TARGET_AVERAGE]),
    (
        "containerResource",
        &[NAME, TARGET_UTILIZATION, TARGET_AVERAGE, CONTAINER],
    ),
    (
        "external",
        &[
            METRIC_NAME,
            METRIC_SELECTOR,
            ("targetValue", &["target", "value"], false),
            TARGET_AVERAGE,
        ],
    ),
];

const STATUSES: &[Source] = &[
    (
        "object",
        &[
            OBJECT,
            METRIC_NAME,
            ("currentValue", &["current", "value"], true),
            SELECTOR,
            ("averageValue", &["current", "averageValue"], false),
        ],
    ),
    ("pods", &[METRIC_NAME, CURRENT_AVERAGE, SELECTOR]),
    ("resource", &[NAME, CURRENT_UTILIZATION, CURRENT_AVERAGE]),
    (
        "containerResource",
        &[NAME, CURRENT_UTILIZATION, CURRENT_AVERAGE, CONTAINER],
    ),
    (
        "external",
        &[
            METRIC_NAME,
            METRIC_SELECTOR,
            ("currentValue", &["current", "value"], true),
            ("currentAverageValue", &["current", "averageValue"], false),
        ],
    ),
];

/// One metric or its status, from flat names to nested ones or back.
fn metric(from: &Value, sources: &[Source], nest: bool) -> Value {
    let mut out = Object::new();
    out.insert("type", from.text("type"));
    for (key, fields) in sources {
        let Some(source) = from.find(key) else {
            continue;
        };
        let mut to = Value::Object(Object::new());
        for (flat, nested, required) in *fields {
            let (read, write): (&[&str], &[&str]) = if nest {
                (&[flat], nested)
            } else {
                (nested, &[flat])
            };
            let mut value = source.at(read).filter(|it| !it.is_null()).cloned();
            if value.is_none() && *required {
                value = Some("0".into());
            }
            if let Some(mut value) = value {
                if flat.ends_with("Value") {
                    quantity::canonicalize(&mut value);
                }
                set(&mut to, write, value);
            }
        }
        if nest {
            set_type(key, &mut to);
        }
        out.insert(*key, to);
    }
    out.into()
}

/// v2 says which of its values is meant.
fn set_type(key: &str, source: &mut Value) {
    let Some(Value::Object(target)) = source.get_mut("target") else {
        return;
    };
    let has = |key| target.get(key).is_some();
    let kind = match key {
        "resource" | "containerResource" if has("averageUtilization") => "Utilization",
        "external" if has("value") => "Value",
        "object" if !has("averageValue") => "Value",
        _ => "AverageValue",
    };
    // v1 cannot leave the value out, and v2 refuses a zero beside an average.
    if key == "object"
        && kind == "AverageValue"
        && target.get("value").and_then(Value::as_str) == Some("0")
    {
        target.remove("value");
    }
    target.insert("type", kind);
}

fn set(object: &mut Value, path: &[&str], value: Value) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let parent = parents.iter().try_fold(object.as_object_mut(), |it, key| {
        Some(it.and_then(|it| made(it, key)))
    });
    if let Some(Some(parent)) = parent {
        parent.insert(*last, value);
    }
}

/// Whether there are no current replicas; the field is gone then.
fn take_zero(object: &mut Object) -> bool {
    let replicas = object
        .get("status")
        .and_then(|it| it.get("currentReplicas"));
    let none = replicas.is_none_or(is_zero);
    if none {
        take(object, "status", "currentReplicas");
    }
    none
}

fn take(object: &mut Object, parent: &str, key: &str) -> Option<Value> {
    object.get_mut(parent)?.as_object_mut()?.remove(key)
}

fn put(object: &mut Object, parent: &str, key: &str, value: Option<Value>) {
    if let Some(value) = value
        && let Some(parent) = made(object, parent)
    {
        parent.insert(key, value);
    }
}

fn annotation(object: &Object, key: &str) -> Option<Value> {
    let text = object
        .get("metadata")?
        .at(&["annotations", key])?
        .as_str()?;
    json::parse_with(text.as_bytes(), LIMITS)
        .ok()
        .map(|it| it.value)
}

fn annotate(object: &mut Object, key: &str, items: Vec<Value>) {
    if !items.is_empty() {
        put_annotation(object, key, &Value::Array(items));
    }
}

fn put_annotation(object: &mut Object, key: &str, value: &Value) {
    if let Some(metadata) = made(object, "metadata")
        && let Some(annotations) = made(metadata, "annotations")
    {
        annotations.insert(key, json::to_string(value));
    }
}

fn drop_annotations(object: &mut Object) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
        return;
    };
    let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else {
        return;
    };
    annotations.retain(|key, _| !ROUND_TRIP.contains(&key));
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// The behavior is kept in the words of Go's struct fields, in their order.
fn capitalized(behavior: &Value) -> Value {
    let policy = |it: &Value| json!({"Type": (it.text("type")), "Value": (it.int("value")), "PeriodSeconds": (it.int("periodSeconds"))});
    let rules = |key: &str| {
        let Some(rules) = behavior.find(key) else {
            return Value::Null;
        };
        let policies = rules.find("policies").and_then(Value::as_array);
        let policies = policies.map(|all| all.iter().map(policy).collect::<Value>());
        json!({
            "StabilizationWindowSeconds": (rules.find("stabilizationWindowSeconds").cloned()),
            "SelectPolicy": (rules.find("selectPolicy").cloned()),
            "Policies": policies,
            "Tolerance": (rules.find("tolerance").cloned())
        })
    };
    json!({"ScaleUp": (rules("scaleUp")), "ScaleDown": (rules("scaleDown"))})
}

/// Go reads keys in any case.
fn uncapitalized(value: &Value) -> Value {
    const KEYS: [&str; 9] = [
        "scaleUp",
        "scaleDown",
        "stabilizationWindowSeconds",
        "selectPolicy",
        "policies",
        "tolerance",
        "type",
        "value",
        "periodSeconds",
    ];
    match value {
        Value::Object(object) => {
            let known = |key: &str| KEYS.into_iter().find(|it| it.eq_ignore_ascii_case(key));
            let pairs = object.iter().filter(|(_, it)| !it.is_null());
            pairs
                .filter_map(|(key, it)| Some((known(key)?, uncapitalized(it))))
                .collect::<Object>()
                .into()
        }
        Value::Array(items) => items.iter().map(uncapitalized).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &str = r#"{"apiVersion":"autoscaling/v2","metadata":{"name":"a","annotations":{"keep":"me"}},
        "spec":{"maxReplicas":3,"behavior":{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15}]}},
        "metrics":[
            {"type":"Resource","resource":{"name":"memory","target":{"averageValue":"1Gi","type":"AverageValue"}}},
            {"type":"Pods","pods":{"metric":{"name":"p","selector":{"matchLabels":{"a":"b"}}},"target":{"averageValue":"1k","type":"AverageValue"}}},
            {"type":"Object","object":{"describedObject":{"kind":"k","name":"n"},"metric":{"name":"o"},"target":{"averageValue":"2","type":"AverageValue"}}},
            {"type":"External","external":{"metric":{"name":"e"},"target":{"value":"5","type":"Value"}}},
            {"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"averageUtilization":5,"type":"Utilization"}}},
            {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":42}}}]},
        "status":{"conditions":[{"type":"AbleToScale","status":"True"}],
            "currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":7,"averageValue":"10m"}}}]}}"#;

    #[test]
    fn v1_carries_all_of_v2() {
        let v2 = json::parse(V2.as_bytes()).unwrap();
        let mut it = v2.clone();
        super::super::to(
            "autoscaling",
            "v2",
            "HorizontalPodAutoscaler",
            &mut it,
            ("autoscaling", "v1"),
        )
        .unwrap();
        assert_eq!(it.int("spec.targetCPUUtilizationPercentage"), 42);
        assert_eq!(it.int("status.currentCPUUtilizationPercentage"), 7);
        assert!(
            !it.has("spec.metrics") && !it.has("spec.behavior") && !it.has("status.conditions")
        );
        let annotation = |key| {
            it.at(&["metadata", "annotations", key])
                .and_then(Value::as_str)
                .unwrap()
        };
        assert_eq!(
            annotation(CURRENT_METRICS),
            r#"[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":7,"currentAverageValue":"10m"}}]"#
        );
        assert_eq!(
            annotation(BEHAVIOR),
            r#"{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":null}"#
        );
        assert!(annotation(METRICS).contains(r#"{"target":{"kind":"k","name":"n"},"metricName":"o","targetValue":"0","averageValue":"2"}"#));
        super::super::to(
            "autoscaling",
            "v1",
            "HorizontalPodAutoscaler",
            &mut it,
            ("autoscaling", "v2"),
        )
        .unwrap();
        assert_eq!(it, v2);
    }

    #[test]
    fn v1_alone_means_eighty_percent() {
        let mut it = json!({"metadata": {"annotations": {"autoscaling.alpha.kubernetes.io/metrics": "no json"}}, "spec": {}});
        super::super::to(
            "autoscaling",
            "v1",
            "HorizontalPodAutoscaler",
            &mut it,
            ("autoscaling", "v2"),
        )
        .unwrap();
        assert_eq!(
            it.list("spec.metrics")[0].int("resource.target.averageUtilization"),
            80
        );
        assert!(!it.has("metadata.annotations"));
    }
}
