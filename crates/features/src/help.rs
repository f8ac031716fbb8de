//! The options that the help of `--feature-gates` shows.

use crate::{FeatureGate, FeatureSpec, Registry, Stage, Version};

/// Upstream's `KnownFeatures`: gates that are neither GA, deprecated nor absent.
pub fn options(registry: &Registry, emulation: Version, min_compatibility: Version) -> Vec<String> {
    let gates = registry.gates().iter();
    let mut all: Vec<String> = gates
        .filter_map(|gate| {
            let usual = gate.spec_at(emulation, min_compatibility);
            let newest = gate.spec_at(emulation, emulation);
            let mut shown = option(gate, &usual).into_iter().collect::<Vec<_>>();
            if usual != newest {
                shown.extend(option(gate, &newest).map(|it| it + &condition(&newest)));
            }
            (!shown.is_empty()).then(|| shown.join(", or "))
        })
        .collect();
    all.sort_unstable();
    all
}

fn option(gate: &FeatureGate, spec: &FeatureSpec) -> Option<String> {
    let (stage, default) = (spec.stage, spec.default);
    let is_shown = matches!(stage, Stage::Alpha | Stage::Beta);
    is_shown.then(|| format!("{}=true|false ({stage} - default={default})", gate.name))
}

fn condition(spec: &FeatureSpec) -> String {
    let min = spec.min_compatibility;
    min.map_or_else(String::new, |it| {
        format!(" if --min-compatibility-version>={it}")
    })
}
