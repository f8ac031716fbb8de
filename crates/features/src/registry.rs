//! Which feature gates there are.

mod check;
mod json;
mod table;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use self::table::position;
use crate::{Error, Stage, Version};

/// Every gate that a binary knows, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    version: Version,
    gates: Vec<FeatureGate>,
}

/// The place of a gate in its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gate(u16);

/// A gate of [`Registry::kubernetes`] by its name; a name that is not there does not compile.
#[macro_export]
macro_rules! gate {
    ($name:literal) => {
        const { $crate::Gate::named($name) }
    };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGate {
    pub name: String,
    /// The Go module that declares the gate, `kube` for Kubernetes itself.
    pub library: String,
    /// In the order of their versions.
    pub specs: Vec<FeatureSpec>,
    /// Gates that must be on if this one is on, sorted by name.
    pub depends_on: Vec<String>,
}

/// What holds for a gate from a version on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureSpec {
    pub version: Version,
    pub stage: Stage,
    pub default: bool,
    /// It cannot be set to anything but its default.
    pub locked: bool,
    /// The spec counts only if no control plane component is older than this.
    pub min_compatibility: Option<Version>,
}

/// Turns on every alpha gate that is not set by name.
pub(crate) const ALL_ALPHA: &str = "AllAlpha";
/// Turns on every beta gate that is not set by name.
pub(crate) const ALL_BETA: &str = "AllBeta";

impl Registry {
    /// The gates of Kubernetes, in the version whose API this program serves.
    pub fn kubernetes() -> &'static Self {
        static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
            table::parse(table::GATES).expect("the committed table was checked by a test")
        });
        &REGISTRY
    }

    /// A registry of your own; `AllAlpha` and `AllBeta` are added. Checks what `AddVersioned` and `AddDependencies` check.
    pub fn new(
        version: Version,
        gates: impl IntoIterator<Item = FeatureGate>,
    ) -> Result<Self, Error> {
        let mut all: BTreeMap<String, FeatureGate> = BTreeMap::new();
        let special = [
            special(ALL_ALPHA, Stage::Alpha),
            special(ALL_BETA, Stage::Beta),
        ];
        for gate in special.into_iter().chain(gates) {
            let gate = check::completed(gate)?;
            match all.get(&gate.name) {
                Some(known) if known.specs == gate.specs => {}
                Some(_) => {
                    return Err(Error::Declaration(format!(
                        "feature gate {} with different spec already exists",
                        meta::go::quote(&gate.name)
                    )));
                }
                None => {
                    all.insert(gate.name.clone(), gate);
                }
            }
        }
        check::dependencies(&all)?;
        if u16::try_from(all.len()).is_err() {
            return Err(Error::Registry("more than 65535 gates".to_owned()));
        }
        Ok(Self {
            version,
            gates: all.into_values().collect(),
        })
    }

    /// The version of the binary that has these gates.
    pub fn version(&self) -> Version {
        self.version
    }

    pub fn gates(&self) -> &[FeatureGate] {
        &self.gates
    }

    pub fn find(&self, name: &str) -> Option<Gate> {
        let found = self.gates.binary_search_by(|it| it.name.as_str().cmp(name));
        found.ok().and_then(|at| u16::try_from(at).ok()).map(Gate)
    }

    pub fn get(&self, gate: Gate) -> Option<&FeatureGate> {
        self.gates.get(gate.index())
    }

    pub fn by_name(&self, name: &str) -> Option<&FeatureGate> {
        self.get(self.find(name)?)
    }
}

impl Gate {
    /// For [`gate!`]: fails where a constant is evaluated, that is at compile time.
    #[doc(hidden)]
    pub const fn named(name: &str) -> Self {
        match position(name) {
            Some(at) => Self(at),
            None => panic!("Kubernetes has no feature gate of this name"),
        }
    }

    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FeatureGate {
    /// What holds at an emulated version, with components not older than the minimum compatibility version.
    pub fn spec_at(&self, emulation: Version, min_compatibility: Version) -> FeatureSpec {
        let holds = |spec: &&FeatureSpec| {
            spec.version <= emulation
                && spec
                    .min_compatibility
                    .is_none_or(|min| min <= min_compatibility)
        };
        let found = self.specs.iter().rev().find(holds);
        found.copied().unwrap_or(FeatureSpec::ABSENT)
    }

    /// Whether this is `AllAlpha` or `AllBeta`.
    pub fn is_special(&self) -> bool {
        self.name == ALL_ALPHA || self.name == ALL_BETA
    }
}

impl FeatureSpec {
    /// Before the first spec.
    const ABSENT: Self = Self {
        version: Version::new(0, 0),
        stage: Stage::PreAlpha,
        default: false,
        locked: false,
        min_compatibility: None,
    };
}

fn special(name: &str, stage: Stage) -> FeatureGate {
    FeatureGate {
        name: name.to_owned(),
        library: "kube".to_owned(),
        specs: vec![FeatureSpec {
            stage,
            ..FeatureSpec::ABSENT
        }],
        depends_on: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_gates_of_kubernetes_are_there() {
        let registry = Registry::kubernetes();
        let gates = registry.gates().iter().filter(|it| !it.is_special());
        assert_eq!(gates.count(), 252);
        assert_eq!(registry.version(), Version::new(1, 37));
    }

    #[test]
    fn a_gate_by_name_is_the_gate_of_the_registry() {
        let registry = Registry::kubernetes();
        for gate in registry.gates() {
            let found = registry.find(&gate.name).expect("it is there");
            assert_eq!(position(&gate.name).map(Gate), Some(found));
        }
        assert_eq!(position("AllAlph"), None);
        assert_eq!(position("version"), None);
        assert_eq!(
            registry.find("NodeSwap"),
            Some(const { Gate::named("NodeSwap") })
        );
    }
}
