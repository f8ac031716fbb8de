//! The volume with a pod's token, as upstream makes it.

use json::{Value, json};

use crate::Random;
use crate::read::{items, list, section, text};

const VOLUME: &str = "kube-api-access-";
const PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Tokens live for an hour and seven seconds: clients tell such tokens from those with a time of their own.
const SECONDS: i64 = 3607;

/// Mounts the token in every container that has nothing at its place.
pub(super) fn token(pod: &mut Value, random: Random) {
    let volumes = items(pod, &["spec", "volumes"]).iter();
    let mut names = volumes.map(|it| text(it, &["name"]));
    let found = names.find(|it| it.starts_with(VOLUME)).map(str::to_owned);
    let is_new = found.is_none();
    let name = found.unwrap_or_else(|| meta::object::generate_name(VOLUME, random()));
    let mut used = false;
    let Some(spec) = section(pod, "spec") else {
        return;
    };
    for kind in ["initContainers", "containers"] {
        let containers = spec.get_mut(kind).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            used |= mount(container, &name);
        }
    }
    if used
        && is_new
        && let Some(volumes) = list(spec, "volumes")
    {
        volumes.push(json!({"name": name, "projected": (source())}));
    }
}

fn mount(container: &mut Value, volume: &str) -> bool {
    let mut mounts = items(container, &["volumeMounts"]).iter();
    if mounts.any(|it| text(it, &["mountPath"]) == PATH) {
        return false;
    }
    let Some(mounts) = container
        .as_object_mut()
        .and_then(|it| list(it, "volumeMounts"))
    else {
        return false;
    };
    mounts.push(json!({"name": volume, "readOnly": true, "mountPath": PATH}));
    true
}

fn source() -> Value {
    json!({
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": SECONDS, "path": "token"}},
            {"configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }},
            {"downwardAPI": {"items": [{
                "path": "namespace",
                "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
            }]}},
        ],
        "defaultMode": 420,
    })
}
