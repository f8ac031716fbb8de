//! What baseline and restricted forbid, and since when.

mod baseline;
mod restricted;

use std::collections::BTreeSet;

use json::Value;

use super::policy::{Level, LevelVersion, Version};
use crate::read::{flag, items, text};

/// The newest minor version that changed a check.
const NEWEST: u32 = 37;

/// What is looked at: a pod, or the template of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pod<'a> {
    pub metadata: &'a Value,
    pub spec: &'a Value,
}

/// Why a pod is forbidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub reason: String,
    pub detail: String,
}

impl Violation {
    fn new(reason: impl Into<String>, detail: String) -> Self {
        Self {
            reason: reason.into(),
            detail,
        }
    }
}

type Check = fn(Pod<'_>, u32) -> Option<Violation>;

/// Since which version, in the order in which violations are told.
const BASELINE: [(u32, Check); 12] = [
    (0, baseline::app_armor_profile),
    (0, baseline::capabilities),
    (0, baseline::host_namespaces),
    (0, baseline::host_path_volumes),
    (0, baseline::host_ports),
    (34, baseline::host_probes),
    (0, baseline::privileged),
    (0, baseline::proc_mount),
    (0, baseline::se_linux_options),
    (0, baseline::seccomp_profile),
    (0, baseline::sysctls),
    (0, baseline::windows_host_process),
];

/// With the place in `BASELINE` of the check that it replaces.
const RESTRICTED: [(u32, Check, Option<usize>); 7] = [
    (8, restricted::allow_privilege_escalation, None),
    (22, restricted::capabilities, Some(1)),
    (35, restricted::proc_mount, Some(7)),
    (0, restricted::volumes, Some(3)),
    (0, restricted::run_as_non_root, None),
    (23, restricted::run_as_user, None),
    (19, restricted::seccomp_profile, Some(9)),
];

pub(super) fn violations(pod: Pod<'_>, policy: LevelVersion) -> Vec<Violation> {
    if policy.level == Level::Privileged {
        return Vec::new();
    }
    let minor = match policy.version {
        Version::Minor(minor) => minor.min(NEWEST),
        Version::Latest => NEWEST,
    };
    let restricted = RESTRICTED.iter().filter(|(since, ..)| *since <= minor);
    let restricted = restricted.filter(|_| policy.level == Level::Restricted);
    let replaced: Vec<usize> = restricted.clone().filter_map(|(.., it)| *it).collect();
    let baseline = BASELINE.iter().enumerate();
    let baseline = baseline.filter(|(at, (since, _))| *since <= minor && !replaced.contains(at));
    let checks = baseline.map(|(_, (_, check))| check);
    let checks = checks.chain(restricted.map(|(_, check, _)| check));
    checks.filter_map(|check| check(pod, minor)).collect()
}

impl<'a> Pod<'a> {
    fn containers(self) -> impl Iterator<Item = &'a Value> {
        let kinds = ["initContainers", "containers", "ephemeralContainers"];
        kinds
            .into_iter()
            .flat_map(move |it| items(self.spec, &[it]))
    }

    /// The names of those for which something holds.
    fn those(self, mut holds: impl FnMut(&'a Value) -> bool) -> Vec<&'a str> {
        let all = self.containers().filter(|it| holds(it));
        all.map(|it| text(it, &["name"])).collect()
    }

    /// The pod's own security context says so, and the containers whose own does; as a subject for a sentence.
    fn setters(self, mut holds: impl FnMut(&'a Value) -> bool) -> String {
        let own = holds(self.spec);
        let containers = self.those(holds);
        let mut setters = Vec::new();
        if own {
            setters.push("pod".to_owned());
        }
        if !containers.is_empty() {
            setters.push(named(&containers));
        }
        setters.join(" and ")
    }

    /// In a user namespace of its own, root is not root.
    fn has_own_users(self) -> bool {
        flag(self.spec, &["hostUsers"]) == Some(false)
    }

    fn is_windows(self) -> bool {
        text(self.spec, &["os", "name"]) == "windows"
    }
}

fn plural<'a>(one: &'a str, many: &'a str, count: usize) -> &'a str {
    if count == 1 { one } else { many }
}

fn quoted<S: AsRef<str>>(items: impl IntoIterator<Item = S>) -> String {
    let items = items.into_iter().map(|it| format!("\"{}\"", it.as_ref()));
    items.collect::<Vec<_>>().join(", ")
}

/// `containers "a", "b"`
fn named(containers: &[&str]) -> String {
    let word = plural("container", "containers", containers.len());
    format!("{word} {}", quoted(containers))
}

type Words = BTreeSet<String>;

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn told(pod: &Value, level: Level, version: Version) -> Vec<String> {
        let pod = Pod {
            metadata: pod.get("metadata").unwrap_or(&Value::Null),
            spec: pod.get("spec").unwrap_or(&Value::Null),
        };
        let all = violations(pod, LevelVersion { level, version }).into_iter();
        all.map(|it| format!("{} ({})", it.reason, it.detail))
            .collect()
    }

    /// As a kube-apiserver says it of the same pod.
    #[test]
    fn a_pod_that_does_everything() {
        let pod = json!({"spec": {
            "hostNetwork": true,
            "hostPID": true,
            "initContainers": [{"name": "i", "securityContext": {"allowPrivilegeEscalation": true}}],
            "containers": [{"name": "c", "securityContext": {
                "privileged": true,
                "capabilities": {"add": ["SYS_ADMIN", "NET_ADMIN", "CHOWN"]},
                "runAsUser": 0,
                "runAsNonRoot": false,
                "seLinuxOptions": {"type": "x", "user": "u", "role": "r"},
                "seccompProfile": {"type": "Unconfined"},
            }}],
            "volumes": [{"name": "h", "hostPath": {"path": "/"}}, {"name": "n", "nfs": {"server": "s"}}],
            "securityContext": {
                "sysctls": [{"name": "kernel.msgmax", "value": "1"}],
                "seLinuxOptions": {"level": "s0"},
                "appArmorProfile": {"type": "Unconfined"},
            },
        }});
        let app_armor =
            "forbidden AppArmor profile (pod must not set AppArmor profile type to \"Unconfined\")";
        let capabilities = "non-default capabilities (container \"c\" must not include \"NET_ADMIN\", \"SYS_ADMIN\" in securityContext.capabilities.add)";
        let namespaces = "host namespaces (hostNetwork=true, hostPID=true)";
        let path = "hostPath volumes (volume \"h\")";
        let privileged =
            "privileged (container \"c\" must not set securityContext.privileged=true)";
        let se_linux = "seLinuxOptions (container \"c\" set forbidden securityContext.seLinuxOptions: type \"x\"; user may not be set; role may not be set)";
        let seccomp = "seccompProfile (container \"c\" must not set securityContext.seccompProfile.type to \"Unconfined\")";
        let sysctls = "forbidden sysctls (kernel.msgmax)";
        let escalation = "allowPrivilegeEscalation != false (containers \"i\", \"c\" must set securityContext.allowPrivilegeEscalation=false)";
        let unrestricted = "unrestricted capabilities (containers \"i\", \"c\" must set securityContext.capabilities.drop=[\"ALL\"]; container \"c\" must not include \"CHOWN\", \"NET_ADMIN\", \"SYS_ADMIN\" in securityContext.capabilities.add)";
        let volumes = "restricted volume types (volumes \"h\", \"n\" use restricted volume types \"hostPath\", \"nfs\")";
        let non_root = "runAsNonRoot != true (container \"c\" must not set securityContext.runAsNonRoot=false)";
        let user = "runAsUser=0 (container \"c\" must not set runAsUser=0)";
        assert_eq!(
            told(&pod, Level::Baseline, Version::Latest),
            [
                app_armor,
                capabilities,
                namespaces,
                path,
                privileged,
                se_linux,
                seccomp,
                sysctls
            ]
        );
        assert_eq!(
            told(&pod, Level::Restricted, Version::Latest),
            [
                app_armor,
                namespaces,
                privileged,
                se_linux,
                sysctls,
                escalation,
                unrestricted,
                volumes,
                non_root,
                user,
                seccomp
            ]
        );
        assert_eq!(
            told(&pod, Level::Restricted, Version::Minor(18)),
            [
                app_armor,
                capabilities,
                namespaces,
                privileged,
                se_linux,
                sysctls,
                escalation,
                volumes,
                non_root
            ]
        );
        assert!(told(&pod, Level::Privileged, Version::Latest).is_empty());
    }

    #[test]
    fn users_of_their_own_may_be_root() {
        let pod = json!({"spec": {"hostUsers": false, "containers": [
            {"name": "c", "securityContext": {"procMount": "Unmasked", "runAsUser": 0}},
        ]}});
        assert!(told(&pod, Level::Baseline, Version::Latest).is_empty());
        let mount =
            "procMount (container \"c\" must not set securityContext.procMount to \"Unmasked\")";
        assert_eq!(told(&pod, Level::Baseline, Version::Minor(34)), [mount]);
        let all = told(&pod, Level::Restricted, Version::Latest);
        assert_eq!((all.len(), &*all[2]), (4, mount), "{all:?}");
    }
}
