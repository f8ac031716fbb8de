//! What a pod uses, and what a volume does.

use json::Value;

use super::{Key, Name};

/// All resources a key may have.
pub(super) const RESOURCES: [&str; 9] = [
    "configmaps",
    "persistentvolumeclaims",
    "podcertificaterequests",
    "pods",
    "resourceclaims",
    "resourceslices",
    "secrets",
    "serviceaccounts",
    "volumeattachments",
];

/// Where a volume names a secret: the kind of the volume and the path below it.
const VOLUME_SECRETS: [(&str, &[&str]); 10] = [
    ("secret", &["secretName"]),
    ("azureFile", &["secretName"]),
    ("csi", &["nodePublishSecretRef", "name"]),
    ("cephfs", &["secretRef", "name"]),
    ("cinder", &["secretRef", "name"]),
    ("flexVolume", &["secretRef", "name"]),
    ("iscsi", &["secretRef", "name"]),
    ("rbd", &["secretRef", "name"]),
    ("scaleIO", &["secretRef", "name"]),
    ("storageos", &["secretRef", "name"]),
];

/// Sources of a `PersistentVolume`, and the references to secrets that the kubelet follows.
const PERSISTENT_SECRETS: [(&str, &str); 10] = [
    ("cephfs", "secretRef"),
    ("cinder", "secretRef"),
    ("flexVolume", "secretRef"),
    ("rbd", "secretRef"),
    ("scaleIO", "secretRef"),
    ("iscsi", "secretRef"),
    ("storageos", "secretRef"),
    ("csi", "nodePublishSecretRef"),
    ("csi", "nodeStageSecretRef"),
    ("csi", "nodeExpandSecretRef"),
];

/// The secrets of a `PersistentVolume`; old references mean the namespace of its claim.
pub(super) fn of_volume(volume: &Value, claimed_in: &str) -> Vec<Name> {
    let mut found = Vec::new();
    let mut add = |namespace: Option<&str>, name: Option<&str>| {
        if let Some(name) = name.filter(|it| !it.is_empty()) {
            let namespace = namespace.filter(|it| !it.is_empty()).unwrap_or(claimed_in);
            found.push((namespace.to_owned(), name.to_owned()));
        }
    };
    for (source, reference) in PERSISTENT_SECRETS {
        let text = |field| volume.str_at(&["spec", source, reference, field]);
        add(text("namespace"), text("name"));
    }
    let azure = |field| volume.str_at(&["spec", "azureFile", field]);
    add(azure("secretNamespace"), azure("secretName"));
    found
}

pub(super) fn of_pod(pod: &Value, namespace: &str, pod_name: &str) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let mut add = |resource: &'static str, name: Option<&str>| {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            keys.push((resource, namespace.to_owned(), name.to_owned()));
        }
    };
    add(
        "serviceaccounts",
        pod.str_at(&["spec", "serviceAccountName"]),
    );
    for secret in items(pod, &["spec", "imagePullSecrets"]) {
        add("secrets", secret.str_at(&["name"]));
    }
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in items(pod, &["spec", list]) {
            for source in items(container, &["envFrom"]) {
                add("secrets", source.str_at(&["secretRef", "name"]));
                add("configmaps", source.str_at(&["configMapRef", "name"]));
            }
            for variable in items(container, &["env"]) {
                add(
                    "secrets",
                    variable.str_at(&["valueFrom", "secretKeyRef", "name"]),
                );
                add(
                    "configmaps",
                    variable.str_at(&["valueFrom", "configMapKeyRef", "name"]),
                );
            }
        }
    }
    for volume in items(pod, &["spec", "volumes"]) {
        for (kind, path) in VOLUME_SECRETS {
            add("secrets", volume.get(kind).and_then(|it| it.str_at(path)));
        }
        add("configmaps", volume.str_at(&["configMap", "name"]));
        for source in items(volume, &["projected", "sources"]) {
            add("secrets", source.str_at(&["secret", "name"]));
            add("configmaps", source.str_at(&["configMap", "name"]));
        }
        let claim = volume.str_at(&["persistentVolumeClaim", "claimName"]);
        add("persistentvolumeclaims", claim);
        if volume.get("ephemeral").is_some() {
            let name = volume.str_at(&["name"]).unwrap_or_default();
            add(
                "persistentvolumeclaims",
                Some(&format!("{pod_name}-{name}")),
            );
        }
    }
    for claim in items(pod, &["spec", "resourceClaims"]) {
        add("resourceclaims", claim.str_at(&["resourceClaimName"]));
        // What was made of a template is told in the status, which counts only for what the spec asks for.
        if claim.get("resourceClaimTemplateName").is_some() {
            let mut made = items(pod, &["status", "resourceClaimStatuses"]);
            let made = made.find(|it| it.str_at(&["name"]) == claim.str_at(&["name"]));
            add(
                "resourceclaims",
                made.and_then(|it| it.str_at(&["resourceClaimName"])),
            );
        }
    }
    let extended = ["status", "extendedResourceClaimStatus", "resourceClaimName"];
    add("resourceclaims", pod.str_at(&extended));
    keys
}

fn items<'a>(value: &'a Value, path: &[&str]) -> impl Iterator<Item = &'a Value> {
    let items = value.at(path).and_then(Value::as_array);
    items.into_iter().flatten()
}
