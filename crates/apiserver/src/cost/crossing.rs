//! Lists that are compared with each other: both long, and valid as far as that goes.

use json::{Value, json};

use super::builtin::{Case, one};
use super::measure::Report;

const ITEMS: usize = 200;

fn many(count: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..count).map(item).collect()
}

fn container(name: &str) -> json::Object {
    let pairs = [("name", name), ("image", "i")];
    pairs.into_iter().collect()
}

fn with(mut object: json::Object, key: &str, value: Value) -> Value {
    object.insert(key, value);
    object.into()
}

fn pod(spec: Value) -> Value {
    json!({"metadata": {"name": "a", "namespace": "default"}, "spec": spec})
}

fn volumes(count: usize) -> Value {
    many(
        count,
        |it| json!({"name": (format!("v-{it}")), "emptyDir": {}}),
    )
}

fn of_pods(count: usize, which: &str) -> Value {
    let name = |it: usize| format!("c-{it}");
    let volume = |it: usize| format!("v-{it}");
    let one = |key: &str, value: Value| many(1, |_| with(container("c"), key, value.clone()));
    match which {
        "containers and volumes" => {
            let containers = many(count, |it| {
                let mount = json!({"name": (volume(it)), "mountPath": (format!("/m-{it}"))});
                with(container(&name(it)), "volumeMounts", json!([mount]))
            });
            pod(json!({"containers": containers, "volumes": (volumes(count))}))
        }
        "mounts, devices and volumes" => {
            let mounts = many(
                count,
                |it| json!({"name": (volume(it)), "mountPath": (format!("/m-{it}"))}),
            );
            let devices = many(
                count,
                |it| json!({"name": (format!("d-{it}")), "devicePath": (format!("/d-{it}"))}),
            );
            let one = with(container("c"), "volumeMounts", mounts);
            let Value::Object(one) = one else {
                return Value::Null;
            };
            let one = with(one, "volumeDevices", devices);
            pod(json!({"containers": [one], "volumes": (volumes(count))}))
        }
        "variables from files" => {
            let env = many(count, |it| {
                let from = json!({"volumeName": (volume(it)), "path": "a", "key": "b"});
                json!({"name": (format!("E{it}")), "valueFrom": {"fileKeyRef": from}})
            });
            pod(json!({"containers": (one("env", env)), "volumes": (volumes(count))}))
        }
        "ports" => {
            let ports = many(count, |it| {
                let number = i64::try_from(it % 60_000 + 1).unwrap_or(1);
                json!({"name": (format!("p-{it}")), "containerPort": number, "hostPort": number, "protocol": "TCP"})
            });
            pod(json!({"containers": (one("ports", ports))}))
        }
        "claims" => {
            let claims = many(
                count,
                |it| json!({"name": (name(it)), "resourceClaimName": (name(it))}),
            );
            let used = many(count, |it| json!({"name": (name(it))}));
            let containers = one("resources", json!({"claims": used}));
            pod(json!({"containers": containers, "resourceClaims": claims}))
        }
        "containers, init and ephemeral" => {
            let list = |prefix: &str| many(count, |it| container(&format!("{prefix}-{it}")).into());
            pod(json!({
                "containers": (list("c")),
                "initContainers": (list("i")),
                "ephemeralContainers": (list("e")),
            }))
        }
        "resources" => {
            let amounts: json::Object = (0..count)
                .map(|it| (format!("example.com/r-{it}"), "1"))
                .collect();
            let resources = json!({"requests": (amounts.clone()), "limits": amounts});
            let containers = many(count / 4, |it| {
                with(
                    container(&name(it)),
                    "resources",
                    json!({"requests": {"cpu": "1"}}),
                )
            });
            pod(json!({"containers": containers, "resources": resources}))
        }
        _ => {
            let key = |it: usize| format!("container.apparmor.security.beta.kubernetes.io/c-{it}");
            let annotations: json::Object =
                (0..count).map(|it| (key(it), "runtime/default")).collect();
            let containers = many(count, |it| container(&name(it)).into());
            json!({
                "metadata": {"name": "a", "namespace": "default", "annotations": annotations},
                "spec": {"containers": containers},
            })
        }
    }
}

