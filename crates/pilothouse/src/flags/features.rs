//! Feature gates and the version to emulate.

use clap::Args;
use features::{Flags, Registry, Settings, Warning};
use telemetry::logs::{self, Field, SERVER};

#[derive(Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct FeatureFlags {
    /// Gates to set, as kube-apiserver takes them: [kube:]GATE=true|false,...; may be repeated
    #[arg(long, value_name = "GATES", allow_hyphen_values = true)]
    feature_gates: Vec<String>,
    /// The version whose features and defaults count, as 1.35; three versions back at most
    #[arg(long, value_name = "VERSION", allow_hyphen_values = true)]
    emulated_version: Vec<String>,
    /// The oldest version of any control plane component; one before the emulated version by default
    #[arg(long, value_name = "VERSION", allow_hyphen_values = true)]
    min_compatibility_version: Vec<String>,
}

impl FeatureFlags {
    /// What the flags make of the gates of Kubernetes; kube-apiserver's error where it would refuse them.
    pub(crate) fn settings(&self) -> Result<Settings<'static>, features::Error> {
        let flags = Flags {
            feature_gates: self.feature_gates.clone(),
            emulated_version: self.emulated_version.clone(),
            min_compatibility_version: self.min_compatibility_version.clone(),
        };
        flags.resolve(Registry::kubernetes())
    }
}

/// Logs the warnings that kube-apiserver logs.
pub(crate) fn log_warnings(settings: &Settings<'_>) {
    for warning in settings.warnings() {
        match warning {
            Warning::Deprecated { gate, value } | Warning::Ga { gate, value } => {
                let fields = [
                    ("featureGate", Field::Text(gate)),
                    ("value", Field::Flag(*value)),
                ];
                logs::warning(&SERVER, warning.message(), &fields);
            }
            Warning::EmulatedAlpha { .. } => logs::warning(&SERVER, &warning.to_string(), &[]),
        }
    }
}
