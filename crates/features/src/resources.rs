//! Which resources a gate serves, and which came with a version that can be emulated without them.

use std::sync::LazyLock;

use crate::{Gate, Registry, Settings, Version};

/// A resource that is not always served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatedResource {
    /// `v1` or `apps/v1`
    pub api_version: &'static str,
    /// The plural, with the subresource behind it if the row is about one: `pods/resize`.
    pub resource: &'static str,
    pub since: Option<Version>,
    pub gate: Option<Gate>,
}

/// All of them.
pub fn resources() -> &'static [GatedResource] {
    static RESOURCES: LazyLock<Vec<GatedResource>> = LazyLock::new(|| {
        let lines = include_str!("../tables/resources.txt").lines();
        lines.filter_map(parse).collect()
    });
    &RESOURCES
}

fn parse(line: &'static str) -> Option<GatedResource> {
    let mut words = line.split(' ');
    let (api_version, resource) = (words.next()?, words.next()?);
    let (since, gate) = (words.next()?, words.next()?);
    (api_version != "#").then(|| GatedResource {
        api_version,
        resource,
        since: Version::parse(since).ok(),
        gate: Registry::kubernetes().find(gate),
    })
}

impl Settings<'_> {
    /// Whether a resource of Kubernetes, or a subresource (`pods/resize`), can be served: its gate is on, and the emulated
    /// version has it.
    pub fn serves(&self, api_version: &str, resource: &str) -> bool {
        let mut rows = resources().iter();
        let found = rows.find(|it| it.api_version == api_version && it.resource == resource);
        found.is_none_or(|it| {
            it.since.is_none_or(|since| since <= self.emulation())
                && it.gate.is_none_or(|gate| self.enabled(gate))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    fn settings(gates: &str, version: &str) -> Settings<'static> {
        let flags = Flags {
            feature_gates: vec![gates.to_owned()],
            emulated_version: vec![version.to_owned()],
            ..Flags::default()
        };
        flags.resolve(Registry::kubernetes()).expect("good flags")
    }

    #[test]
    fn every_row_is_read_and_names_a_gate_or_a_version() {
        let rows = include_str!("../tables/resources.txt").lines();
        let rows = rows.filter(|it| !it.starts_with('#')).count();
        assert_eq!(resources().len(), rows);
        for row in resources() {
            assert!(row.since.is_some() || row.gate.is_some(), "{row:?}");
        }
    }

    #[test]
    fn gates_and_versions_decide() {
        let (group, bundles) = ("certificates.k8s.io/v1", "clustertrustbundles");
        let newest = settings("", "1.37");
        assert!(newest.serves(group, bundles) && newest.serves("v1", "pods"));
        assert!(!newest.serves("lifecycle.k8s.io/v1alpha1", "evictions"));
        let off = settings(
            "ClusterTrustBundle=false,ClusterTrustBundleProjection=false",
            "1.37",
        );
        assert!(!off.serves(group, bundles));
        // The gate may be on: the version was not there.
        let old = settings("ClusterTrustBundle=true", "1.36");
        assert!(!old.serves(group, bundles));
        assert!(old.serves("certificates.k8s.io/v1beta1", bundles));
        assert!(old.serves("v1", "pods/resize"));
        assert!(!settings("InPlacePodVerticalScaling=false", "1.34").serves("v1", "pods/resize"));
    }
}
