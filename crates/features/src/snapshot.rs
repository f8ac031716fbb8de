//! Hot path. Whether a feature is on, for code that asks at every request.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::Gate;

const ENABLED: u8 = 1;
const QUERIED: u8 = 2;

/// The values of all gates of a registry, by the place of the gate: a byte for each.
#[derive(Debug)]
pub struct Snapshot {
    states: Box<[AtomicU8]>,
}

impl Snapshot {
    pub(crate) fn new(values: impl IntoIterator<Item = bool>) -> Self {
        let state = |it| AtomicU8::new(if it { ENABLED } else { 0 });
        Self {
            states: values.into_iter().map(state).collect(),
        }
    }

    /// Whether the feature is on. Remembers that it was asked, as upstream does. A gate of another registry is off.
    #[inline]
    pub fn enabled(&self, gate: Gate) -> bool {
        let Some(state) = self.states.get(gate.index()) else {
            return false;
        };
        let seen = state.load(Ordering::Relaxed);
        if seen & QUERIED == 0 {
            remember(state);
        }
        seen & ENABLED != 0
    }

    /// Sets a feature while others ask for it.
    pub fn set(&self, gate: Gate, enabled: bool) {
        if let Some(state) = self.states.get(gate.index()) {
            if enabled {
                state.fetch_or(ENABLED, Ordering::Relaxed);
            } else {
                state.fetch_and(!ENABLED, Ordering::Relaxed);
            }
        }
    }

    /// Whether [`Snapshot::enabled`] was ever asked about the gate.
    pub fn was_queried(&self, gate: Gate) -> bool {
        let state = self.states.get(gate.index());
        state.is_some_and(|it| it.load(Ordering::Relaxed) & QUERIED != 0)
    }
}

#[cold]
fn remember(state: &AtomicU8) {
    state.fetch_or(QUERIED, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use crate::{Flags, Registry, gate};

    #[test]
    fn asking_is_remembered_and_setting_keeps_it() {
        let settings = Flags::default().resolve(Registry::kubernetes());
        let gates = settings.expect("no flags").snapshot();
        let (swap, cbor) = (gate!("NodeSwap"), gate!("CBORServingAndStorage"));
        assert!(gates.enabled(swap) && !gates.enabled(cbor));
        assert!(!gates.was_queried(gate!("ImageVolume")));
        gates.set(cbor, true);
        assert!(gates.enabled(cbor) && gates.was_queried(cbor));
        gates.set(cbor, false);
        assert!(!gates.enabled(cbor) && gates.was_queried(cbor));
    }
}
