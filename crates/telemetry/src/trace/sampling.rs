//! Which requests are recorded, and whose word counts for that.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::context::{TraceContext, TraceId};

/// One in so many of all requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampling {
    pub per_million: u32,
}

/// What becomes of the trace that a client says it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Its request is a part of it, and is recorded if it says so.
    Parent,
    /// Its request is a trace of its own, linked to it.
    Link,
    /// It is not known who this is: nothing of it counts.
    Nobody,
}

impl Trust {
    /// Of the groups of somebody who is authenticated.
    pub fn of<S: AsRef<str>>(groups: &[S]) -> Self {
        let is_privileged = |it: &S| matches!(it.as_ref(), "system:masters" | "system:monitoring");
        if groups.iter().any(is_privileged) {
            Self::Parent
        } else {
            Self::Link
        }
    }
}

/// Neither a rate nor anything else.
const OFF: u64 = u64::MAX;
/// Requests that each of the privileged may have recorded in a second.
const FORCED: u64 = 100;
const SECOND: u64 = 1_000_000_000;

#[derive(Debug)]
pub(super) struct Sampler {
    /// Of 2^63: what Go's `TraceIDRatioBased` compares with, so that servers of both kinds agree.
    bound: AtomicU64,
    begun: Instant,
    hasher: RandomState,
    /// When each will have used up what it may; those that fall on the same share it.
    used: [AtomicU64; 64],
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            bound: AtomicU64::new(OFF),
            begun: Instant::now(),
            hasher: RandomState::new(),
            used: [const { AtomicU64::new(0) }; 64],
        }
    }
}

impl Sampler {
    pub(super) fn set(&self, sampling: Option<Sampling>) {
        let bound = sampling.map_or(OFF, |it| bound(it.per_million));
        self.bound.store(bound, Ordering::Relaxed);
    }

    pub(super) fn is_on(&self) -> bool {
        self.bound.load(Ordering::Relaxed) != OFF
    }

    /// A parent decides for its children, as far as it may; for roots, chance does.
    pub(super) fn decide(&self, parent: Option<&TraceContext>, id: TraceId, who: &str) -> bool {
        let bound = self.bound.load(Ordering::Relaxed);
        let by_chance = bound != OFF && id.low() >> 1 < bound;
        match parent {
            Some(parent) => parent.flags.sampled() && (by_chance || self.may_force(who)),
            None => by_chance,
        }
    }

    fn may_force(&self, who: &str) -> bool {
        let now = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let slot = self.hasher.hash_one(who) % 64;
        let slot = usize::try_from(slot).unwrap_or_default();
        take(&self.used[slot], now)
    }
}

/// A second's worth at once, then as it comes.
fn take(used: &AtomicU64, now: u64) -> bool {
    let order = Ordering::Relaxed;
    let taken = used.fetch_update(order, order, |until| {
        let until = until.max(now) + SECOND / FORCED;
        (until <= now + SECOND).then_some(until)
    });
    taken.is_ok()
}

fn bound(per_million: u32) -> u64 {
    let bound = (u128::from(per_million.min(1_000_000)) << 63) / 1_000_000;
    u64::try_from(bound).unwrap_or(1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forced_sampling_is_limited() {
        let used = AtomicU64::new(0);
        let granted = |now: u64| (0..1000).filter(|_| take(&used, now)).count();
        assert_eq!(granted(SECOND), 100);
        assert_eq!(granted(SECOND), 0);
        assert_eq!(granted(SECOND + SECOND / 10), 10);
        assert_eq!(granted(100 * SECOND), 100);
    }

    #[test]
    fn chance_goes_by_the_lower_half_of_the_id() {
        let sampler = Sampler::default();
        let id = |low: u64| TraceId::new(u128::from(low) | 1 << 64).unwrap();
        assert!(!sampler.decide(None, id(0), ""), "off");
        for (per_million, low, expected) in [
            (0, 0, false),
            (1_000_000, u64::MAX, true),
            (500_000, u64::MAX / 2, true),
            (500_000, u64::MAX / 2 + 1, false),
            (1, u64::MAX / 1_000_000 - 9, true),
            (1, u64::MAX / 1_000_000 + 9, false),
        ] {
            sampler.set(Some(Sampling { per_million }));
            let decided = sampler.decide(None, id(low), "");
            assert_eq!(decided, expected, "{per_million} of a million, {low}");
        }
    }

    #[test]
    fn groups_that_may_be_a_parent() {
        let trust = |groups: &[&str]| Trust::of(groups);
        assert_eq!(trust(&["a", "system:masters"]), Trust::Parent);
        assert_eq!(trust(&["system:monitoring"]), Trust::Parent);
        assert_eq!(trust(&["system:authenticated"]), Trust::Link);
        assert_eq!(trust(&["system:masters2"]), Trust::Link);
        assert_eq!(trust(&[]), Trust::Link);
    }
}
