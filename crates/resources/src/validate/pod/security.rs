//! What containers may do to their host.

use meta::names;

use super::each_container;
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::paths;
use crate::validate::seen::Seen;

pub(super) fn container(e: &mut Errors, it: &Field, host_users: bool) {
    if !it.is_set() {
        return;
    }
    e.user_id(&it.child("runAsUser"));
    e.user_id(&it.child("runAsGroup"));
    let proc = it.child("procMount");
    if proc.is_set() {
        e.one_of(&proc, &["Default", "Unmasked"]);
        if host_users && proc.str() == "Unmasked" {
            e.invalid(&proc, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    seccomp(e, &it.child("seccompProfile"));
    if it.child("allowPrivilegeEscalation").opt_bool() == Some(false) {
        if it.flag("privileged") {
            let text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            e.invalid_as("SecurityContext", it, text);
        }
        for capability in it.children(&["capabilities", "add"]).texts() {
            if capability == "CAP_SYS_ADMIN" {
                let text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
                e.invalid_as("SecurityContext", it, text);
            }
        }
    }
    windows_options(e, &it.child("windowsOptions"));
    app_armor(e, &it.child("appArmorProfile"));
}

pub(super) fn pod(e: &mut Errors, it: &Field, spec: &Field) {
    if !it.is_set() {
        return;
    }
    for name in ["fsGroup", "runAsUser", "runAsGroup"] {
        e.user_id(&it.child(name));
    }
    for group in it.child("supplementalGroups").items() {
        e.user_id(&group);
    }
    sysctls(e, &it.child("sysctls"), spec);
    e.optional_one_of(
        &it.child("fsGroupChangePolicy"),
        &["Always", "OnRootMismatch"],
    );
    seccomp(e, &it.child("seccompProfile"));
    windows_options(e, &it.child("windowsOptions"));
    app_armor(e, &it.child("appArmorProfile"));
    e.optional_one_of(&it.child("supplementalGroupsPolicy"), &["Merge", "Strict"]);
    e.optional_one_of(
        &it.child("seLinuxChangePolicy"),
        &["MountOption", "Recursive"],
    );
}

const PROFILE_TYPES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined"];

fn seccomp(e: &mut Errors, it: &Field) {
    if !it.is_set() {
        return;
    }
    let (kind, profile) = (it.child("type"), it.child("localhostProfile"));
    if kind.is_empty() {
        e.required(&kind, "type is required when seccompProfile is set");
    } else {
        e.one_of(&kind, PROFILE_TYPES);
    }
    if kind.str() == "Localhost" {
        if profile.is_set() {
            paths::local_descending(e, &profile);
        } else {
            e.required(&profile, "must be set when seccomp type is Localhost");
        }
    } else if profile.is_set() {
        let text = "can only be set when seccomp type is Localhost";
        e.invalid_as("SeccompProfile", &profile.with(it.value), text);
    }
}

fn app_armor(e: &mut Errors, it: &Field) {
    if !it.is_set() {
        return;
    }
    let (kind, profile) = (it.child("type"), it.child("localhostProfile"));
    let needed = "must be set when AppArmor type is Localhost";
    match kind.str() {
        "Localhost" if !profile.is_set() => e.required(&profile, needed),
        "Localhost" => {
            let text = profile.str();
            if text.trim() != text {
                e.invalid(&profile, "must not be padded with whitespace");
            } else if text.is_empty() {
                e.required(&profile, needed);
            }
            if text.len() > 4095 {
                e.too_long(&profile, 4095);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if profile.is_set() {
                e.invalid(&profile, "can only be set when AppArmor type is Localhost");
            }
        }
        "" => e.required(&kind, "type is required when appArmorProfile is set"),
        _ => e.not_supported(&kind, PROFILE_TYPES),
    }
}

const SYSCTL: &str = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

fn sysctls(e: &mut Errors, all: &Field, spec: &Field) {
    let mut seen = Seen::default();
    for it in all.items() {
        let name = it.child("name");
        let again = !seen.insert(it.text("name"));
        if e.required_text(&name) {
            if !is_sysctl(name.str()) {
                e.invalid(&name, SYSCTL);
            } else if again {
                e.duplicate(&name);
            }
        }
        match sysctl_namespace(name.str()) {
            Some("net") if spec.flag("hostNetwork") => {
                e.invalid(&name, "may not be specified when 'hostNetwork' is true");
            }
            Some("ipc") if spec.flag("hostIPC") => {
                e.invalid(&name, "may not be specified when 'hostIPC' is true");
            }
            _ => {}
        }
    }
}

fn is_sysctl(name: &str) -> bool {
    let edge =
        |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    name.len() <= 253
        && name.split(['.', '/']).all(|part| {
            let part = part.as_bytes();
            let inner = |it: &u8| edge(Some(it)) || matches!(it, b'-' | b'_');
            edge(part.first()) && edge(part.last()) && part.iter().all(inner)
        })
}

/// Which namespace of the kernel a parameter belongs to.
fn sysctl_namespace(name: &str) -> Option<&'static str> {
    let name = name.replace('/', ".");
    if name.starts_with("net.") {
        return Some("net");
    }
    let ipc = ["kernel.shm", "kernel.msg", "fs.mqueue."];
    let is_ipc = name == "kernel.sem" || ipc.iter().any(|prefix| name.starts_with(prefix));
    is_ipc.then_some("ipc")
}

fn windows_options(e: &mut Errors, it: &Field) {
    if !it.is_set() {
        return;
    }
    let name = it.child("gmsaCredentialSpecName");
    if name.is_set() {
        e.dns_subdomain(&name);
    }
    let spec = it.child("gmsaCredentialSpec");
    if spec.is_set() {
        match spec.len() {
            0 => e.invalid(&spec, "gmsaCredentialSpec cannot be an empty string"),
            1..=65_536 => {}
            _ => e.invalid(&spec, "gmsaCredentialSpec size must be under 64 KiB"),
        }
    }
    let user = it.child("runAsUserName");
    if user.is_set() {
        user_name(e, &user);
    }
}

/// `DOMAIN\user` with an optional domain.
fn user_name(e: &mut Errors, it: &Field) {
    let text = it.str();
    if text.is_empty() {
        return e.invalid(it, "runAsUserName cannot be an empty string");
    }
    if text.bytes().any(|it| it.is_ascii_control()) {
        return e.invalid(it, "runAsUserName cannot contain control characters");
    }
    let (domain, user) = match text.split_once('\\') {
        Some((_, user)) if user.contains('\\') => {
            return e.invalid(it, "runAsUserName cannot contain more than one backslash");
        }
        Some((domain, user)) => (Some(domain), user),
        None => (None, text),
    };
    if let Some(domain) = domain {
        if domain.len() >= 256 {
            e.invalid(
                it,
                "runAsUserName's Domain length must be under 256 characters",
            );
        }
        if !is_net_bios(domain) && !is_dns_name(domain) {
            let text = "runAsUserName's Domain doesn't match the NetBios nor the DNS format";
            e.invalid(it, text);
        }
    }
    match user.len() {
        0 => e.invalid(it, "runAsUserName's User cannot be empty"),
        1..=104 => {}
        _ => e.invalid(
            it,
            "runAsUserName's User length must not be longer than 104 characters",
        ),
    }
    if !user.is_empty() && user.bytes().all(|it| matches!(it, b'.' | b' ')) {
        e.invalid(
            it,
            "runAsUserName's User cannot contain only periods or spaces",
        );
    }
    if user.contains(|it| "\"/\\:;|=,+*?<>@[]".contains(it)) {
        let text =
            "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]";
        e.invalid(it, text);
    }
}

fn is_net_bios(text: &str) -> bool {
    !text.starts_with('.')
        && (1..=15).contains(&text.chars().count())
        && !text.contains(|it| "\\/:*?\"<>|".contains(it))
}

fn is_dns_name(text: &str) -> bool {
    text.split('.').all(|label| {
        let edge = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric());
        label.len() <= 63
            && edge(label.chars().next())
            && edge(label.chars().next_back())
            && label
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'-')
    })
}

/// A pod with containers that run as processes of a Windows host has only such.
pub(super) fn host_process(e: &mut Errors, spec: &Field) {
    let of = |it: &Field| {
        it.children(&["securityContext", "windowsOptions", "hostProcess"])
            .opt_bool()
    };
    let pod = of(spec);
    let (mut all, mut host) = (0, 0);
    each_container(spec, |it| {
        all += 1;
        let own = of(it);
        if let (Some(pod), Some(own)) = (pod, own)
            && pod != own
        {
            let at = it.children(&["securityContext", "windowsOptions", "hostProcess"]);
            let why =
                format!("pod hostProcess value must be identical if both are specified, was {pod}");
            e.invalid(&at, &why);
        }
        if own.or(pod) == Some(true) {
            host += 1;
        }
    });
    if host == 0 {
        return;
    }
    if host != all {
        let text = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        e.invalid_value(spec, "", text);
    }
    if !spec.flag("hostNetwork") {
        let text = "hostNetwork must be true if pod contains any hostProcess containers";
        e.invalid_value(&spec.child("hostNetwork"), false, text);
    }
}

pub(super) fn os(e: &mut Errors, spec: &Field) {
    let os = spec.child("os");
    if !os.is_set() {
        return;
    }
    let name = os.child("name");
    match name.str() {
        "" => e.required(&name, ""),
        "linux" => linux(e, spec),
        "windows" => windows(e, spec),
        _ => e.not_supported(&os.with(name.value), &["linux", "windows"]),
    }
}

fn linux(e: &mut Errors, spec: &Field) {
    let text = "windows options cannot be set for a linux pod";
    let mut check = |it: &Field| {
        let options = it.children(&["securityContext", "windowsOptions"]);
        if options.is_set() {
            e.forbidden(&options, text);
        }
    };
    check(spec);
    each_container(spec, check);
}

const NOT_IN_WINDOWS_POD: &[&str] = &[
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];
const NOT_IN_WINDOWS_CONTAINER: &[&str] = &[
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

fn windows(e: &mut Errors, spec: &Field) {
    let mut refuse = |it: &Field, names: &[&str]| {
        for name in names {
            let field = it.child(name);
            let zero =
                field.opt_bool() == Some(false) && name.starts_with("host") && *name != "hostUsers";
            if field.is_set() && !zero && (*name != "sysctls" || !field.is_empty()) {
                e.forbidden(&field, "cannot be set for a windows pod");
            }
        }
    };
    refuse(&spec.child("securityContext"), NOT_IN_WINDOWS_POD);
    refuse(
        spec,
        &["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"],
    );
    each_container(spec, |it| {
        refuse(&it.child("securityContext"), NOT_IN_WINDOWS_CONTAINER);
    });
}

/// Containers with users of their own do not share other things with the host.
pub(super) fn users(e: &mut Errors, spec: &Field) {
    if spec.child("hostUsers").opt_bool() != Some(false) {
        return;
    }
    let text = "when `hostUsers` is false";
    for (name, reported) in [
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ] {
        if spec.flag(name) {
            e.forbidden(&spec.child(reported), text);
        }
    }
    each_container(spec, |it| {
        let devices = it.child("volumeDevices");
        if !devices.is_empty() {
            e.forbidden(&devices, text);
        }
    });
}

pub(super) fn names_of_host(e: &mut Errors, spec: &Field) {
    let name = spec.child("hostnameOverride");
    if !name.is_set() {
        return;
    }
    if spec.flag("setHostnameAsFQDN") {
        e.forbidden(&name, "may not be specified when setHostnameAsFQDN is true");
    }
    if spec.flag("hostNetwork") {
        e.forbidden(&name, "may not be specified when hostNetwork is true");
    }
    if name.len() > 64 {
        e.too_long(&name, 64);
    }
    e.invalid_all(&name, names::dns1123_subdomain(name.str()));
}
