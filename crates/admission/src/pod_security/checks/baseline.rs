//! Known ways out of a container.

use json::Value;

use super::{Pod, Violation, Words, named, plural, quoted};
use crate::read::{flag, has, items, pairs, text};

const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];
/// With the version they are safe since.
const SYSCTLS: [(u32, &str); 14] = [
    (0, "kernel.shm_rmid_forced"),
    (0, "net.ipv4.ip_local_port_range"),
    (0, "net.ipv4.tcp_syncookies"),
    (0, "net.ipv4.ping_group_range"),
    (0, "net.ipv4.ip_unprivileged_port_start"),
    (27, "net.ipv4.ip_local_reserved_ports"),
    (29, "net.ipv4.tcp_keepalive_time"),
    (29, "net.ipv4.tcp_fin_timeout"),
    (29, "net.ipv4.tcp_keepalive_intvl"),
    (29, "net.ipv4.tcp_keepalive_probes"),
    (32, "net.ipv4.tcp_rmem"),
    (32, "net.ipv4.tcp_wmem"),
    (37, "net.ipv4.tcp_slow_start_after_idle"),
    (37, "net.ipv4.tcp_notsent_lowat"),
];
/// What may name a host other than the pod.
const HANDLERS: [&[&str]; 5] = [
    &["livenessProbe"],
    &["readinessProbe"],
    &["startupProbe"],
    &["lifecycle", "postStart"],
    &["lifecycle", "preStop"],
];

pub(super) fn app_armor_profile(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let mut bad = Words::new();
    let mut setters = pod.setters(|it| {
        let kind = text(it, &["securityContext", "appArmorProfile", "type"]);
        let is_bad = has(it, &["securityContext", "appArmorProfile"])
            && !matches!(kind, "RuntimeDefault" | "Localhost");
        if is_bad {
            bad.insert(kind.to_owned());
        }
        is_bad
    });
    let mut annotations = Words::new();
    for (key, value) in pairs(pod.metadata, &["annotations"]) {
        let value = value.as_str().unwrap_or_default();
        let fine = matches!(value, "" | "runtime/default") || value.starts_with("localhost/");
        if key.starts_with(APP_ARMOR) && !fine {
            annotations.insert(format!("{key}={}", meta::go::quote(value)));
        }
    }
    if !annotations.is_empty() {
        if !setters.is_empty() {
            setters.push_str(" and ");
        }
        setters.push_str(plural("annotation", "annotations", annotations.len()));
    }
    if setters.is_empty() {
        return None;
    }
    let values: Vec<String> = bad.into_iter().chain(annotations).collect();
    let reason = plural(
        "forbidden AppArmor profile",
        "forbidden AppArmor profiles",
        values.len(),
    );
    let values = quoted(values);
    Some(Violation::new(
        reason,
        format!("{setters} must not set AppArmor profile type to {values}"),
    ))
}

pub(super) fn capabilities(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let mut added = Words::new();
    let bad = pod.those(|it| {
        let add = items(it, &["securityContext", "capabilities", "add"]).iter();
        let add = add.filter_map(Value::as_str);
        let more: Vec<&str> = add.filter(|it| !CAPABILITIES.contains(it)).collect();
        added.extend(more.iter().map(|it| (*it).to_owned()));
        !more.is_empty()
    });
    (!bad.is_empty()).then(|| {
        let (bad, added) = (named(&bad), quoted(added));
        let detail = format!("{bad} must not include {added} in securityContext.capabilities.add");
        Violation::new("non-default capabilities", detail)
    })
}

pub(super) fn host_namespaces(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let used = ["hostNetwork", "hostPID", "hostIPC"].into_iter();
    let used = used.filter(|it| flag(pod.spec, &[it]) == Some(true));
    let used: Vec<String> = used.map(|it| format!("{it}=true")).collect();
    (!used.is_empty()).then(|| Violation::new("host namespaces", used.join(", ")))
}

pub(super) fn host_path_volumes(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let volumes = items(pod.spec, &["volumes"]).iter();
    let volumes = volumes.filter(|it| has(it, &["hostPath"]));
    let names: Vec<&str> = volumes.map(|it| text(it, &["name"])).collect();
    (!names.is_empty()).then(|| {
        let word = plural("volume", "volumes", names.len());
        Violation::new("hostPath volumes", format!("{word} {}", quoted(names)))
    })
}

pub(super) fn host_ports(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let mut ports = Words::new();
    let bad = pod.those(|it| {
        let used = items(it, &["ports"]).iter();
        let used = used.filter_map(|it| it.get("hostPort").and_then(Value::as_i64));
        let used = used.filter(|it| *it != 0).map(|it| it.to_string());
        let used: Vec<String> = used.collect();
        let any = !used.is_empty();
        ports.extend(used);
        any
    });
    (!bad.is_empty()).then(|| {
        let uses = plural("uses", "use", bad.len());
        let word = plural("hostPort", "hostPorts", ports.len());
        let ports: Vec<String> = ports.into_iter().collect();
        let detail = format!("{} {uses} {word} {}", named(&bad), ports.join(", "));
        Violation::new("hostPort", detail)
    })
}

