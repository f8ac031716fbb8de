//! Feature gates and the version to emulate.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use features::{Flags, Registry, Selection, Settings, Warning};
use pilothouse::server::Options;
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

/// How features live in the API.
#[derive(Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct FeatureLife {
    /// Features that the API may set while the server runs: NAMESPACE/NAME or NAMESPACE/*,...
    #[arg(long, value_name = "FEATURES")]
    dynamic_features: Vec<String>,
    /// Features that other components read from the API: NAMESPACE/NAME or NAMESPACE/*,...
    #[arg(long, value_name = "FEATURES")]
    central_features: Vec<String>,
    /// Names features, a line each, that are off at once whatever else is set; the file may change
    #[arg(long, value_name = "FILE")]
    feature_kill_switch_file: Option<PathBuf>,
    /// What this server is called among others; by its address if it is not given
    #[arg(long, value_name = "NAME")]
    apiserver_identity: Option<String>,
}

impl FeatureLife {
    pub(crate) fn apply(&self, options: &mut Options) -> anyhow::Result<()> {
        let selection = |flag: &str, values: &[String]| {
            Selection::parse(values).map_err(|error| anyhow!("--{flag}: {error}"))
        };
        options.settings.dynamic_features = selection("dynamic-features", &self.dynamic_features)?;
        options.features.central = selection("central-features", &self.central_features)?;
        options
            .features
            .kill_switch
            .clone_from(&self.feature_kill_switch_file);
        options.identity.clone_from(&self.apiserver_identity);
        Ok(())
    }
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
