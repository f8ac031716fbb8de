//! Nodes.

use json::Value;
use meta::names;

use super::errors::Errors;
use super::field::Field;
use super::go_form::go_form;
use super::ip;
use super::object_meta::{self, Named};
use super::pod::resources::quantity_value;
use super::pod::scheduling::TAINT_EFFECTS;
use super::seen::{Key, Seen};

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    let (metadata, spec) = (it.child("metadata"), it.child("spec"));
    taints(
        e,
        &metadata.child("taints").with(spec.child("taints").value),
    );
    resources(e, it);
    let swap = it.children(&["status", "nodeInfo", "swap", "capacity"]);
    if swap.is_set() {
        let at = metadata.child("nodeSwapStatus");
        e.positive(&at.child("capacity").with(swap.value));
    }
    features(e, &it.children(&["status", "declaredFeatures"]));
    let ranges = it.children(&["spec", "podCIDRs"]);
    for range in ranges.items() {
        e.cidr(&range, false);
    }
    if ranges.len() > 1 && (!ip::is_dual_stack(ranges.texts()) || ranges.len() > 2) {
        e.invalid(
            &ranges,
            "may specify no more than one CIDR for each IP family",
        );
    }
}

/// Also for its status, which has no rules of its own.
pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    resources(e, new);
    features(e, &new.children(&["status", "declaredFeatures"]));
    let addresses = new.children(&["status", "addresses"]);
    let mut seen = Seen::default();
    for address in addresses.items() {
        if !seen.insert(Key::from(address.value)) {
            e.duplicate(&address);
        }
    }
    let (ranges, had) = (
        new.children(&["spec", "podCIDRs"]),
        old.children(&["spec", "podCIDRs"]),
    );
    if !had.is_empty() {
        let text = "node updates may not change podCIDR except from \"\" to valid";
        if ranges.len() == had.len() {
            for _ in ranges
                .list()
                .iter()
                .zip(had.list())
                .filter(|(new, old)| new != old)
            {
                e.forbidden(&ranges, text);
            }
        } else {
            e.forbidden(&ranges, text);
        }
    }
    let provider = new.children(&["spec", "providerID"]);
    let was = old.child("spec").text("providerID");
    if !was.is_empty() && provider.str() != was {
        let text = if provider.is_empty() {
            "field cannot be cleared once set"
        } else {
            "field cannot be modified once set"
        };
        e.invalid_value(&provider, Value::Null, text);
    }
    let (metadata, spec) = (new.child("metadata"), new.child("spec"));
    taints(
        e,
        &metadata.child("taints").with(spec.child("taints").value),
    );
    if spec.text("externalID") != old.child("spec").text("externalID") {
        e.forbidden(&spec.child("externalID"), "may not be updated");
    }
}

/// Reported, as upstream does, below the metadata.
fn taints(e: &mut Errors, all: &Field) {
    let mut seen = Seen::default();
    for it in all.items() {
        e.qualified_name(&it.child("key"));
        let value = it.child("value");
        let wrong = names::label_value(value.str());
        if !wrong.is_empty() {
            e.invalid(&value, &wrong.join(";"));
        }
        e.required_one_of(&it.child("effect"), TAINT_EFFECTS);
        if !seen.insert((it.text("key"), it.text("effect"))) {
            e.push_with(|| {
                let mut error = meta::field::Error::duplicate(it.path, go_form("Taint", it.value));
                error.detail = "taints must be unique by key and effect pair".into();
                error
            });
        }
    }
}

fn resources(e: &mut Errors, it: &Field) {
    let status = it.child("status");
    for of in ["capacity", "allocatable"] {
        let all = status.child(of);
        for (name, _) in all.pairs() {
            quantity_value(e, &all.child(name), name);
        }
    }
}

fn features(e: &mut Errors, all: &Field) {
    for (index, it) in all.items().enumerate() {
        let name = it.str();
        let quoted = meta::go::quote(name);
        if name.len() > 253 {
            let why = format!("invalid feature name {quoted}: must be no more than 253 characters");
            e.invalid(&it, &why);
        } else if !is_feature(name) {
            let why = format!(
                "invalid feature name {quoted}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            );
            e.invalid(&it, &why);
        }
        let before = index.checked_sub(1).and_then(|at| all.list()[at].as_str());
        match before.map(|before| before.cmp(name)) {
            Some(std::cmp::Ordering::Equal) => e.duplicate(&it),
            Some(std::cmp::Ordering::Greater) => {
                e.invalid(&it, "list must be sorted alphabetically");
            }
            _ => {}
        }
    }
}

fn is_feature(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_uppercase())
        && name.split('/').all(|part| {
            part.starts_with(|it: char| it.is_ascii_alphabetic())
                && part.bytes().all(|it| it.is_ascii_alphanumeric())
        })
}
