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

/// Sets what can be set; each gate that cannot is a reason.
fn set_possible(
    settings: &mut Settings<'_>,
    mut values: BTreeMap<String, bool>,
    reasons: &mut Vec<Reason>,
) {
    while let Err(error) = settings.set(&values) {
        let mut removed = 0;
        for error in error.each() {
            let (gate, reason) = match error {
                Error::UnrecognizedGate(gate)
                | Error::Locked { gate, .. }
                | Error::PreAlpha { gate, .. } => (gate, will_not_start(gate, error)),
                Error::DisabledDependencies { gate, disabled } => {
                    let code = ReasonCode::DependencyBroken;
                    let reason = Reason::new(gate, code, error.to_string());
                    (gate, reason.with_blockers(disabled))
                }
                _ => continue,
            };
            reasons.push(reason);
            removed += usize::from(values.remove(gate).is_some());
        }
        // A dependency that is broken by what others are set to.
        if removed == 0 {
            return;
        }
    }
}

fn will_not_start(gate: &str, error: &Error) -> Reason {
    Reason::new(gate, ReasonCode::WillNotStart, error.to_string())
}
