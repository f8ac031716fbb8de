//! Feature gates and versions in effect, as upstream shows them, and the life of features.

use std::sync::Arc;

use features::{Settings, Stage};
use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Family, Histogram, Registry, Stability, Unit};

use super::desc::own_metric;

labels!(pub(crate) Transition { name, state });
labels!(pub(crate) Task { task, outcome });

const BOUNDS: &[f64] = &[0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 600.0];

/// The series of features.
#[derive(Debug)]
pub struct FeatureSeries {
    transitions: Family<Transition<'static>, Counter>,
    tasks: Family<Task<'static>, Histogram>,
}

impl FeatureSeries {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            transitions: registry.counter(own_metric(
                "feature_transitions_total",
                "Changes of the state of features that this server led, by the state that began.",
            )),
            tasks: registry.histogram(
                own_metric(
                    "feature_task_duration_seconds",
                    "Attempts of tasks of transitions, or pages of them, by their outcome.",
                ),
                Unit::Seconds,
                BOUNDS,
            ),
        }
    }

    /// A state began.
    pub fn changed(&self, name: &str, state: &str) {
        self.transitions.with(&Transition { name, state }).inc();
    }

    pub fn ran(&self, task: &str, outcome: &str, took: std::time::Duration) {
        self.tasks.with(&Task { task, outcome }).observe(took);
    }
}

/// `kubernetes_feature_enabled` of every gate that exists at the emulated version, as it is in effect now, and `version_info`.
pub(crate) fn register(
    registry: &Registry,
    settings: &Settings<'static>,
    effective: impl Fn() -> Arc<Settings<'static>> + Send + Sync + 'static,
) {
    let enabled = Desc::new(
        "kubernetes_feature_enabled",
        Stability::Beta,
        "This metric records the data about the stage and enablement of a k8s feature.",
    );
    registry.observe_gauge(enabled, &["name", "stage"], move || {
        let settings = effective();
        let gates = settings.iter();
        let gates = gates.filter(|(_, state)| state.spec.stage != Stage::PreAlpha);
        let gates = gates.map(|(gate, state)| {
            let stage = state.spec.stage.prerelease().to_owned();
            let labels = vec![gate.name.clone(), stage];
            (labels, f64::from(u8::from(state.enabled)))
        });
        gates.collect()
    });

    let versions = vec![
        format!("{}.0", settings.registry().version()),
        "kube".to_owned(),
        settings.emulation().to_string(),
        settings.min_compatibility().to_string(),
    ];
    let info = Desc::new(
        "version_info",
        Stability::Alpha,
        "Provides the compatibility version info of the component. The component label is the name of the component, \
         usually kube, but is relevant for aggregated-apiservers.",
    );
    let names = &["binary", "component", "emulation", "min_compat"];
    registry.observe_gauge(info, names, move || vec![(versions.clone(), 1.0)]);
}
