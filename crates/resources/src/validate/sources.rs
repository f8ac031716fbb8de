//! Volume sources that pods and persistent volumes share.

use super::errors::Errors;
use super::field::Field;
use super::paths;

pub(super) const ISCSI_TOO_LONG: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";

/// Most sources only need some of their fields: source, path it is reported under, fields.
const REQUIRED: &[(&str, &str, &[&str])] = &[
    ("gcePersistentDisk", "persistentDisk", &["pdName"]),
    (
        "awsElasticBlockStore",
        "awsElasticBlockStore",
        &["volumeID"],
    ),
    ("nfs", "nfs", &["server", "path"]),
    ("glusterfs", "glusterfs", &["endpoints", "path"]),
    ("rbd", "rbd", &["monitors", "image"]),
    ("cinder", "cinder", &["volumeID"]),
    ("cephfs", "cephfs", &["monitors"]),
    ("flexVolume", "flexVolume", &["driver"]),
    ("azureFile", "azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", "vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", "photonPersistentDisk", &["pdID"]),
    ("portworxVolume", "portworxVolume", &["volumeID"]),
    ("scaleIO", "scaleIO", &["gateway", "system", "volumeName"]),
    ("azureDisk", "azureDisk", &["diskName", "diskURI"]),
];

/// A persistent volume names secrets with their namespaces.
pub(super) fn common(e: &mut Errors, volume: &Field, name: &str, persistent: bool) {
    let row = REQUIRED.iter().find(|row| row.0 == name);
    let it = volume.child_as(name, row.map_or(name, |row| row.1));
    for field in row.map_or(&[][..], |row| row.2) {
        if it.child(field).is_empty() {
            e.required(&it.child(field), "");
        }
    }
    match name {
        "hostPath" => host_path(e, &it),
        "gitRepo" => {
            e.required_text(&it.child("repository"));
            paths::local_descending(e, &it.child("directory"));
        }
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            let partition = it.child("partition");
            if !(0..=255).contains(&partition.int()) {
                e.invalid(&partition, "must be between 1 and 255, inclusive");
            }
        }
        "nfs" if !it.text("path").starts_with('/') => {
            e.invalid(&it.child("path"), "must be an absolute path");
        }
        "iscsi" => iscsi(e, &it, persistent),
        "flocker" => flocker(e, &it),
        "quobyte" => quobyte(e, &it),
        "fc" => fibre_channel(e, &it),
        "flexVolume" => flex_options(e, &it.child("options")),
        "azureDisk" => azure_disk(e, &it),
        "storageos" => {
            let (volume, namespace) = (it.child("volumeName"), it.child("volumeNamespace"));
            if e.required_text(&volume) {
                e.dns_label(&volume);
            }
            if !namespace.is_empty() {
                e.dns_label(&namespace);
            }
            secret(e, &it, persistent);
        }
        "cinder" => secret(e, &it, persistent),
        _ => {}
    }
}

fn secret(e: &mut Errors, it: &Field, persistent: bool) {
    let secret = it.child("secretRef");
    if secret.is_set() {
        e.required_text(&secret.child("name"));
        if persistent {
            e.required_text(&secret.child("namespace"));
        }
    }
}

pub(super) fn host_path(e: &mut Errors, it: &Field) {
    let (path, kind) = (it.child("path"), it.child("type"));
    if e.required_text(&path) {
        paths::no_backsteps(e, &path);
        if kind.is_set() {
            e.one_of(
                &kind,
                &[
                    "",
                    "BlockDevice",
                    "CharDevice",
                    "Directory",
                    "DirectoryOrCreate",
                    "File",
                    "FileOrCreate",
                    "Socket",
                ],
            );
        }
    }
}

fn iscsi(e: &mut Errors, it: &Field, persistent: bool) {
    e.required_text(&it.child("targetPortal"));
    let starts = "must be valid format starting with iqn, eui, or naa";
    let starts = if persistent {
        "must be valid format"
    } else {
        starts
    };
    let iqn = it.child("iqn");
    if e.required_text(&iqn) {
        initiator(e, &iqn, starts);
    }
    e.range(&it.child("lun"), 0, 255);
    let secret = it.child("secretRef");
    if (it.flag("chapAuthDiscovery") || it.flag("chapAuthSession")) && !secret.is_set() {
        e.required(&secret, "");
    }
    if persistent && secret.is_set() {
        e.required_text(&secret.child("name"));
    }
    if it.has("initiatorName") {
        initiator(e, &it.child_as("initiatorName", "initiatorname"), starts);
    }
}

