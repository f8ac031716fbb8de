//! Feature gates and versions in effect, as upstream shows them.

use features::{Settings, Stage};
use telemetry::metrics::{Desc, Registry, Stability};

/// `kubernetes_feature_enabled` of every gate that exists at the emulated version, and `version_info`.
pub(crate) fn register(registry: &Registry, settings: &Settings<'_>) {
    let gates = settings.iter();
    let gates = gates.filter(|(_, state)| state.spec.stage != Stage::PreAlpha);
    let gates: Vec<(Vec<String>, f64)> = gates
        .map(|(gate, state)| {
            let stage = state.spec.stage.prerelease().to_owned();
            let labels = vec![gate.name.clone(), stage];
            (labels, f64::from(u8::from(state.enabled)))
        })
        .collect();
    let enabled = Desc::new(
        "kubernetes_feature_enabled",
        Stability::Beta,
        "This metric records the data about the stage and enablement of a k8s feature.",
    );
    registry.observe_gauge(enabled, &["name", "stage"], move || gates.clone());

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
