//! A valid object of each kind that has fields behind gates, and where such objects are.

use json::{Object, Value, json};

pub(crate) fn collection(kind: &str) -> &'static str {
    match kind {
        "Pod" => "/api/v1/namespaces/n/pods",
        "PersistentVolume" => "/api/v1/persistentvolumes",
        "PersistentVolumeClaim" => "/api/v1/namespaces/n/persistentvolumeclaims",
        "Node" => "/api/v1/nodes",
        "StatefulSet" => "/apis/apps/v1/namespaces/n/statefulsets",
        "HorizontalPodAutoscaler" => "/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers",
        "Job" => "/apis/batch/v1/namespaces/n/jobs",
        "Lease" => "/apis/coordination.k8s.io/v1/namespaces/n/leases",
        "ResourceSlice" => "/apis/resource.k8s.io/v1/resourceslices",
        "ResourceClaim" => "/apis/resource.k8s.io/v1/namespaces/n/resourceclaims",
        "DeviceClass" => "/apis/resource.k8s.io/v1/deviceclasses",
        "CSIDriver" => "/apis/storage.k8s.io/v1/csidrivers",
        "CSINode" => "/apis/storage.k8s.io/v1/csinodes",
        "VolumeAttachment" => "/apis/storage.k8s.io/v1/volumeattachments",
        "CustomResourceDefinition" => "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        other => panic!("{other}"),
    }
}

pub(crate) fn object(kind: &str, name: &str) -> Value {
    let path = collection(kind).trim_start_matches("/apis/");
    let version = match path.split('/').collect::<Vec<_>>()[..] {
        ["", "api", ..] => "v1".to_owned(),
        [group, version, ..] => format!("{group}/{version}"),
        _ => panic!("{path}"),
    };
    let mut value = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
    let spec = match kind {
        "Pod" => pod(),
        "PersistentVolume" => json!({
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "d.example.com", "volumeHandle": "h"},
        }),
        "PersistentVolumeClaim" => json!({
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        }),
        "StatefulSet" => json!({
            "serviceName": "s", "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        }),
        "HorizontalPodAutoscaler" => json!({
            "maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            "behavior": {"scaleUp": {"stabilizationWindowSeconds": 1}},
        }),
        "Job" => json!({
            "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}},
        }),
        "Lease" => json!({"leaseDurationSeconds": 1}),
        "ResourceSlice" => json!({
            "driver": "d.example.com", "nodeName": "node",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "dev", "capacity": {"size": {"value": "1"}}}],
        }),
        "ResourceClaim" => json!({
            "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]},
        }),
        "VolumeAttachment" => json!({
            "attacher": "d.example.com", "nodeName": "node", "source": {"persistentVolumeName": "pv"},
        }),
        "CSINode" => json!({"drivers": [{"name": "d.example.com", "nodeID": "node"}]}),
        "CustomResourceDefinition" => definition(name),
        _ => Object::new().into(),
    };
    value.as_object_mut().unwrap().insert("spec", spec);
    value
}

fn pod() -> Value {
    json!({
        "containers": [{
            "name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}},
            "env": [{"name": "A", "value": "b"}],
            "livenessProbe": {"httpGet": {"port": 80}},
            "readinessProbe": {"grpc": {"port": 90}},
            "volumeMounts": [{"name": "empty", "mountPath": "/e"}],
        }],
        "securityContext": {"runAsUser": 1}, "serviceAccountName": "sa",
        "volumes": [
            {"name": "empty", "emptyDir": {}},
            {"name": "secret", "secret": {"secretName": "s", "items": [{"key": "k", "path": "p"}]}},
            {"name": "map", "configMap": {"name": "m"}},
            {"name": "down", "downwardAPI": {"items": [
                {"path": "p", "fieldRef": {"fieldPath": "metadata.name"}},
            ]}},
            {"name": "all", "projected": {"sources": [
                {"serviceAccountToken": {"path": "t"}},
                {"clusterTrustBundle": {"name": "b", "path": "q"}},
                {"podCertificate": {
                    "signerName": "example.com/s", "keyType": "ED25519", "credentialBundlePath": "c",
                }},
            ]}},
        ],
    })
}

fn definition(name: &str) -> Value {
    let (plural, group) = name.split_once('.').unwrap();
    json!({
        "group": group, "scope": "Namespaced",
        "names": {"plural": plural, "singular": plural, "kind": "Thing", "listKind": "ThingList"},
        "versions": [{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {
                    "type": "object", "properties": {"a": {"type": "string", "maxLength": 9}},
                    "x-kubernetes-validations": [{"rule": "self == self"}],
                },
            }}},
        }],
    })
}

/// Puts JSON at a pointer. Objects on the way are made; an index one past the end adds to its list.
pub(crate) fn set(object: &mut Value, pointer: &str, text: &str) {
    let value = json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut at = object;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/");
        if at.is_null() {
            *at = match part.parse::<usize>() {
                Ok(_) => Value::Array(Vec::new()),
                Err(_) => Object::new().into(),
            };
        }
        at = match at {
            Value::Array(items) => {
                let index: usize = part.parse().unwrap();
                if items.len() == index {
                    items.push(Value::Null);
                }
                &mut items[index]
            }
            Value::Object(fields) => fields.get_or_insert(&part),
            other => panic!("{pointer}: {other}"),
        };
    }
    *at = value;
}