fn initiator(e: &mut Errors, it: &Field, starts: &str) {
    let text = it.str();
    let hex = |rest: &str, length| {
        rest.len() == length && rest.bytes().all(|it| it.is_ascii_alphanumeric())
    };
    let valid = match text.get(..3) {
        Some("iqn") => is_iqn(text),
        Some("eui") => text.get(4..).is_some_and(|rest| hex(rest, 16)),
        Some("naa") => text.get(4..).is_some_and(|rest| hex(rest, 32)),
        _ => return e.invalid(it, starts),
    };
    if !valid {
        e.invalid(it, "must be valid format");
    }
}

/// `iqn.YYYY-MM.reversed.domain:name`, found anywhere before the end.
fn is_iqn(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
    text.match_indices("iqn.").any(|(at, _)| {
        let rest = &text[at + 4..];
        let Some((date, rest)) = rest.split_once('.') else {
            return false;
        };
        let dated = date.len() == 7
            && date
                .split_once('-')
                .is_some_and(|(year, month)| year.len() == 4 && digits(year) && digits(month));
        dated
            && rest.match_indices(':').any(|(at, _)| {
                let (domain, name) = (&rest[..at], &rest[at + 1..]);
                let plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'.';
                let banned = |it: char| ",;*&$|".contains(it) || it.is_ascii_whitespace();
                !domain.is_empty()
                    && domain.bytes().all(plain)
                    && !name.is_empty()
                    && !name.contains(banned)
            })
    })
}

fn flocker(e: &mut Errors, it: &Field) {
    let (name, uuid) = (it.child("datasetName"), it.child("datasetUUID"));
    if name.is_empty() && uuid.is_empty() {
        e.required(it, "one of datasetName and datasetUUID is required");
    }
    if !name.is_empty() && !uuid.is_empty() {
        let text = "datasetName and datasetUUID can not be specified simultaneously";
        e.invalid_value(it, "resource", text);
    }
    if name.str().contains('/') {
        e.invalid(&name, "must not contain '/'");
    }
}

fn quobyte(e: &mut Errors, it: &Field) {
    let registry = it.child("registry");
    let pairs = "must be a host:port pair or multiple pairs separated by commas";
    if registry.is_empty() {
        e.required(&registry, pairs);
    } else if it.text("tenant").len() >= 65 {
        let text = "must be a UUID and may not exceed a length of 64 characters";
        e.required(&it.child("tenant"), text);
    } else {
        for pair in registry.str().split(',') {
            if !pair.contains(':') {
                e.invalid(&registry, pairs);
            }
        }
    }
    e.required_text(&it.child("volume"));
}

fn fibre_channel(e: &mut Errors, it: &Field) {
    let (targets, ids, lun) = (it.child("targetWWNs"), it.child("wwids"), it.child("lun"));
    if targets.is_empty() && ids.is_empty() {
        e.required(
            &targets,
            "must specify either targetWWNs or wwids, but not both",
        );
    }
    if !targets.is_empty() && !ids.is_empty() {
        e.invalid(
            &targets,
            "targetWWNs and wwids can not be specified simultaneously",
        );
    }
    if !targets.is_empty() {
        if lun.is_set() {
            e.range(&lun, 0, 255);
        } else {
            e.required(&lun, "lun is required if targetWWNs is specified");
        }
    }
}

fn flex_options(e: &mut Errors, all: &Field) {
    for (key, at) in all.entries() {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace);
        let namespace = format!(".{}", namespace.to_lowercase());
        if namespace.ends_with(".kubernetes.io") || namespace.ends_with(".k8s.io") {
            let text = "kubernetes.io and k8s.io namespaces are reserved";
            e.invalid_value(&at, key, text);
        }
    }
}

fn azure_disk(e: &mut Errors, it: &Field) {
    let (uri, kind, caching) = (
        it.child("diskURI"),
        it.child("kind"),
        it.child("cachingMode"),
    );
    if caching.is_set() {
        e.one_of(&caching, &["None", "ReadOnly", "ReadWrite"]);
    }
    if kind.is_set() {
        e.one_of(&kind, &["Dedicated", "Managed", "Shared"]);
    }
    match kind.opt_str() {
        Some("Managed") if !uri.str().starts_with("/subscriptions/") => e.not_supported(
            &uri,
            &["/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"],
        ),
        Some(it) if it != "Managed" && !uri.str().starts_with("https://") => e.not_supported(
            &uri,
            &["https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"],
        ),
        _ => {}
    }
}

pub(super) fn csi_driver_name(e: &mut Errors, it: &Field) {
    if !e.required_text(it) {
        return;
    }
    if it.len() > 63 {
        e.too_long(it, 63);
    }
    e.invalid_all(it, meta::names::dns1123_subdomain(&it.str().to_lowercase()));
}
