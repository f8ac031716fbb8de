//! Fields of pods that belong to features which are off by default in Kubernetes 1.37: who asks for one does not get it,
//! but an object that has one keeps it.

use json::{Object, Value};

/// Paths below a pod's spec, for each feature. `*` is each item of a list, `containers` each of the three lists.
const FEATURES: &[&[&str]] = &[
    // GenericWorkload
    &["schedulingGroup"],
    // EvictionRequestAPI
    &["evictionResponders"],
    // EmptyDirVolumeMode
    &["volumes.*.emptyDir.mode"],
    // VolumeBindMountOptions
    &["containers.*.volumeMounts.*.bindMountOptions"],
    // ContainerStopSignals
    &["containers.*.lifecycle.stopSignal"],
    // GRPCContainerProbeTLS
    &[
        "containers.*.livenessProbe.grpc.mode",
        "containers.*.readinessProbe.grpc.mode",
        "containers.*.startupProbe.grpc.mode",
    ],
    // AtomicWriteVolumeUserFields
    &[
        "volumes.*.secret.defaultUser",
        "volumes.*.secret.items.*.user",
        "volumes.*.configMap.defaultUser",
        "volumes.*.configMap.items.*.user",
        "volumes.*.downwardAPI.defaultUser",
        "volumes.*.downwardAPI.items.*.user",
        "volumes.*.projected.defaultUser",
        "volumes.*.projected.sources.*.secret.items.*.user",
        "volumes.*.projected.sources.*.configMap.items.*.user",
        "volumes.*.projected.sources.*.downwardAPI.items.*.user",
        "volumes.*.projected.sources.*.serviceAccountToken.user",
        "volumes.*.projected.sources.*.clusterTrustBundle.user",
        "volumes.*.projected.sources.*.podCertificate.user",
    ],
];

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// From the pod or the template in an object of this kind.
pub(super) fn strip(group: &str, kind: &str, object: &mut Object, old: Option<&Value>) {
    let path: &[&str] = match (group, kind) {
        ("", "Pod") => &["spec"],
        ("", "PodTemplate") => &["template", "spec"],
        ("", "ReplicationController")
        | ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
        | ("batch", "Job") => &["spec", "template", "spec"],
        ("batch", "CronJob") => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => return,
    };
    let Some(spec) = below(object, path) else {
        return;
    };
    let before = old.and_then(|it| it.at(path)).and_then(Value::as_object);
    for feature in FEATURES {
        let mut paths = feature.iter();
        if before.is_none_or(|before| !paths.any(|it| has(before, it))) {
            for path in *feature {
                remove(spec, path);
            }
        }
    }
}

fn below<'a>(object: &'a mut Object, path: &[&str]) -> Option<&'a mut Object> {
    path.iter()
        .try_fold(object, |it, key| it.get_mut(key)?.as_object_mut())
}

fn names(first: &str) -> &[&str] {
    match first {
        "containers" => &CONTAINERS,
        _ => &[],
    }
}

fn has(object: &Object, path: &str) -> bool {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let found = |value: &Value| match (value, rest.strip_prefix("*.")) {
        (value, _) if rest.is_empty() => !value.is_null(),
        (Value::Array(items), Some(rest)) => {
            let mut items = items.iter().filter_map(Value::as_object);
            items.any(|it| has(it, rest))
        }
        (Value::Object(fields), _) => has(fields, rest),
        _ => false,
    };
    object.get(first).is_some_and(found)
        || names(first)
            .iter()
            .any(|it| object.get(it).is_some_and(found))
}

fn remove(object: &mut Object, path: &str) {
    let Some((first, rest)) = path.split_once('.') else {
        object.remove(path);
        return;
    };
    for name in names(first).iter().copied().chain([first]) {
        match (object.get_mut(name), rest.strip_prefix("*.")) {
            (Some(Value::Array(items)), Some(rest)) => {
                let items = items.iter_mut().filter_map(Value::as_object_mut);
                items.for_each(|it| remove(it, rest));
            }
            (Some(Value::Object(fields)), _) => {
                let was_empty = fields.is_empty();
                remove(fields, rest);
                // A lifecycle with nothing in it is none.
                if name == "lifecycle" && !was_empty && fields.is_empty() {
                    object.remove(name);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn deployment(spec: &str) -> Value {
        let spec: Value = json::parse(spec.as_bytes()).unwrap();
        json!({"spec": {"template": {"spec": spec}}})
    }

    #[test]
    fn what_is_off_is_taken_away() {
        let full = r#"{"schedulingGroup":{"podGroupName":"g"},"containers":[{"name":"c","lifecycle":{"stopSignal":"SIGINT"},"volumeMounts":[{"name":"v","bindMountOptions":["nodev"]}]}],
            "initContainers":[{"name":"i","lifecycle":{"stopSignal":"SIGINT","preStop":{}}}],"volumes":[{"name":"v","emptyDir":{"mode":1}},{"name":"s","secret":{"items":[{"key":"k","user":1}]}}]}"#;
        let bare = r#"{"containers":[{"name":"c","volumeMounts":[{"name":"v"}]}],"initContainers":[{"name":"i","lifecycle":{"preStop":{}}}],
            "volumes":[{"name":"v","emptyDir":{}},{"name":"s","secret":{"items":[{"key":"k"}]}}]}"#;
        let run = |old: Option<&Value>| {
            let mut new = deployment(full);
            strip("apps", "Deployment", new.as_object_mut().unwrap(), old);
            new
        };
        assert_eq!(run(None), deployment(bare));
        assert_eq!(run(Some(&deployment(bare))), deployment(bare));
        // Who has it keeps it.
        assert_eq!(run(Some(&deployment(full))), deployment(full));
        let signal = r#"{"ephemeralContainers":[{"lifecycle":{"stopSignal":"SIGINT"}}]}"#;
        let kept = run(Some(&deployment(signal)));
        let path = &["spec", "template", "spec"];
        let spec = kept.at(path).and_then(Value::as_object).unwrap();
        assert!(has(spec, "containers.*.lifecycle.stopSignal"));
        assert!(!has(spec, "schedulingGroup"));
    }
}
