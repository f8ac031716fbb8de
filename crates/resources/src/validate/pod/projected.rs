//! Projected volumes: files from several sources below one directory.

use std::collections::HashSet;

use super::volumes::{downward_file, key_to_path, mode};
use crate::validate::certificates;
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::paths;

pub(super) fn volume(e: &mut Errors, it: &Field) {
    mode(e, it, "defaultMode");
    e.user_id(&it.child("defaultUser"));
    let mut taken = HashSet::new();
    let sources = it.child("sources");
    for source in sources.items() {
        let mut count = 0;
        for (name, rule) in SOURCES {
            let of = source.child(name);
            if of.is_set() {
                count += 1;
                rule(e, it, &of, &mut taken);
            }
        }
        if count > 1 {
            e.forbidden(
                &source,
                "may not specify more than 1 volume type per source",
            );
        }
    }
}

/// Paths that have a source.
type Taken = HashSet<String>;

type Rule = fn(&mut Errors, &Field, &Field, &mut Taken);

const SOURCES: &[(&str, Rule)] = &[
    ("secret", key_files),
    ("configMap", key_files),
    ("downwardAPI", downward),
    ("serviceAccountToken", token),
    ("clusterTrustBundle", trust_bundle),
    ("podCertificate", certificate),
];

/// The place of a file belongs to one source; the volume is blamed.
fn take(e: &mut Errors, volume: &Field, path: &str, blamed: &str, taken: &mut Taken) {
    if !taken.insert(path.to_owned()) {
        e.invalid_value(volume, blamed, "conflicting duplicate paths");
    }
}

fn key_files(e: &mut Errors, volume: &Field, it: &Field, taken: &mut Taken) {
    e.required_text(&it.child("name"));
    for item in it.child("items").items() {
        key_to_path(e, &item);
        if !item.text("path").is_empty() {
            take(e, volume, item.text("path"), it.text("name"), taken);
        }
    }
}

fn downward(e: &mut Errors, volume: &Field, it: &Field, taken: &mut Taken) {
    for file in it.child("items").items() {
        downward_file(e, &it.with(file.value));
        let path = file.text("path");
        if !path.is_empty() {
            take(e, volume, path, path, taken);
        }
    }
}

fn token(e: &mut Errors, volume: &Field, it: &Field, _: &mut Taken) {
    let seconds = it.child("expirationSeconds");
    match seconds.opt_int() {
        None => e.required(&seconds, ""),
        Some(..600) => e.invalid(&seconds, "may not specify a duration less than 10 minutes"),
        Some(it) if it > 1 << 32 => {
            e.invalid(
                &seconds,
                "may not specify a duration larger than 2^32 seconds",
            );
        }
        Some(_) => {}
    }
    let path = it.child("path");
    let at = volume.child("path");
    let at = at.with(path.value);
    if e.required_text(&at) {
        paths::local_non_reserved(e, &at);
    }
    e.user_id(&it.child("user"));
}

fn trust_bundle(e: &mut Errors, volume: &Field, it: &Field, taken: &mut Taken) {
    let (name, signer) = (it.child("name"), it.child("signerName"));
    let selector = it.child("labelSelector");
    match (name.is_set(), signer.is_set()) {
        (true, true) => e.invalid(it, "only one of name and signerName may be used"),
        (true, false) => {
            if name.is_empty() {
                e.required(&name, "must be a valid object name");
            }
            for wrong in certificates::trust_bundle_name(name.str(), None) {
                e.invalid(
                    &name,
                    &format!("not a valid clustertrustbundlename: {wrong}"),
                );
            }
            if selector.is_set() {
                e.invalid(
                    &selector,
                    "labelSelector must be unset if name is specified",
                );
            }
        }
        (false, true) => {
            if signer.is_empty() {
                e.required(&signer, "must be a valid signer name");
            }
            certificates::signer_name(e, &signer);
            e.label_selector(&selector);
        }
        (false, false) => e.required(it, "either name or signerName must be specified"),
    }
    let path = it.child("path");
    e.required_text(&path);
    e.user_id(&it.child("user"));
    paths::local_non_reserved(e, &path);
    take(e, volume, path.str(), path.str(), taken);
}

const KEY_TYPES: &[&str] = &[
    "RSA3072",
    "RSA4096",
    "ECDSAP256",
    "ECDSAP384",
    "ECDSAP521",
    "ED25519",
];

fn certificate(e: &mut Errors, volume: &Field, it: &Field, taken: &mut Taken) {
    let signer = it.child("signerName");
    certificates::signer_name(e, &signer);
    let annotations = it.child("userAnnotations");
    for (key, _) in annotations.pairs() {
        certificates::domain_prefixed_key(e, &annotations, &key.to_lowercase());
    }
    e.annotations_size(&annotations);
    e.user_id(&it.child("user"));
    e.one_of(&it.child("keyType"), KEY_TYPES);
    let expiry = it.child("maxExpirationSeconds");
    if let Some(seconds) = expiry.opt_int() {
        let max = if certificates::is_kubernetes_signer(signer.str()) {
            86_400
        } else {
            7_862_400
        };
        if seconds < 3600 {
            e.invalid(&expiry, "if provided, maxExpirationSeconds must be >= 3600");
        }
        if seconds > max {
            e.invalid(
                &expiry,
                &format!("if provided, maxExpirationSeconds must be <= {max}"),
            );
        }
    }
    let mut any = false;
    for name in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let path = it.child(name);
        if !path.is_empty() {
            any = true;
            paths::local_non_reserved(e, &path);
            take(e, volume, path.str(), path.str(), taken);
        }
    }
    if !any {
        let text =
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        e.required(it, text);
    }
}
