//! The defaults that decoding fills in.
//!
//! Rules are tables (one row per field) and a few small functions, for the feature gates as they stand in 1.37. Applying
//! them twice changes nothing.

mod admission;
mod cluster;
mod core;
mod device;
mod image;
mod pod;
mod rule;
mod workload;

#[cfg(test)]
mod tests;

use json::Value;

use rule::{Rule, run};
pub(crate) use rule::{each, is_zero, made};

/// Fills in what a client left out. Kinds without defaults, and values that are no objects, stay as they are.
pub fn apply(group: &str, version: &str, kind: &str, object: &mut Value) {
    if let Some(object) = object.as_object_mut()
        && let Some(rules) = rules(group, version, kind)
    {
        run(rules, object);
    }
}

pub use device::stamp;

fn rules(group: &str, version: &str, kind: &str) -> Option<&'static [Rule]> {
    match group {
        "" => core::rules(kind),
        "apps" | "batch" => workload::rules(kind),
        "admissionregistration.k8s.io" => admission::rules(version, kind),
        "resource.k8s.io" => device::rules(version, kind),
        _ => cluster::rules(group, version, kind),
    }
}