pub(super) fn host_probes(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let mut hosts = Words::new();
    let mut bad = pod.those(|container| {
        let mut any = false;
        for handler in HANDLERS.iter().filter_map(|it| container.at(it)) {
            for way in ["httpGet", "tcpSocket"] {
                let host = text(handler, &[way, "host"]);
                if !host.is_empty() {
                    hosts.insert(host.to_owned());
                    any = true;
                }
            }
        }
        any
    });
    bad.sort_unstable();
    bad.dedup();
    (!bad.is_empty()).then(|| {
        let uses = plural("uses", "use", bad.len());
        let (one, many) = ("probe or lifecycle host", "probe or lifecycle hosts");
        let word = plural(one, many, hosts.len());
        let detail = format!("{} {uses} {word} {}", named(&bad), quoted(hosts));
        Violation::new(one, detail)
    })
}

pub(super) fn privileged(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let bad = pod.those(|it| flag(it, &["securityContext", "privileged"]) == Some(true));
    (!bad.is_empty()).then(|| {
        let bad = named(&bad);
        let detail = format!("{bad} must not set securityContext.privileged=true");
        Violation::new("privileged", detail)
    })
}

pub(super) fn proc_mount(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if minor >= 35 && pod.has_own_users() {
        return None;
    }
    let mut kinds = Words::new();
    let bad = pod.those(|it| {
        let kind = it.str_at(&["securityContext", "procMount"]);
        let kind = kind.unwrap_or("Default");
        if kind != "Default" {
            kinds.insert(kind.to_owned());
        }
        kind != "Default"
    });
    (!bad.is_empty()).then(|| {
        let (bad, kinds) = (named(&bad), quoted(kinds));
        let detail = format!("{bad} must not set securityContext.procMount to {kinds}");
        Violation::new("procMount", detail)
    })
}

pub(super) fn se_linux_options(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    let (mut kinds, mut user, mut role) = (Words::new(), false, false);
    let setters = pod.setters(|it| {
        let field = |key| text(it, &["securityContext", "seLinuxOptions", key]);
        let kind = field("type");
        let fine = matches!(
            kind,
            "" | "container_t" | "container_init_t" | "container_kvm_t"
        ) || minor >= 31 && kind == "container_engine_t";
        if !fine {
            kinds.insert(kind.to_owned());
        }
        let (has_user, has_role) = (!field("user").is_empty(), !field("role").is_empty());
        user |= has_user;
        role |= has_role;
        !fine || has_user || has_role
    });
    if setters.is_empty() {
        return None;
    }
    let mut what = Vec::new();
    if !kinds.is_empty() {
        let word = plural("type", "types", kinds.len());
        what.push(format!("{word} {}", quoted(kinds)));
    }
    if user {
        what.push("user may not be set".into());
    }
    if role {
        what.push("role may not be set".into());
    }
    let what = what.join("; ");
    Some(Violation::new(
        "seLinuxOptions",
        format!("{setters} set forbidden securityContext.seLinuxOptions: {what}"),
    ))
}

pub(super) fn seccomp_profile(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if minor < 19 {
        return seccomp_annotations(pod);
    }
    seccomp_fields(pod)
}

/// Before there were fields for it.
fn seccomp_annotations(pod: Pod<'_>) -> Option<Violation> {
    let mut bad = Words::new();
    let fine = |it: &str| {
        matches!(it, "runtime/default" | "docker/default") || it.starts_with("localhost/")
    };
    let of_containers = pod.containers().map(|it| {
        let name = text(it, &["name"]);
        format!("{SECCOMP_CONTAINER}{name}")
    });
    for key in std::iter::once(SECCOMP_POD.to_owned()).chain(of_containers) {
        let value = pod.metadata.str_at(&["annotations", &key]);
        if let Some(value) = value.filter(|it| !fine(it)) {
            bad.insert(format!("{key}={}", meta::go::quote(value)));
        }
    }
    (!bad.is_empty()).then(|| {
        let word = plural("annotation", "annotations", bad.len());
        let bad: Vec<String> = bad.into_iter().collect();
        let detail = format!("forbidden {word} {}", bad.join(", "));
        Violation::new("seccompProfile", detail)
    })
}

pub(super) fn seccomp_fields(pod: Pod<'_>) -> Option<Violation> {
    let mut bad = Words::new();
    let setters = pod.setters(|it| {
        let kind = text(it, &["securityContext", "seccompProfile", "type"]);
        let is_bad = has(it, &["securityContext", "seccompProfile"])
            && !matches!(kind, "RuntimeDefault" | "Localhost");
        if is_bad {
            bad.insert(kind.to_owned());
        }
        is_bad
    });
    (!setters.is_empty()).then(|| {
        let bad = quoted(bad);
        let detail = format!("{setters} must not set securityContext.seccompProfile.type to {bad}");
        Violation::new("seccompProfile", detail)
    })
}

pub(super) fn sysctls(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    let set = items(pod.spec, &["securityContext", "sysctls"]).iter();
    let safe = |name: &str| {
        let mut all = SYSCTLS.iter();
        all.any(|(since, it)| *since <= minor && *it == name)
    };
    let bad = set.map(|it| text(it, &["name"])).filter(|it| !safe(it));
    let bad: Vec<&str> = bad.collect();
    (!bad.is_empty()).then(|| Violation::new("forbidden sysctls", bad.join(", ")))
}

pub(super) fn windows_host_process(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let path = &["securityContext", "windowsOptions", "hostProcess"];
    let setters = pod.setters(|it| flag(it, path) == Some(true));
    (!setters.is_empty()).then(|| {
        let detail =
            format!("{setters} must not set securityContext.windowsOptions.hostProcess=true");
        Violation::new("hostProcess", detail)
    })
}
