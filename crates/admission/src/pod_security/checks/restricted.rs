//! What a pod must not keep, or must say, on top of the baseline.

use json::Value;

use super::{Pod, Violation, Words, baseline, named, plural, quoted};
use crate::read::{flag, has, items, text};

/// Volumes that hold nothing of the node's.
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];
const OTHER_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

/// Windows has none of it.
fn is_exempt(pod: Pod<'_>, minor: u32) -> bool {
    minor >= 25 && pod.is_windows()
}

pub(super) fn allow_privilege_escalation(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if is_exempt(pod, minor) {
        return None;
    }
    let path = &["securityContext", "allowPrivilegeEscalation"];
    let bad = pod.those(|it| flag(it, path) != Some(false));
    (!bad.is_empty()).then(|| {
        let bad = named(&bad);
        let detail = format!("{bad} must set securityContext.allowPrivilegeEscalation=false");
        Violation::new("allowPrivilegeEscalation != false", detail)
    })
}

pub(super) fn capabilities(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if is_exempt(pod, minor) {
        return None;
    }
    let keeping = pod.those(|it| !capability(it, "drop").contains(&"ALL"));
    let mut added = Words::new();
    let adding = pod.those(|it| {
        let mut more = capability(it, "add");
        more.retain(|it| *it != "NET_BIND_SERVICE");
        added.extend(more.iter().map(|it| (*it).to_owned()));
        !more.is_empty()
    });
    let mut details = Vec::new();
    if !keeping.is_empty() {
        let keeping = named(&keeping);
        details.push(format!(
            "{keeping} must set securityContext.capabilities.drop=[\"ALL\"]"
        ));
    }
    if !adding.is_empty() {
        let (adding, added) = (named(&adding), quoted(added));
        details.push(format!(
            "{adding} must not include {added} in securityContext.capabilities.add"
        ));
    }
    (!details.is_empty()).then(|| Violation::new("unrestricted capabilities", details.join("; ")))
}

fn capability<'a>(container: &'a Value, what: &str) -> Vec<&'a str> {
    let all = items(container, &["securityContext", "capabilities", what]);
    all.iter().filter_map(Value::as_str).collect()
}

/// Without the exception for those with users of their own.
pub(super) fn proc_mount(pod: Pod<'_>, _: u32) -> Option<Violation> {
    baseline::proc_mount(pod, 0)
}

pub(super) fn volumes(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let mut kinds = Words::new();
    let mut names = Vec::new();
    for volume in items(pod.spec, &["volumes"]) {
        let is = |kind: &&str| has(volume, &[kind]);
        if !VOLUMES.iter().any(is) {
            names.push(text(volume, &["name"]));
            let kind = OTHER_VOLUMES.into_iter().find(is);
            kinds.insert(kind.unwrap_or("unknown").to_owned());
        }
    }
    (!names.is_empty()).then(|| {
        let volumes = plural("volume", "volumes", names.len());
        let uses = plural("uses", "use", names.len());
        let (one, many) = ("restricted volume type", "restricted volume types");
        let word = plural(one, many, kinds.len());
        let (names, kinds) = (quoted(names), quoted(kinds));
        let detail = format!("{volumes} {names} {uses} {word} {kinds}");
        Violation::new("restricted volume types", detail)
    })
}

pub(super) fn run_as_non_root(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    if minor >= 35 && pod.has_own_users() {
        return None;
    }
    let path = &["securityContext", "runAsNonRoot"];
    let setters = pod.setters(|it| flag(it, path) == Some(false));
    if !setters.is_empty() {
        let detail = format!("{setters} must not set securityContext.runAsNonRoot=false");
        return Some(Violation::new(REASON, detail));
    }
    let of_pod = flag(pod.spec, path) == Some(true);
    let silent = pod.those(|it| !of_pod && flag(it, path).is_none());
    (!silent.is_empty()).then(|| {
        let silent = named(&silent);
        let detail = format!("pod or {silent} must set securityContext.runAsNonRoot=true");
        Violation::new(REASON, detail)
    })
}

pub(super) fn run_as_user(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if minor >= 35 && pod.has_own_users() {
        return None;
    }
    let path = &["securityContext", "runAsUser"];
    let setters = pod.setters(|it| it.at(path).and_then(Value::as_i64) == Some(0));
    let detail = format!("{setters} must not set runAsUser=0");
    (!setters.is_empty()).then(|| Violation::new("runAsUser=0", detail))
}

pub(super) fn seccomp_profile(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if is_exempt(pod, minor) {
        return None;
    }
    let wrong = baseline::seccomp_fields(pod);
    if wrong.is_some() {
        return wrong;
    }
    let path = &["securityContext", "seccompProfile"];
    let of_pod = has(pod.spec, path);
    let silent = pod.those(|it| !of_pod && !has(it, path));
    (!silent.is_empty()).then(|| {
        let silent = named(&silent);
        let detail = format!(
            "pod or {silent} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\""
        );
        Violation::new("seccompProfile", detail)
    })
}
