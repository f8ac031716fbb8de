//! Names of signers and of the bundles of trust that belong to them.

use meta::go::quote;
use meta::names;

use super::errors::Errors;
use super::field::Field;
use super::seen::{Key, Seen};

pub(super) fn is_kubernetes_signer(name: &str) -> bool {
    let host = name.split('/').next().unwrap_or_default();
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}

/// `example.com/signer-name`
pub(super) fn signer_name(e: &mut Errors, it: &Field) {
    let text = it.str();
    if !e.required_text(it) {
        return;
    }
    let Some((domain, path)) = text.split_once('/').filter(|(_, path)| !path.contains('/')) else {
        let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return e.invalid(it, why);
    };
    if domain.len() > 253 {
        e.too_long(it, 253);
    }
    parts(e, it, domain, names::dns1123_label);
    if !domain.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        e.invalid_value(it, domain, why);
    }
    parts(e, it, path, names::dns1123_subdomain);
    if text.len() > 253 + 253 + 63 + 2 {
        e.too_long(it, 253 + 253 + 63 + 2);
    }
}

/// The first part that is wrong speaks for all.
fn parts(e: &mut Errors, it: &Field, text: &str, rule: fn(&str) -> Vec<String>) {
    for part in text.split('.') {
        let wrong = rule(part);
        for wrong in &wrong {
            e.invalid_value(
                it,
                text,
                &format!("validating label {}: {wrong}", quote(part)),
            );
        }
        if !wrong.is_empty() {
            return;
        }
    }
}

/// With a signer, the name begins with the signer's; without, and with a colon, the name says which signer.
pub(super) fn trust_bundle_name(name: &str, signer: Option<&str>) -> Vec<String> {
    let said = name
        .rsplit_once(':')
        .map(|(signer, _)| signer.replace(':', "/"));
    let Some(signer) = signer.map(str::to_owned).or(said) else {
        return names::name_is_dns_subdomain(name, false);
    };
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => names::name_is_dns_subdomain(rest, false),
        None => vec![format!(
            "ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        )],
    }
}

pub(super) fn domain_prefixed_key(e: &mut Errors, at: &Field, key: &str) {
    e.push_all(names::domain_prefixed_key(&at.path, key));
}

pub(crate) mod requests {
    //! `CertificateSigningRequest`. What is requested is parsed where it is signed.

    use json::Value;

    use super::{Errors, Field, Key, Seen, signer_name};
    use crate::validate::diff::diff;
    use crate::validate::field::text;
    use crate::validate::object_meta::{self, Named};

    const USAGES: &[&str] = &[
        "any",
        "cert sign",
        "client auth",
        "code signing",
        "content commitment",
        "crl sign",
        "data encipherment",
        "decipher only",
        "digital signature",
        "email protection",
        "encipher only",
        "ipsec end system",
        "ipsec tunnel",
        "ipsec user",
        "key agreement",
        "key encipherment",
        "microsoft sgc",
        "netscape sgc",
        "ocsp signing",
        "s/mime",
        "server auth",
        "signing",
        "timestamping",
    ];

    fn any_name(_: &str, _: bool) -> Vec<String> {
        Vec::new()
    }

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::cluster(any_name));
        let spec = it.child("spec");
        let (request, usages) = (spec.child("request"), spec.child("usages"));
        if request.is_empty() {
            e.invalid_value(&request, "", "PEM block type must be CERTIFICATE REQUEST");
        }
        if usages.is_empty() {
            e.required(&usages, "");
        }
        for usage in usages.items() {
            e.one_of(&usage, USAGES);
        }
        let mut seen = Seen::default();
        for usage in usages.items() {
            if !seen.insert(Key::from(usage.value)) {
                e.duplicate(&usage);
            }
        }
        let signer = spec.child("signerName");
        if signer.str() == "kubernetes.io/legacy-unknown" {
            e.invalid(
                &signer,
                "the legacy signerName is not allowed via this API version",
            );
        } else {
            signer_name(e, &signer);
        }
        let expiry = spec.child("expirationSeconds");
        if expiry.opt_int().is_some_and(|it| it < 600) {
            e.invalid(
                &expiry,
                "may not specify a duration less than 600 seconds (10 minutes)",
            );
        }
        conditions(e, &it.children(&["status", "conditions"]));
    }

    fn conditions(e: &mut Errors, all: &Field) {
        let mut seen = Seen::default();
        for it in all.items() {
            let (kind, status) = (it.child("type"), it.child("status"));
            e.required_text(&kind);
            let only_true = matches!(kind.str(), "Approved" | "Denied" | "Failed");
            let supported: &[&str] = if only_true {
                &["True"]
            } else {
                &["False", "True", "Unknown"]
            };
            e.required_one_of(&status, supported);
            if !seen.insert(it.text("type")) {
                e.duplicate(&kind);
            }
        }
        let has = |kind: &str| all.items().any(|it| it.text("type") == kind);
        if has("Approved") && has("Denied") {
            e.late(|e| {
                let shown = "{conditions[{\"type\": \"Approved\"}], conditions[{\"type\": \"Denied\"}]}";
                let why = "must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`";
                e.invalid_value(all, shown, why);
            });
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        changed(e, new, old, false, false);
    }

    pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
        changed(e, new, old, false, true);
    }

    pub(crate) fn approve(e: &mut Errors, new: &Field, old: &Field) {
        changed(e, new, old, true, false);
    }

    fn changed(e: &mut Errors, new: &Field, old: &Field, may_approve: bool, may_certify: bool) {
        create(e, new);
        let at = ["status", "conditions"];
        let (all, had) = (new.children(&at), old.children(&at));
        let of = |list: &Field, kind: &str| -> Vec<Value> {
            list.list()
                .iter()
                .filter(|it| text(it, "type") == kind)
                .cloned()
                .collect()
        };
        for kind in ["Approved", "Denied", "Failed"] {
            if of(&all, kind).len() < of(&had, kind).len() {
                let why = format!("updates may not remove a condition of type \"{kind}\"");
                e.forbidden(&all, &why);
            }
        }
        for kind in ["Approved", "Denied"].iter().filter(|_| !may_approve) {
            let (now, before) = (of(&all, kind), of(&had, kind));
            if now.len() > before.len() {
                let why = format!("updates may not add a condition of type \"{kind}\"");
                e.forbidden(&all, &why);
            } else if now.len() == before.len() && now != before {
                let diff = diff(&Value::Array(before), &Value::Array(now));
                let why = format!("updates may not modify a condition of type \"{kind}\"\n{diff}");
                e.forbidden(&all, &why);
            }
        }
        let at = ["status", "certificate"];
        let (certificate, was) = (new.children(&at), old.children(&at));
        if certificate.str() != was.str() {
            if !may_certify {
                e.forbidden(&certificate, "updates may not set certificate content");
            } else if !was.is_empty() {
                e.forbidden(
                    &certificate,
                    "updates may not modify existing certificate content",
                );
            }
        }
        object_meta::update(e, new, old);
    }
}
