//! What each feature needs done to be turned on and off. A feature author adds a line to [`OWN`], or a row to the tables of gated fields
//! and resources, from which the rest follows.

use std::collections::BTreeMap;

use apiserver::local;
use features::lifecycle::Plan;

/// What no table tells.
const OWN: &[(&str, &[&str], &[&str])] = &[
    // A new volume source: pods that use it keep running, and somebody has to delete them.
    (
        "ImageVolume",
        &[],
        &["wait-absent(pods:spec.volumes[].image)"],
    ),
    // Served as a custom resource while the feature is on.
    (
        "StorageVersionAPI",
        &["ensure-crd(storageversions.internal.apiserver.k8s.io)"],
        &["delete-crd(storageversions.internal.apiserver.k8s.io)"],
    ),
];

/// The plans of all gates that have any task of their own.
#[derive(Debug)]
pub(super) struct Plans(BTreeMap<String, Plan>);

impl Plans {
    pub(super) fn new() -> Self {
        let mut all: BTreeMap<String, Plan> = BTreeMap::new();
        for (gate, concerned) in local::concerned() {
            let cleanup = &mut all.entry(gate.to_owned()).or_default().cleanup;
            for it in &concerned {
                if it.has_fields {
                    cleanup.push(format!("strip-field({})", it.resource));
                }
            }
            for it in concerned.iter().filter(|it| it.has_values) {
                cleanup.push(format!("wait-absent({})", it.resource));
            }
        }
        for (gate, resource) in local::collections() {
            let cleanup = &mut all.entry(gate.to_owned()).or_default().cleanup;
            let task = format!("delete-collection({resource})");
            if !cleanup.contains(&task) {
                cleanup.push(task);
            }
        }
        for (gate, ensure, cleanup) in OWN {
            let plan = all.entry((*gate).to_owned()).or_default();
            plan.ensure.extend(ensure.iter().map(|it| (*it).to_owned()));
            plan.cleanup
                .extend(cleanup.iter().map(|it| (*it).to_owned()));
        }
        Self(all)
    }

    pub(super) fn of(&self, gate: &str) -> Plan {
        self.0.get(gate).cloned().unwrap_or_default()
    }
}

/// `strip-field(statefulsets.apps)` as its name and what it is about.
pub(super) fn parts(task: &str) -> (&str, &str) {
    let (name, rest) = task.split_once('(').unwrap_or((task, ""));
    (name, rest.trim_end_matches(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_own_lines_make_plans() {
        let plans = Plans::new();
        let cleanup = |gate: &str| plans.of(gate).cleanup;
        assert_eq!(
            cleanup("MaxUnavailableStatefulSet"),
            ["strip-field(statefulsets.apps)"]
        );
        assert_eq!(
            cleanup("StatefulSetRecreateStrategy"),
            ["wait-absent(statefulsets.apps)"]
        );
        let bundles = "delete-collection(clustertrustbundles.certificates.k8s.io)";
        assert!(cleanup("ClusterTrustBundle").contains(&bundles.to_owned()));
        assert_eq!(
            cleanup("ImageVolume"),
            ["wait-absent(pods:spec.volumes[].image)"]
        );
        assert_eq!(plans.of("StorageVersionAPI").ensure.len(), 1);
        assert_eq!(plans.of("APIServingWithRoutine"), Plan::default());
        assert_eq!(parts("wait-absent(pods:a.b)"), ("wait-absent", "pods:a.b"));
        assert_eq!(parts("wait-uses"), ("wait-uses", ""));
    }
}
