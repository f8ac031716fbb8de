//! The defaults that decoding fills in.
//!
//! Rules are tables (one row per field) and a few small functions, for the feature gates as they stand in 1.37. Applying
//! them twice changes nothing.

pub(crate) mod admission;
pub(crate) mod cluster;
pub(crate) mod core;
pub(crate) mod device;
mod image;
pub(crate) mod pod;
mod rule;
pub(crate) mod workload;

#[cfg(test)]
mod tests;

use json::Value;

use rule::{Rule, run};
pub(crate) use rule::{each, is_zero, made};

/// Fills in what a client left out. Kinds without defaults, and values that are no objects, stay as they are.
pub fn apply(group: &str, version: &str, kind: &str, object: &mut Value) {
    crate::strategy::find(group, kind)
        .defaults
        .apply(version, object);
}

/// The defaults of a kind.
#[derive(Clone, Copy)]
pub(crate) enum Defaults {
    None,
    Always(&'static [Rule]),
    /// The rules of one version, and of all others.
    ByVersion(&'static str, &'static [Rule], &'static [Rule]),
}

impl Defaults {
    pub(crate) fn apply(self, version: &str, object: &mut Value) {
        if let Some(object) = object.as_object_mut()
            && let Some(rules) = self.rules(version)
        {
            run(rules, object);
        }
    }

    fn rules(self, version: &str) -> Option<&'static [Rule]> {
        match self {
            Self::None => None,
            Self::ByVersion(one, rules, _) if version == one => Some(rules),
            Self::Always(rules) | Self::ByVersion(_, _, rules) => Some(rules),
        }
    }
}

pub use device::stamp;
