//! Which secrets a pod uses, and whether its account names them.

use std::collections::HashSet;

use json::Value;

use crate::read::{has, items, text};

const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";

/// Why the pod may not use a secret; nothing unless its account asks to be asked.
pub(super) fn refused(pod: &Value, account: &Value) -> Option<String> {
    let allowed = Allowed::of(account)?;
    for volume in items(pod, &["spec", "volumes"]) {
        let name = text(volume, &["secret", "secretName"]);
        if has(volume, &["secret"]) && !allowed.has(name) {
            return Some(allowed.not(&format!("volume with secret.secretName=\"{name}\"")));
        }
    }
    let kinds = [
        ("initContainers", "init container"),
        ("containers", "container"),
    ];
    let in_containers = kinds
        .into_iter()
        .find_map(|(field, word)| allowed.refused_in(items(pod, &["spec", field]), word));
    if in_containers.is_some() {
        return in_containers;
    }
    let pull = names(items(account, &["imagePullSecrets"]));
    let pod_pull = items(pod, &["spec", "imagePullSecrets"]).iter();
    for (index, reference) in pod_pull.enumerate() {
        let name = text(reference, &["name"]);
        if !pull.contains(name) {
            let account = allowed.account;
            return Some(format!(
                "imagePullSecrets[{index}].name=\"{name}\" is not allowed because service account {account} does not reference that imagePullSecret"
            ));
        }
    }
    None
}

pub(super) fn refused_ephemeral(pod: &Value, account: &Value) -> Option<String> {
    let containers = items(pod, &["spec", "ephemeralContainers"]);
    Allowed::of(account)?.refused_in(containers, "ephemeral container")
}

struct Allowed<'a> {
    account: &'a str,
    secrets: HashSet<&'a str>,
}

fn names(references: &[Value]) -> HashSet<&str> {
    references.iter().map(|it| text(it, &["name"])).collect()
}

impl<'a> Allowed<'a> {
    fn of(account: &'a Value) -> Option<Self> {
        let asked = meta::object::annotation(account, ENFORCE)?;
        // What Go's ParseBool takes for true.
        let asked = matches!(asked, "1" | "t" | "T" | "TRUE" | "true" | "True");
        asked.then(|| Self {
            account: meta::object::name(account),
            secrets: names(items(account, &["secrets"])),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.secrets.contains(name)
    }

    fn not(&self, what: &str) -> String {
        let account = self.account;
        format!(
            "{what} is not allowed because service account {account} does not reference that secret"
        )
    }

    fn refused_in(&self, containers: &[Value], word: &str) -> Option<String> {
        for container in containers {
            let name = text(container, &["name"]);
            for env in items(container, &["env"]) {
                let secret = text(env, &["valueFrom", "secretKeyRef", "name"]);
                if has(env, &["valueFrom", "secretKeyRef"]) && !self.has(secret) {
                    let env = text(env, &["name"]);
                    let what = format!(
                        "{word} {name} with envVar {env} referencing secret.secretName=\"{secret}\""
                    );
                    return Some(self.not(&what));
                }
            }
            for from in items(container, &["envFrom"]) {
                let secret = text(from, &["secretRef", "name"]);
                if has(from, &["secretRef"]) && !self.has(secret) {
                    let what = format!(
                        "{word} {name} with envFrom referencing secret.secretName=\"{secret}\""
                    );
                    return Some(self.not(&what));
                }
            }
        }
        None
    }
}

/// Where a volume names a secret: path, and whether it is the source itself.
const VOLUME_SECRETS: &[&[&str]] = &[
    &["azureFile"],
    &["cephfs", "secretRef"],
    &["cinder", "secretRef"],
    &["flexVolume", "secretRef"],
    &["rbd", "secretRef"],
    &["secret"],
    &["scaleIO", "secretRef"],
    &["iscsi", "secretRef"],
    &["storageos", "secretRef"],
    &["csi", "nodePublishSecretRef"],
];

/// Whether the pod names any secret, anywhere.
pub(crate) fn has_any(pod: &Value) -> bool {
    let volumes = items(pod, &["spec", "volumes"]);
    let kinds = ["initContainers", "containers", "ephemeralContainers"];
    let containers = kinds.into_iter().flat_map(|it| items(pod, &["spec", it]));
    let in_container = |container: &Value| {
        let mut env = items(container, &["env"]).iter();
        let mut from = items(container, &["envFrom"]).iter();
        env.any(|it| has(it, &["valueFrom", "secretKeyRef"]))
            || from.any(|it| has(it, &["secretRef"]))
    };
    let in_volume = |volume: &Value| {
        let mut projected = items(volume, &["projected", "sources"]).iter();
        VOLUME_SECRETS.iter().any(|path| has(volume, path))
            || projected.any(|it| has(it, &["secret"]))
    };
    !items(pod, &["spec", "imagePullSecrets"]).is_empty()
        || volumes.iter().any(in_volume)
        || containers.into_iter().any(in_container)
}
