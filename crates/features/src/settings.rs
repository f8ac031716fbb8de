//! What the flags make of a registry.

use std::collections::BTreeMap;

use crate::registry::{ALL_ALPHA, ALL_BETA};
use crate::{Error, FeatureGate, FeatureSpec, Gate, Registry, Snapshot, Stage, Version, Warning};

/// The versions in effect and the value of every gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    registry: &'a Registry,
    emulation: Version,
    min_compatibility: Version,
    states: Vec<GateState>,
    warnings: Vec<Warning>,
}

/// A gate at the versions in effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateState {
    pub spec: FeatureSpec,
    pub enabled: bool,
    pub source: Source,
}

/// Who decided the value of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    Default,
    /// `--feature-gates`, by name or by `AllAlpha` or `AllBeta`.
    CommandLine,
    /// The API, for a component that reads its gates there.
    Central,
    /// The API, while the server runs.
    Dynamic,
}

impl Source {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "Default",
            Self::CommandLine => "CommandLine",
            Self::Central => "Central",
            Self::Dynamic => "Dynamic",
        }
    }
}

impl Settings<'static> {
    /// The gates of Kubernetes as they are without any flags.
    pub fn kubernetes() -> Self {
        let registry = Registry::kubernetes();
        let binary = registry.version();
        Self::defaults(registry, binary, binary.minus_minor(1))
    }
}

impl<'a> Settings<'a> {
    /// Every gate at its default.
    pub fn defaults(
        registry: &'a Registry,
        emulation: Version,
        min_compatibility: Version,
    ) -> Self {
        let states = registry.gates().iter().map(|gate| {
            let spec = gate.spec_at(emulation, min_compatibility);
            GateState {
                spec,
                enabled: spec.default,
                source: Source::Default,
            }
        });
        Self {
            registry,
            emulation,
            min_compatibility,
            states: states.collect(),
            warnings: Vec::new(),
        }
    }

    /// Sets gates by name, as upstream's `SetFromMap` does: all or nothing.
    ///
    /// Upstream walks a map in random order and stops at the first unknown gate; here the order is that of the names.
    pub fn set(&mut self, values: &BTreeMap<String, bool>) -> Result<(), Error> {
        let mut next = self.clone();
        next.set_each(values)?;
        next.check_dependencies()?;
        *self = next;
        Ok(())
    }

    /// Sets what can be set, whether or not dependencies are on.
    pub(crate) fn set_each(&mut self, values: &BTreeMap<String, bool>) -> Result<(), Error> {
        let mut errors = Vec::new();
        for (name, &value) in values {
            match self.set_one(name, value) {
                Ok(()) => {}
                Err(unknown @ Error::UnrecognizedGate(_)) => {
                    errors.push(unknown);
                    return Error::from_all(errors);
                }
                Err(error) => errors.push(error),
            }
        }
        // A gate that is named keeps its value, wherever it stands in the flag.
        for (special, stage) in [(ALL_ALPHA, Stage::Alpha), (ALL_BETA, Stage::Beta)] {
            if let Some(&value) = values.get(special) {
                self.set_stage(stage, value, values);
            }
        }
        Error::from_all(errors)
    }

    fn set_one(&mut self, name: &str, value: bool) -> Result<(), Error> {
        let gate = self.registry.find(name);
        let Some(state) = gate.and_then(|it| self.states.get_mut(it.index())) else {
            return Err(Error::UnrecognizedGate(name.to_owned()));
        };
        let gate = name.to_owned();
        if state.spec.locked && state.spec.default != value {
            return Err(Error::Locked { gate, value });
        }
        match state.spec.stage {
            Stage::PreAlpha => {
                return Err(Error::PreAlpha {
                    gate,
                    value,
                    emulation: self.emulation,
                    min_compatibility: self.min_compatibility,
                });
            }
            Stage::Deprecated => self.warnings.push(Warning::Deprecated { gate, value }),
            Stage::Ga => self.warnings.push(Warning::Ga { gate, value }),
            Stage::Alpha | Stage::Beta => {}
        }
        state.enabled = value;
        state.source = Source::CommandLine;
        Ok(())
    }

    fn set_stage(&mut self, stage: Stage, value: bool, named: &BTreeMap<String, bool>) {
        let gates = self.registry.gates().iter().zip(&mut self.states);
        let unset = |gate: &FeatureGate| !gate.is_special() && !named.contains_key(&gate.name);
        for (_, state) in gates.filter(|(gate, state)| state.spec.stage == stage && unset(gate)) {
            state.enabled = value;
            state.source = Source::CommandLine;
        }
    }

    pub(crate) fn check_dependencies(&self) -> Result<(), Error> {
        let enabled = |name: &str| {
            let gate = self.registry.find(name);
            gate.is_some_and(|it| self.enabled(it))
        };
        let mut errors = Vec::new();
        for (gate, _) in self.iter().filter(|(_, state)| state.enabled) {
            let disabled = gate.depends_on.iter().filter(|it| !enabled(it));
            let disabled: Vec<String> = disabled.cloned().collect();
            if !disabled.is_empty() {
                errors.push(Error::DisabledDependencies {
                    gate: gate.name.clone(),
                    disabled,
                });
            }
        }
        Error::from_all(errors)
    }

    /// Upstream's warning if alpha features are on although an earlier version than the binary's is emulated.
    pub(crate) fn warn_of_emulated_alpha(&mut self) {
        if self.registry.version() <= self.emulation {
            return;
        }
        let on = self.iter();
        let on = on.filter(|(_, state)| state.enabled && state.spec.stage == Stage::Alpha);
        let features: Vec<String> = on.map(|(gate, _)| gate.name.clone()).collect();
        if !features.is_empty() {
            self.warnings.push(Warning::EmulatedAlpha { features });
        }
    }

    pub fn registry(&self) -> &'a Registry {
        self.registry
    }

    pub fn emulation(&self) -> Version {
        self.emulation
    }

    pub fn min_compatibility(&self) -> Version {
        self.min_compatibility
    }

    /// What upstream would have logged.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    pub fn get(&self, gate: Gate) -> Option<GateState> {
        self.states.get(gate.index()).copied()
    }

    pub fn enabled(&self, gate: Gate) -> bool {
        self.get(gate).is_some_and(|it| it.enabled)
    }

    /// Every gate with its state, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'a FeatureGate, GateState)> + '_ {
        self.registry
            .gates()
            .iter()
            .zip(self.states.iter().copied())
    }

    /// The same gates with other values: what becomes of the name and the value of each.
    #[must_use]
    pub fn with(&self, value: impl Fn(&str, bool) -> bool) -> Self {
        let mut other = self.clone();
        for (gate, state) in self.registry.gates().iter().zip(&mut other.states) {
            state.enabled = value(&gate.name, state.enabled);
        }
        other
    }

    /// The values alone, for code that asks often.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.states.iter().map(|it| it.enabled))
    }
}
