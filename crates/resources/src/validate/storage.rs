//! Classes of storage, and the drivers behind them.

use std::collections::HashMap;

use meta::names;

use super::errors::Errors;
use super::field::{Field, text};
use super::object_meta::{self, Named};
use super::seen::{Key, Seen};
use super::words::IMMUTABLE;
use super::{sources, volumes};

const MAX_SIZE: usize = 256 << 10;

fn size(map: &Field) -> usize {
    let of = |(key, value): (&str, &json::Value)| key.len() + value.as_str().map_or(0, str::len);
    map.pairs().map(of).sum()
}

fn parameters(e: &mut Errors, it: &Field, may_be_empty: bool) {
    if it.len() > 512 {
        return e.too_long(it, 512);
    }
    if it.pairs().any(|(key, _)| key.is_empty()) {
        e.invalid_value(it, "", "field can not be empty.");
    }
    if size(it) > MAX_SIZE {
        e.too_long(it, MAX_SIZE);
    }
    if !may_be_empty && it.is_empty() {
        e.required(it, "must contain at least one key/value pair");
    }
}

fn provisioner(e: &mut Errors, it: &Field) {
    let lower = it.str().to_lowercase();
    for wrong in names::qualified_name(&lower) {
        e.invalid_value(it, lower.as_str(), &wrong);
    }
}

pub(crate) mod classes {
    //! `StorageClass`

    use super::{Errors, Field, Key, Named, Seen, object_meta, parameters, provisioner};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let by = it.child("provisioner");
        if by.is_empty() {
            e.late(|e| e.required(&by, ""));
        } else {
            provisioner(e, &by);
        }
        parameters(e, &it.child("parameters"), true);
        let policy = it.child("reclaimPolicy");
        if !policy.is_empty() {
            e.one_of(&policy, &["Delete", "Retain"]);
        }
        let mode = it.child("volumeBindingMode");
        if mode.is_set() {
            e.one_of(&mode, &["Immediate", "WaitForFirstConsumer"]);
        } else {
            e.required(&mode, "");
        }
        topologies(e, &it.child("allowedTopologies"));
    }

    fn topologies(e: &mut Errors, all: &Field) {
        let mut terms = Seen::default();
        for term in all.items() {
            let expressions = term.child("matchLabelExpressions");
            let mut keys = Seen::default();
            for it in expressions.items() {
                let (values, key) = (it.child("values"), it.child("key"));
                if values.is_empty() {
                    e.required(&values, "");
                }
                let mut seen = Seen::default();
                for value in values.items() {
                    if !seen.insert(Key::from(value.value)) {
                        e.duplicate(&value);
                    }
                }
                e.qualified_name(&key);
                if !keys.insert(it.text("key")) {
                    e.duplicate(&key);
                }
            }
            if !terms.insert(Key::from(term.value)) {
                e.duplicate_value(&expressions, "");
            }
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        e.late(|e| {
            for name in [
                "provisioner",
                "parameters",
                "reclaimPolicy",
                "volumeBindingMode",
            ] {
                e.unchanged(&new.child(name), &old.child(name));
            }
        });
    }
}

pub(crate) mod attachments {
    //! `VolumeAttachment`

    use super::{Errors, Field, MAX_SIZE, Named, names, object_meta, size, volumes};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let (spec, status) = (it.child("spec"), it.child("status"));
        let attacher = spec.child("attacher");
        e.late(|e| {
            if e.required_text(&attacher) {
                e.invalid_all(&attacher, names::dns1123_subdomain_caseless(attacher.str()));
                if attacher.len() > 63 {
                    e.push(meta::field::Error::too_long_characters(attacher.path, 63));
                }
            }
        });
        let source = spec.child("source");
        let (inline, name) = (
            source.child("inlineVolumeSpec"),
            source.child("persistentVolumeName"),
        );
        let one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
        match (inline.is_set(), name.is_set()) {
            (false, false) => e.required(&source, one),
            (true, true) => e.forbidden(&source, one),
            (false, true) => {
                if name.is_empty() {
                    e.required(&name, "must specify non empty persistentVolumeName");
                }
            }
            (true, false) => volumes::spec(e, &inline, "", true),
        }
        e.dns_subdomain(&spec.child("nodeName"));
        let said = status.child("attachmentMetadata");
        if size(&said) > MAX_SIZE {
            e.too_long(&said, MAX_SIZE);
        }
        for error in ["attachError", "detachError"] {
            let error = status.child(error);
            if error.text("message").len() > 1024 {
                e.too_long(&error.child("message"), 1024);
            }
            let code = error.child("errorCode");
            if code.int() < 0 {
                e.invalid(&code, "must be between 0 and 2147483647, inclusive");
            }
        }
        if name.is_set() {
            e.dns_subdomain(&name);
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        create(e, new);
        e.late(|e| e.unchanged(&new.child("spec"), &old.child("spec")));
    }
}

pub(crate) mod nodes {
    //! `CSINode`

