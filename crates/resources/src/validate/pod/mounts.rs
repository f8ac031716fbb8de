//! Where containers see volumes.

use super::containers::Surroundings;
use crate::validate::errors::Errors;
use crate::validate::field::{Field, text};
use crate::validate::paths;
use crate::validate::seen::Seen;

pub(super) fn mounts(e: &mut Errors, container: &Field, pod: &Surroundings) {
    let all = container.child("volumeMounts");
    let devices = container.child("volumeDevices").list();
    let names: Seen<&str> = devices.iter().map(|it| text(it, "name")).collect();
    let device_paths: Seen<&str> = devices.iter().map(|it| text(it, "devicePath")).collect();
    let mut points = Seen::default();
    for it in all.items() {
        let (name, path) = (it.child("name"), it.child("mountPath"));
        e.required_text(&name);
        let volume = pod.volumes.get(name.str());
        if volume.is_none() {
            e.not_found(&name);
        }
        e.required_text(&path);
        if !points.insert(it.text("mountPath")) {
            e.invalid(&path, "must be unique");
        }
        if names.contains(&name.str()) {
            e.invalid(&name, "must not already exist in volumeDevices");
        }
        if device_paths.contains(&path.str()) {
            e.invalid(&path, "must not already exist as a path in volumeDevices");
        }
        sub_paths(e, &all, &it);
        propagation(e, &all, &it, container);
        bind_options(e, &it, volume.is_some_and(|volume| volume.has("image")));
    }
}

/// Reported, as upstream does, without the index of the mount.
fn sub_paths(e: &mut Errors, all: &Field, it: &Field) {
    let (path, expression) = (it.child("subPath"), it.child("subPathExpr"));
    if !path.is_empty() {
        paths::local_descending(e, &all.child("subPath").with(path.value));
    }
    if !expression.is_empty() {
        if !path.is_empty() {
            e.invalid(
                &expression,
                "subPathExpr and subPath are mutually exclusive",
            );
        }
        paths::local_descending(e, &all.child("subPathExpr").with(expression.value));
    }
}

fn propagation(e: &mut Errors, all: &Field, it: &Field, container: &Field) {
    let mode = it.child("mountPropagation");
    if mode.is_set() {
        let at = all.child("mountPropagation");
        let at = at.with(mode.value);
        e.one_of(&at, &["Bidirectional", "HostToContainer", "None"]);
        let privileged = container.child("securityContext").flag("privileged");
        if mode.str() == "Bidirectional" && !privileged {
            let text = "Bidirectional mount propagation is available only to privileged containers";
            e.forbidden(&at, text);
        }
    }
    let recursive = it.child("recursiveReadOnly");
    let at = all.child("recursiveReadOnly");
    match recursive.opt_str() {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !it.flag("readOnly") {
                e.forbidden(&at, "may only be specified when readOnly is true");
            }
            if mode.is_set() && mode.str() != "None" {
                let text = "may only be specified when mountPropagation is None or not specified";
                e.forbidden(&at, text);
            }
        }
        Some(_) => {
            e.not_supported(
                &at.with(recursive.value),
                &["Disabled", "Enabled", "IfPossible"],
            );
        }
    }
}

fn bind_options(e: &mut Errors, it: &Field, of_image: bool) {
    let all = it.child("bindMountOptions");
    let mut seen = Seen::default();
    for option in all.items() {
        e.one_of(&option, &["nodev", "noexec", "nosuid"]);
        if option.opt_str().is_some_and(|it| !seen.insert(it)) {
            e.duplicate(&option);
        }
    }
    if of_image && !all.is_empty() {
        e.invalid(&all, "bindMountOptions may not be used with image volumes");
    }
}

pub(super) fn devices(e: &mut Errors, container: &Field, pod: &Surroundings) {
    let all = container.child("volumeDevices");
    let mounts = container.child("volumeMounts").list();
    let mounted: Seen<&str> = mounts.iter().map(|it| text(it, "name")).collect();
    let points: Seen<&str> = mounts.iter().map(|it| text(it, "mountPath")).collect();
    let (mut names, mut device_paths) = (Seen::default(), Seen::default());
    for it in all.items() {
        let (name, path) = (it.child("name"), it.child("devicePath"));
        let volume = pod.volumes.get(name.str());
        e.required_text(&name);
        if names.contains(&it.text("name")) {
            e.invalid(&name, "must be unique");
        }
        match volume {
            None => e.not_found(&name),
            Some(it) if it.has("persistentVolumeClaim") || it.has("ephemeral") => {}
            Some(_) => {
                let text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                e.invalid(&name, text);
            }
        }
        e.required_text(&path);
        if device_paths.contains(&it.text("devicePath")) {
            e.invalid(&path, "must be unique");
        }
        if path.str().split('/').any(|part| part == "..") {
            e.invalid(&path, "can not contain backsteps ('..')");
        } else {
            device_paths.insert(it.text("devicePath"));
        }
        if mounted.contains(&name.str()) {
            e.invalid(&name, "must not already exist in volumeMounts");
        }
        if points.contains(&path.str()) {
            e.invalid(&path, "must not already exist as a path in volumeMounts");
        }
        if !name.is_empty() {
            names.insert(it.text("name"));
        }
    }
}