fn statuses(count: usize) -> Value {
    let containers = many(count, |it| container(&format!("c-{it}")).into());
    let ended = many(
        count,
        |it| json!({"name": (format!("c-{it}")), "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": {"terminated": {"exitCode": 1}}}),
    );
    json!({
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"containers": containers},
        "status": {"containerStatuses": ended},
    })
}

fn service(count: usize) -> Value {
    let ports = many(count, |it| {
        let number = i64::try_from(it % 60_000 + 1).unwrap_or(1);
        json!({"name": (format!("p-{it}")), "port": number, "nodePort": number})
    });
    json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {"type": "NodePort", "ports": ports}})
}

fn job(count: usize) -> Value {
    let containers = many(count, |it| container(&format!("c-{it}")).into());
    let rules = many(count, |it| {
        let codes = json!({"operator": "In", "values": [1], "containerName": (format!("c-{it}"))});
        json!({"action": "Ignore", "onExitCodes": codes})
    });
    json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {
        "podFailurePolicy": {"rules": rules},
        "template": {"spec": {"restartPolicy": "Never", "containers": containers}},
    }})
}

fn stateful(count: usize) -> Value {
    let claims = many(
        count,
        |it| json!({"metadata": {"name": (format!("v-{it}"))}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}}),
    );
    let spec = json!({"containers": [(Value::from(container("c")))], "volumes": (volumes(count))});
    json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {
        "serviceName": "a",
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec},
        "volumeClaimTemplates": claims,
    }})
}

fn quota(count: usize) -> Value {
    let hard: json::Object = (0..count)
        .map(|it| (format!("requests.hugepages-{it}"), "1"))
        .collect();
    let scopes = many(count, |_| "BestEffort".into());
    json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {"hard": hard, "scopes": scopes}})
}

/// The first list of the spec, the other way round.
fn reversed(mut object: Value) -> Value {
    let spec = object.get_mut("spec").and_then(Value::as_object_mut);
    for value in spec.into_iter().flat_map(json::Object::values_mut) {
        if let Value::Array(items) = value {
            items.reverse();
        }
    }
    object
}

/// What ended runs again.
fn running(mut object: Value) -> Value {
    let all = object.at_mut(&["status", "containerStatuses"]);
    for status in all.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(fields) = status.as_object_mut() {
            fields.insert("state", json!({"running": {}}));
        }
    }
    object
}

#[test]
fn lists_that_are_compared() {
    type Object = Box<dyn Fn(usize) -> Value>;
    let mut cases: Vec<(&str, &str, &str, Object, fn(Value) -> Value)> = Vec::new();
    for which in [
        "containers and volumes",
        "mounts, devices and volumes",
        "variables from files",
        "ports",
        "claims",
        "containers, init and ephemeral",
        "resources",
        "annotations",
    ] {
        let object = Box::new(move |count| of_pods(count, which));
        cases.push(("", "Pod", which, object, reversed));
    }
    cases.push(("", "Pod", "statuses", Box::new(statuses), running));
    cases.push(("", "Service", "ports", Box::new(service), reversed));
    cases.push(("batch", "Job", "rules", Box::new(job), reversed));
    cases.push((
        "apps",
        "StatefulSet",
        "claims",
        Box::new(stateful),
        reversed,
    ));
    cases.push(("", "ResourceQuota", "scopes", Box::new(quota), reversed));
    let mut report = Report::default();
    for (group, kind, name, object, other) in &cases {
        let resource = resources::builtin().kind(group, "v1", kind);
        let resource = resource.expect("a built-in kind");
        let schema = resource.builtin_schema().expect("it has a type");
        let case = Case {
            name: &format!(" with {name}"),
            items: ITEMS,
            object,
            other,
        };
        one(&mut report, resource, &schema, &case);
    }
    report.judge(cases.len() * 10);
}