    use super::{
        Errors, Field, HashMap, IMMUTABLE, Named, Seen, names, object_meta, sources, text,
    };

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let all = it.children(&["spec", "drivers"]);
        let mut seen = Seen::default();
        for driver in all.items() {
            let (name, id) = (driver.child("name"), driver.child("nodeID"));
            sources::csi_driver_name(e, &name);
            e.required_text(&id);
            if id.len() > 256 {
                e.invalid(&id, "must be 256 characters or less");
            }
            e.non_negative(&driver.children(&["allocatable", "count"]));
            if !seen.insert(driver.text("name")) {
                e.duplicate(&name);
            }
            let mut keys = Seen::default();
            for key in driver.child("topologyKeys").texts() {
                if key.is_empty() {
                    e.required(&driver, "");
                }
                if !keys.insert(key) {
                    e.duplicate_value(&driver, key);
                }
                for wrong in names::qualified_name(key) {
                    e.invalid_value(&driver, key, &wrong);
                }
            }
        }
    }

    /// How much a driver has may change.
    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        create(e, new);
        let all = new.children(&["spec", "drivers"]);
        let mut by_name: HashMap<&str, Vec<&json::Value>> = HashMap::new();
        for it in all.list() {
            by_name.entry(text(it, "name")).or_default().push(it);
        }
        let mut seen = Seen::default();
        for was in old.children(&["spec", "drivers"]).list() {
            // Stored drivers have different names.
            if !seen.insert(text(was, "name")) {
                continue;
            }
            let found = by_name.get(text(was, "name"));
            for it in found.into_iter().flatten().copied() {
                let without = |value: &json::Value| {
                    let mut value = value.clone();
                    if let Some(object) = value.as_object_mut() {
                        object.remove("allocatable");
                    }
                    value
                };
                let (it, was) = (without(it), without(was));
                if !e.same_at(&all.item(0), &it, &was) {
                    e.invalid(&all.with(&it), IMMUTABLE);
                }
            }
        }
    }
}

pub(crate) mod drivers {
    //! `CSIDriver`

    use super::{Errors, Field, Named, Seen, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        spec(e, &it.child("spec"));
    }

    fn spec(e: &mut Errors, it: &Field) {
        let mut needed = |name: &str, reported: &str| {
            if !it.has(name) {
                e.required(&it.child(reported), "");
            }
        };
        needed("attachRequired", "attachedRequired");
        needed("podInfoOnMount", "podInfoOnMount");
        needed("storageCapacity", "storageCapacity");
        let policy = it.child("fsGroupPolicy");
        e.optional_one_of(&policy, &["File", "None", "ReadWriteOnceWithFSType"]);
        let requests = it.child("tokenRequests");
        let mut seen = Seen::default();
        for request in requests.items() {
            let audience = request.child("audience");
            if !seen.insert(request.text("audience")) {
                e.duplicate(&audience);
                continue;
            }
            let seconds = request.child("expirationSeconds");
            match seconds.opt_int() {
                Some(..600) => {
                    e.invalid(&seconds, "may not specify a duration less than 10 minutes");
                }
                Some(it) if it > 1 << 32 => {
                    e.invalid(
                        &seconds,
                        "may not specify a duration larger than 2^32 seconds",
                    );
                }
                _ => {}
            }
        }
        let modes = it.child("volumeLifecycleModes");
        for mode in modes.list() {
            e.one_of(&modes.with(mode), &["Persistent", "Ephemeral"]);
        }
        let linux = it.child("seLinuxMount");
        if !linux.is_set() {
            e.required(&linux, "");
        }
        let period = it.child("nodeAllocatableUpdatePeriodSeconds");
        if period.opt_int().is_some_and(|it| it < 10) {
            e.invalid(&period, "must be greater than or equal to 10 seconds");
        }
        let tokens = it.child("serviceAccountTokenInSecrets");
        if tokens.is_set() && requests.is_empty() {
            let text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
            e.invalid(&tokens, text);
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        let (it, was) = (new.child("spec"), old.child("spec"));
        spec(e, &it);
        let attach = "attachRequired";
        if !e.same(&it.child(attach), &was.child(attach)) {
            let attach = it.child_as(attach, "attachedRequired");
            e.invalid(&attach, super::IMMUTABLE);
        }
        let modes = "volumeLifecycleModes";
        e.immutable(&it.child(modes), &was.child(modes));
    }
}

pub(crate) mod capacities {
    //! `CSIStorageCapacity`

    use super::{Errors, Field, Named, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        e.label_selector(&it.child("nodeTopology"));
        e.dns_subdomain(&it.child("storageClassName"));
        e.non_negative_quantity(&it.child("capacity"));
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        for name in ["nodeTopology", "storageClassName"] {
            e.immutable(&new.child(name), &old.child(name));
        }
    }
}

pub(crate) mod attribute_classes {
    //! `VolumeAttributesClass`

    use super::{Errors, Field, Named, object_meta, parameters, provisioner};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let driver = it.child("driverName");
        if e.required_text(&driver) {
            provisioner(e, &driver);
        }
        parameters(e, &it.child("parameters"), false);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        for name in ["driverName", "parameters"] {
            let it = new.child(name);
            if !e.same(&it, &old.child(name)) {
                e.forbidden(&it, &format!("updates to {name} are forbidden."));
            }
        }
        create(e, new);
    }
}
