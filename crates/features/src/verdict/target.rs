//! What the gates will be in the target.

use std::collections::BTreeMap;

use super::{Reason, ReasonCode, UpgradeReview, Verdict};
use crate::{Error, Flags, Settings, Stage};

pub(super) struct Target<'a>(Settings<'a>);

impl<'a> Target<'a> {
    /// Nothing if no registry is known for the target.
    pub(super) fn of(question: &UpgradeReview<'a>, reasons: &mut Vec<Reason>) -> Option<Self> {
        let version = question.target_version;
        let own = Some(question.current).filter(|it| version <= it.version());
        let Some(registry) = question.target_registry.or(own) else {
            let message = format!(
                "no registry of {version}: print it with `pilothouse features registry` of the new binary"
            );
            let reason = Reason::new("", ReasonCode::WillNotStart, message);
            reasons.push(reason.of(Verdict::Unknown));
            return None;
        };
        let mut settings = Settings::defaults(registry, version, version.minus_minor(1));
        match Flags::gates(question.target_feature_gates) {
            Ok(values) => set_possible(&mut settings, values, reasons),
            Err(error) => reasons.push(will_not_start("", &error)),
        }
        Some(Self(settings))
    }

    /// Nothing if the target does not know the gate.
    pub(super) fn enabled(&self, name: &str) -> Option<bool> {
        let gate = self.0.registry().find(name)?;
        let state = self.0.get(gate)?;
        (state.spec.stage != Stage::PreAlpha).then_some(state.enabled)
    }
}

/// Sets what can be set; each gate that cannot, and each dependency that is off, is a reason.
fn set_possible(
    settings: &mut Settings<'_>,
    mut values: BTreeMap<String, bool>,
    reasons: &mut Vec<Reason>,
) {
    // Each round takes away a gate: an unknown one hides those behind it.
    while let Err(error) = settings.set_each(&values) {
        for error in error.each() {
            if let Error::UnrecognizedGate(gate)
            | Error::Locked { gate, .. }
            | Error::PreAlpha { gate, .. } = error
                && values.remove(gate).is_some()
            {
                reasons.push(will_not_start(gate, error));
            }
        }
    }
    let broken = settings.check_dependencies().err();
    for error in broken.iter().flat_map(Error::each) {
        if let Error::DisabledDependencies { gate, disabled } = error {
            let reason = Reason::new(gate, ReasonCode::DependencyBroken, error.to_string());
            reasons.push(reason.with_blockers(disabled));
        }
    }
}

fn will_not_start(gate: &str, error: &Error) -> Reason {
    Reason::new(gate, ReasonCode::WillNotStart, error.to_string())
}
