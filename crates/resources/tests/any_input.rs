//! Whatever stands anywhere in an object, nothing panics and defaults are applied once.

use json::{Value, json, parse};
use meta::time::Time;
use resources::{columns, convert, defaults, prepare, strategy};

const SAMPLES: &[(&str, &str, &str, &str)] = &[
    (
        "",
        "v1",
        "Pod",
        r#"{"metadata":{"name":"p","generation":1,"deletionTimestamp":"x","labels":{"a":"b"},"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"localhost/x"}},
            "spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":1}],"env":[{"name":"a","valueFrom":{"fieldRef":{}}}],"resources":{"limits":{"cpu":"1"}},"livenessProbe":{"httpGet":{}}}],
            "initContainers":[{"name":"i","restartPolicy":"Always"}],"resources":{"requests":{"cpu":"1"}},"volumes":[{"name":"v","projected":{"sources":[{"secret":{"items":[{"path":"a"}]}}]}}],
            "topologySpreadConstraints":[{"matchLabelKeys":["a"],"labelSelector":{"matchExpressions":[]}}],"hostAliases":[{"ip":"::1"}],"schedulingGates":[{}]},
            "status":{"podIPs":[{"ip":"1.1.1.1"}],"conditions":[{"type":"Ready","observedGeneration":1}],"initContainerStatuses":[{"name":"i","restartCount":1,"state":{"terminated":{"exitCode":1}},"lastState":{"terminated":{"finishedAt":"2025-01-01T00:00:00Z"}}}],"containerStatuses":[{"restartCount":9223372036854775807,"state":{"waiting":{"reason":"r"}}}]}}"#,
    ),
    (
        "",
        "v1",
        "Service",
        r#"{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","clusterIPs":["1.1.1.1"],"externalIPs":["::1"],"ports":[{"port":1,"nodePort":2}],"sessionAffinity":"ClientIP"},"status":{"loadBalancer":{"ingress":[{"ip":"1.1.1.1"}]}}}"#,
    ),
    (
        "apps",
        "v1",
        "DaemonSet",
        r#"{"metadata":{"generation":9223372036854775807,"annotations":{"deprecated.daemonset.template.generation":"9223372036854775807"}},"spec":{"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]},"updateStrategy":{"rollingUpdate":{}},"template":{"metadata":{},"spec":{"containers":[{}]}}}}"#,
    ),
    (
        "batch",
        "v1",
        "Job",
        r#"{"metadata":{"name":"j","uid":"u"},"spec":{"completions":1,"podFailurePolicy":{"rules":[{"onPodConditions":[{}]}]},"template":{"metadata":{"labels":{}}}},"status":{"startTime":"2025-01-01T00:00:00Z","conditions":[{"type":"Complete"}]}}"#,
    ),
    (
        "autoscaling",
        "v2",
        "HorizontalPodAutoscaler",
        r#"{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/behavior":"[]"}},"spec":{"behavior":{"scaleUp":{"policies":[{}]}},"metrics":[{"type":"Object","object":{"target":{"averageValue":"1"}}},{"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":1}}}]},"status":{"currentMetrics":[{"type":"Pods","pods":{"current":{"averageValue":"1"}}}]}}"#,
    ),
    (
        "",
        "v1",
        "Event",
        r#"{"involvedObject":{"kind":"Pod","name":"p"},"count":1,"series":{"count":1,"lastObservedTime":"x"},"firstTimestamp":null,"source":{"component":"c"}}"#,
    ),
    (
        "resource.k8s.io",
        "v1",
        "ResourceClaim",
        r#"{"spec":{"devices":{"requests":[{"name":"a","exactly":{"tolerations":[{}]}}]}},"status":{"allocation":{"devices":{"results":[{}]}}}}"#,
    ),
    (
        "certificates.k8s.io",
        "v1",
        "CertificateSigningRequest",
        r#"{"spec":{"expirationSeconds":9223372036854775807},"status":{"conditions":[{"type":"Approved","status":"True"}]}}"#,
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        r#"{"spec":{"names":{"kind":"K"},"versions":[{"name":"v1","storage":true}]},"status":{"storedVersions":["v0"]}}"#,
    ),
];

fn run(group: &str, version: &str, kind: &str, object: &Value) {
    let now = Time::from_unix(1_767_225_600, 0);
    let mut value = object.clone();
    defaults::apply(group, version, kind, &mut value);
    let once = value.clone();
    defaults::apply(group, version, kind, &mut value);
    assert_eq!(value, once, "{kind} {object}");
    columns::row(group, version, kind, object, now);
    columns::rows(group, version, kind, std::slice::from_ref(object), now);
    prepare::warnings::on_create(group, kind, object);
    prepare::warnings::on_update(group, kind, object, &once);
    strategy::find(group, kind)
        .deletion
        .grace_period(object, None);
    let context = prepare::Context::default();
    prepare::create(group, version, kind, &mut value, &context);
    for subresource in [
        "",
        "status",
        "resize",
        "ephemeralcontainers",
        "approval",
        "finalize",
        "other",
    ] {
        let mut new = object.clone();
        prepare::update(group, version, kind, subresource, &mut new, &once, &context);
        let mut new = once.clone();
        prepare::update(
            group,
            version,
            kind,
            subresource,
            &mut new,
            object,
            &context,
        );
    }
    for target in ["v1", "v2", "v1beta1"] {
        let mut new = object.clone();
        // A kind that has no such version is fine here.
        drop(convert::to(group, version, kind, &mut new, (group, target)));
    }
}

/// Every object that differs in one place.
fn each_change(value: &mut Value, path: &[usize], act: &mut dyn FnMut(&Value)) {
    let count = at(value, path).map_or(0, |it| match it {
        Value::Array(items) => items.len(),
        Value::Object(object) => object.len(),
        _ => 0,
    });
    for wrong in [
        json!(null),
        json!(-1),
        json!(i64::MAX),
        json!("é"),
        json!([]),
        json!([[7]]),
        json!({"a": []}),
    ] {
        let place = at(value, path).expect("it was found before");
        let before = std::mem::replace(place, wrong);
        act(value);
        *at(value, path).expect("it is still there") = before;
    }
    for index in 0..count {
        let mut below = path.to_vec();
        below.push(index);
        each_change(value, &below, act);
    }
}

fn at<'a>(value: &'a mut Value, path: &[usize]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, index| match value {
        Value::Array(items) => items.get_mut(*index),
        Value::Object(object) => object.values_mut().nth(*index),
        _ => None,
    })
}

#[test]
fn nothing_panics() {
    for (group, version, kind, object) in SAMPLES {
        let mut object = parse(object.as_bytes()).unwrap();
        run(group, version, kind, &object);
        each_change(&mut object, &[], &mut |it| run(group, version, kind, it));
    }
}
